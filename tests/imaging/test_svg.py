"""SVG files of strangers: drawn without scripts and other files, and refused when they would cost too much."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.errors import UnreadableImage
from sketchhash.imaging import DecoderPool, read_photo, read_small_photo
from sketchhash.imaging.svg import cleaned, is_svg, render_svg

pytest.importorskip("resvg_py")

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 40 20">'


def svg(inside, head=HEAD):
    return f"{head}{inside}</svg>".encode()


def test_an_svg_is_drawn_with_its_aspect_and_read_like_any_picture():
    content = svg('<rect width="20" height="20" fill="#ff0000"/>')
    assert render_svg(content, 200).size == (200, 100)
    pixels = read_photo(content)
    assert pixels[5, 5].tolist() == [255, 0, 0]
    assert pixels[5, -5].tolist() == [255, 255, 255]


@pytest.mark.parametrize("size", ['width="10" height="40"', 'viewBox="0 0 5 20"', 'viewBox="0,0,5,20" width="7"'])
def test_the_longer_side_decides_the_size(size):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    assert render_svg(svg('<rect width="4" height="9"/>', head), 80).height == 80


@pytest.mark.parametrize(
    ("inside", "secret"),
    [
        ("<script>alert('secret')</script>", "secret"),
        ('<rect onclick="secret()" width="1" height="1"/>', "secret"),
        ('<image href="/etc/secret.png" width="9" height="9"/>', "secret"),
        ('<g><image xlink:href="file:///secret.png" width="9" height="9"><title>secret</title></image></g>', "secret"),
        ('<use xlink:href="http://secret.org/a.svg#b"/>', "secret"),
        ('<foreignObject><iframe src="secret"/></foreignObject>', "secret"),
        ('<rect style="fill:url( \'http://secret.org\' )" width="1" height="1"/>', "secret"),
        ("<style>@import url(secret.css);</style>", "secret"),
        ('<filter id="a"><feImage href="secret.png"/></filter>', "secret"),
    ],
)
def test_scripts_and_other_files_are_left_out_and_the_rest_is_drawn(inside, secret):
    content = svg(f'{inside}<rect width="40" height="20"/>')
    assert secret not in cleaned(content)
    assert read_photo(content)[5, 5].tolist() == [0, 0, 0]


def test_a_reference_within_the_file_is_followed():
    content = svg('<defs><rect id="a" width="40" height="20"/></defs><use href="#a"/>')
    assert read_photo(content)[5, 5].tolist() == [0, 0, 0]


def test_a_file_that_is_named_is_not_opened(tmp_path):
    from PIL import Image

    Image.new("RGB", (8, 8), "red").save(tmp_path / "red.png")
    content = svg(f'<rect width="1" height="1"/><image href="{tmp_path / "red.png"}" width="40" height="20"/>')
    assert [255, 0, 0] not in read_photo(content).reshape(-1, 3).tolist()


def entity(number):
    return f"&a{number};"


def use(number):
    return f'<use href="#g{number}"/>'


ENTITIES = "".join(f'<!ENTITY a{n} "{10 * entity(n - 1)}">' for n in range(1, 10))
LAUGHS = f'<!DOCTYPE svg [<!ENTITY a0 "ha">{ENTITIES}]>'
BOMBS = {
    "entities": (LAUGHS + svg("<text>&a9;</text>").decode()).encode(),
    "nesting": svg("<g>" * 5000 + "</g>" * 5000),
    "elements": svg("<a/>" * 60_000),
    "uses": svg(
        "<defs><g id='g0'><path d='M0 0h1v1z'/></g>"
        + "".join(f"<g id='g{n}'>{20 * use(n - 1)}</g>" for n in range(1, 12))
        + "</defs><use href='#g11'/>"
    ),
    "turbulence": svg(
        '<filter id="f"><feTurbulence numOctaves="2000000000" baseFrequency="9"/></filter>'
        '<rect width="40" height="20" filter="url(#f)"/>'
    ),
    "not closed": b"<svg><g>",
    "nothing drawn": svg(""),
    "a tag that never ends": b"<svg " + b"a" * 5_000_000,
    "endless numbers": svg(f'<path d="{"M0 0 L1e308 1e308 " * 10_000}"/>'),
}


@pytest.fixture(scope="module")
def pool():
    pool = DecoderPool(1, seconds=2.0)
    yield pool
    pool.close()


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_bounded_time_and_the_next_file_is_read(pool, name):
    if name == "endless numbers":
        with contextlib.suppress(UnreadableImage):
            pool.run(read_small_photo, BOMBS[name], 64)
    else:
        with pytest.raises(UnreadableImage):
            pool.run(read_small_photo, BOMBS[name], 64)
    assert pool.run(read_small_photo, svg('<rect width="40" height="20"/>'), 64).shape == (32, 64, 3)


@given(st.text(alphabet="<>svg/&;!\"'=#a \n", max_size=80), st.binary(max_size=40))
def test_whatever_is_written_is_cleaned_or_refused(text, junk):
    for content in (text.encode(), b"<svg>" + junk + b"</svg>", svg(text)):
        is_svg(content)
        with contextlib.suppress(UnreadableImage):
            assert "<script" not in cleaned(content)


def test_cleaning_twice_changes_nothing_more():
    content = svg('<g fill="none" stroke="#000"><path d="M1 1 L 2 &lt; 3"/></g><text>a &amp; b</text>')
    once = cleaned(content)
    assert cleaned(once.encode()) == once
