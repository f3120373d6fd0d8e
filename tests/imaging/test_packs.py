"""Packs of icons and fonts: each drawing by its name, and what is broken is told and skipped."""

import contextlib
import io
import json

import pytest

from sketchhash.errors import UnreadableImage
from sketchhash.imaging import packs
from sketchhash.imaging.packs import Page, is_font, looks_like_pack, read_page

SQUARE = '<path d="M2 2h20v20h-20z"/>'


def pack(icons, **more):
    return json.dumps({"prefix": "test", "icons": icons, "width": 24, "height": 24, **more}).encode()


def page(content, *args, **options):
    return Page.of(read_page(content, *args, **options))


def test_icons_become_svg_with_the_box_of_the_pack_or_their_own():
    found = page(pack({"a": {"body": SQUARE}, "b": {"body": SQUARE, "width": 8, "left": -1}}))
    assert [each.name for each in found.drawings] == ["a", "b"]
    assert 'viewBox="0 0 24 24"' in found.drawings[0].svg
    assert 'viewBox="-1 0 8 24"' in found.drawings[1].svg
    assert SQUARE in found.drawings[0].svg


def test_an_alias_is_drawn_as_what_it_stands_for_turned_as_it_says():
    aliases = {"left": {"parent": "right", "hFlip": True}, "lost": {"parent": "nowhere"}, "up": {"parent": "left"}}
    found = page(pack({"right": {"body": SQUARE}}, aliases=aliases))
    assert [each.name for each in found.drawings] == ["right", "left", "up"]
    assert "scale(-1 1)" in found.drawings[1].svg and "scale(-1 1)" in found.drawings[2].svg
    assert found.remarks == ("lost: it stands for an icon that is not there.",)


def test_aliases_that_stand_for_each_other_end():
    found = page(pack({}, aliases={"a": {"parent": "b"}, "b": {"parent": "a"}}))
    assert found.drawings == () and len(found.remarks) == 2


def test_categories_of_icons_become_words():
    found = page(pack({"a": {"body": SQUARE}}, categories={"Arrows": ["a"], "Other": ["b"]}))
    assert found.drawings[0].words == "Arrows"


@pytest.mark.parametrize(
    "body", [None, 7, {"width": 3}, {"body": 3}, {"body": SQUARE, "width": 0}, {"body": "", "left": {}}]
)
def test_an_icon_that_is_none_is_told_and_the_others_are_read(body):
    found = page(pack({"bad": body, "good": {"body": SQUARE}}))
    assert [each.name for each in found.drawings] == ["good"]
    assert len(found.remarks) == 1 and found.remarks[0].startswith("bad: ")


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"icons": 3}', b'{"icons": null}', b"[" * 100_000, b"\xff\xfe", b""]
)
def test_what_is_no_pack_is_refused(content):
    with pytest.raises(UnreadableImage):
        read_page(content)


def test_only_json_with_icons_looks_like_a_pack():
    assert looks_like_pack(pack({}))
    assert not looks_like_pack(b'{"title": "IMG_1.jpg", "photoTakenTime": {"timestamp": "1"}}')


def test_names_that_could_be_paths_are_made_harmless_and_distinct():
    found = page(
        pack({"../../etc/passwd": {"body": SQUARE}, "..\\..\\etc\\passwd": {"body": SQUARE}, "..": {"body": SQUARE}})
    )
    names = [each.name for each in found.drawings]
    assert len(set(names)) == 3 and not any("/" in name or "\\" in name or name.startswith(".") for name in names)


def test_a_large_pack_comes_by_the_page_and_no_more_than_the_most(monkeypatch):
    monkeypatch.setattr(packs, "MOST_DRAWINGS", 12_000)
    content = pack({f"icon-{number}": {"body": SQUARE} for number in range(13_000)})
    found, start, remarks = [], 0, []
    while start is not None:
        read = page(content, start)
        found += read.drawings
        remarks += read.remarks
        start = read.following
    assert len({each.name for each in found}) == len(found) == 12_000
    assert remarks == ["it has 13,000 drawings; the first 12,000 were read."]


def test_one_drawing_is_read_by_its_name():
    content = pack({"a": {"body": SQUARE}, "b": {"body": SQUARE}})
    assert [each.name for each in page(content, only="b").drawings] == ["b"]
    assert page(content, only="c").drawings == ()


@pytest.fixture(scope="module")
def font():
    """Return a font with a letter, an arrow, a glyph of its own, and an empty one."""
    builder_module = pytest.importorskip("fontTools.fontBuilder")
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    def square(side):
        pen = TTGlyphPen(None)
        pen.moveTo((0, 0))
        for corner in ((0, side), (side, side), (side, 0)):
            pen.lineTo(corner)
        pen.closePath()
        return pen.glyph()

    names = [".notdef", "A", "arrowleft", "arrow-left-own", "space"]
    builder = builder_module.FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({0x41: "A", 0x2190: "arrowleft", 0xE900: "arrow-left-own", 0xE901: "A", 0x20: "space"})
    builder.setupGlyf({name: square(500) if name != "space" else TTGlyphPen(None).glyph() for name in names})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Test", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    file = io.BytesIO()
    builder.save(file)
    return file.getvalue()


def test_glyphs_are_named_as_unicode_does_or_else_as_the_font_does(font):
    found = page(font)
    assert is_font(font)
    assert {each.name: each.words for each in found.drawings} == {
        "latin capital letter a": "U+0041",
        "leftwards arrow": "U+2190",
        "arrow-left-own": "U+E900",
        "A": "U+E901",
    }
    assert found.remarks == ("space: it is empty.",)


def test_a_broken_font_is_refused_or_its_broken_glyphs_are_told(font):
    for place in range(12, len(font), 7):
        broken = bytearray(font)
        broken[place] ^= 0xFF
        with contextlib.suppress(UnreadableImage):
            page(bytes(broken))
    for length in range(4, len(font), 97):
        with contextlib.suppress(UnreadableImage):
            page(font[:length])


def test_many_characters_with_one_name_take_no_longer_than_they_must():
    names = dict.fromkeys(range(50_000), "same")
    assert len(packs._distinct(names)) == 50_000
