"""Galleries of drawings: icons beside photos, from files, packs and fonts, each encoded as what it is."""

import json
import os
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.codes import pack
from sketchhash.errors import BadArgument, UnknownName, UnreadableImage
from sketchhash.gallery import Filter, GalleryFile, PhotoFile, PhotoProblem, Searcher, find_copies, verify
from sketchhash.gallery.packs import read_drawn, words_of
from sketchhash.gallery.photos import find_photos, is_gone
from sketchhash.imaging import decoders, run
from sketchhash.imaging.drawings import DrawingPicture, read_drawing
from sketchhash.model import Calibration, Model, QueryKind, write_calibration
from sketchhash.model.calibration import FEATURES, Head, unit

pytest.importorskip("resvg_py")

SHAPES = {
    "circle": '<circle cx="12" cy="12" r="9"/>',
    "arrow-left": '<path d="M20 12H4m6-6l-6 6l6 6"/>',
    "minus": '<path d="M4 12h16"/>',
}
OPEN = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#000" stroke-width="2">'


@pytest.fixture
def svg(folder):
    def write(name, shape="circle"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{OPEN}{SHAPES[shape]}</svg>")
        return path

    return write


@pytest.fixture
def icon_pack(folder):
    def write(name="icons.json", shapes=SHAPES, **more):
        body = '<g fill="none" stroke="currentColor" stroke-width="2">%s</g>'
        icons = {each: {"body": body % shape} for each, shape in shapes.items()}
        path = folder / name
        path.write_text(json.dumps({"prefix": "test", "width": 24, "height": 24, "icons": icons, **more}))
        return path

    return write


def line_art(path):
    picture = Image.new("RGB", (64, 64), "white")
    ImageDraw.Draw(picture).line([(8, 8), (56, 40), (8, 56)], fill="black", width=3)
    picture.save(path)
    return path


def kinds(gallery):
    return {photo.path.name: photo.kind for photo in gallery.photos()}


def test_svg_files_are_drawings_beside_photos_and_hits_say_which_are_which(index, gallery, model, svg, photo, folder):
    svg("circle.svg")
    photo(folder / "noise.png")
    assert index().added == 2
    assert kinds(gallery) == {"circle.svg": "drawing", "noise.png": "photo"}
    hits = Searcher(model, gallery).search([[[0, 0], [9, 9]]])
    assert {hit.path.name: hit.kind for hit in hits} == kinds(gallery)
    assert gallery.info().drawings == 1


def test_a_drawing_has_the_code_that_the_sketch_network_gives_its_ink(index, gallery, model, svg):
    path = svg("arrow-left.svg", "arrow-left")
    index()
    ink = DrawingPicture.of(read_drawing(path, model.manifest.ink.size, model.manifest.ink.style)).ink
    assert gallery.code(1) == pack(model.encode_sketches(ink[np.newaxis]))[0].tobytes()
    (row,) = gallery.rows_of([1])
    assert len(row.shape) == 512
    assert Image.open(__import__("io").BytesIO(gallery.thumbnail(1))).size == (256, 256)


def test_line_art_is_told_from_photos_by_its_content_or_by_what_is_said(index, gallery, photo, folder):
    line_art(folder / "lines.png")
    photo(folder / "noise.png")
    index()
    assert kinds(gallery) == {"lines.png": "drawing", "noise.png": "photo"}
    assert index().unchanged == 2


def test_what_a_file_is_taken_for_may_change_and_it_is_encoded_anew(index, gallery, folder, counts):
    line_art(folder / "lines.png")
    index(taken_as="photos")
    as_photo = gallery.code(1)
    assert kinds(gallery) == {"lines.png": "photo"}
    assert counts(index()) == {"unchanged": 1}
    assert counts(index(taken_as="drawings")) == {"updated": 1}
    assert kinds(gallery) == {"lines.png": "drawing"}
    assert gallery.code(2) != as_photo
    assert counts(index(taken_as="drawings")) == {"unchanged": 1}


def test_photos_are_indexed_as_before_whatever_is_said_of_the_others(tmp_path, model, photo, folder):
    from sketchhash.gallery import index_events

    for seed in range(4):
        photo(folder / f"{seed}.png", seed)
    codes = []
    for taken_as in ("photos", "auto"):
        with GalleryFile.create(tmp_path / f"{taken_as}.gallery", model) as gallery:
            list(index_events(gallery, model, [folder], taken_as=taken_as))
            codes.append([(row.code, row.shape, row.perceptual) for page in gallery.pages() for row in page])
    assert codes[0] == codes[1]


def test_as_photos_neither_svg_nor_packs_are_found(svg, icon_pack, folder):
    svg("circle.svg")
    icon_pack()
    assert list(find_photos([folder])) == []
    assert len(list(find_photos([folder], "auto"))) == 2


def test_a_pack_counts_as_a_folder_of_drawings_with_names_for_labels(index, gallery, model, icon_pack, counts):
    path = icon_pack(categories={"Arrows": ["arrow-left"]})
    assert counts(index()) == {"added": 3}
    assert {photo.path: photo.label for photo in gallery.photos()} == {
        path / "arrow-left": "arrow left",
        path / "circle": "circle",
        path / "minus": "minus",
    }
    (arrow,) = [photo for photo in gallery.photos() if photo.label == "arrow left"]
    assert gallery.details([arrow.id])[arrow.id].description == "Arrows"
    assert counts(index()) == {"unchanged": 3}
    searcher = Searcher(model, gallery)
    assert len(searcher.search([[[0, 0], [9, 9]]], only=Filter(folder=path))) == 3
    assert gallery.remove([path]) == 3


def test_a_changed_pack_keeps_the_drawings_that_stay_and_loses_those_that_went(index, gallery, icon_pack, counts):
    icon_pack()
    index()
    ids = {photo.path.name: photo.id for photo in gallery.photos()}
    path = icon_pack(shapes={"circle": SHAPES["circle"], "arrow-left": SHAPES["minus"]})
    os.utime(path, ns=(1, 1))
    assert counts(index(prune=True)) == {"unchanged": 1, "updated": 1, "removed": 1}
    now = {photo.path.name: photo.id for photo in gallery.photos()}
    assert now.keys() == {"circle", "arrow-left"}
    assert now["circle"] == ids["circle"]


def test_a_drawing_of_a_pack_is_there_as_long_as_its_pack(index, gallery, icon_pack, counts):
    path = icon_pack()
    index()
    assert not is_gone(path / "circle")
    path.unlink()
    assert is_gone(path / "circle")
    assert counts(index(prune=True)) == {"removed": 3}


def test_equal_drawings_with_other_names_are_all_kept_and_none_is_a_copy_to_be_folded(index, gallery, model, icon_pack):
    icon_pack(shapes={"circle": SHAPES["circle"], "round": SHAPES["circle"]})
    assert index().added == 2
    assert [hit.copy_of for hit in Searcher(model, gallery).search([[[0, 0], [9, 9]]])] == [None, None]
    assert len(find_copies(gallery)) == 1  # equal files are duplicates all the same


def test_other_json_is_no_business_of_ours(index, folder):
    (folder / "IMG_1.jpg.json").write_text('{"title": "IMG_1.jpg"}')
    (folder / "package.json").write_text('{"name": "icons", "prefix": 1}')
    assert index().failed == ()


def test_what_is_broken_in_a_pack_is_told_once_and_the_rest_is_indexed(index, icon_pack, folder):
    path = icon_pack(shapes={**SHAPES, "empty": ""}, aliases={"lost": {"parent": "nowhere"}})
    summary = index()
    assert summary.added == 3
    assert sorted((failure.path.name, failure.reason) for failure in summary.failed) == [
        ("empty", "it draws nothing."),
        (path.name, "lost: it stands for an icon that is not there."),
    ]


def test_a_bomb_among_icons_is_told_and_the_others_are_indexed(index, svg, folder, counts):
    svg("a.svg")
    (folder / "bomb.svg").write_text(f"{OPEN}{'<g>' * 5000}{'</g>' * 5000}</svg>")
    svg("c.svg", "minus")
    assert counts(index()) == {"added": 2, "failed": 1}


def test_without_the_package_svg_is_passed_over_and_counted(index, svg, icon_pack, monkeypatch):
    from sketchhash.imaging import formats

    svg("circle.svg")
    icon_pack()
    monkeypatch.setattr(formats, "_is_installed", lambda _: False)
    summary = index()
    assert summary.skipped == {"SVG": 1, "icon packs": 1}
    assert formats.passed_over(summary.skipped).count("drawings") == 1


def test_verify_encodes_drawings_as_drawings(index, gallery, model, svg, icon_pack):
    svg("circle.svg")
    path = icon_pack()
    index()
    assert [each.problems for each in verify(gallery, model)] == [()] * 4
    icon_pack(shapes={"circle": SHAPES["minus"]})
    problems = {each.photo.path: each.problems for each in verify(gallery, model)}
    assert problems[path / "circle"] == (PhotoProblem.FILE_CHANGED,)
    assert problems[path / "minus"] == (PhotoProblem.FILE_UNREADABLE,)


def test_a_drawing_is_read_from_its_pack_by_name(icon_pack):
    path = icon_pack()
    file, content = read_drawn(path / "circle", run)
    assert file.kind == "drawing" and SHAPES["circle"].encode() in content
    with pytest.raises(UnreadableImage, match="no such drawing"):
        read_drawn(path / "square", decoders.run)


def test_a_gallery_without_room_for_drawings_says_so(index, gallery, svg, monkeypatch):
    svg("circle.svg")
    monkeypatch.setattr(type(gallery), "keeps_drawings", False)
    with pytest.raises(BadArgument, match="no room"):
        index(taken_as="drawings")
    assert index().added == 0


def test_names_become_words(tmp_path):
    assert words_of(tmp_path / "arrow-left_2.svg") == "arrow left 2"
    assert words_of(tmp_path / "---.svg") == "---"


def labels_of(hits):
    return [hit.label for hit in hits]


def test_words_find_drawings_by_names_first_and_then_by_tags(index, gallery, model, icon_pack):
    icon_pack(categories={"Round shapes": ["circle", "minus"], "Lines": ["arrow-left", "minus"], "Circles": ["minus"]})
    index()
    searcher = Searcher(model, gallery)
    assert labels_of(searcher.by_category("circle")) == ["circle", "minus"]
    assert labels_of(searcher.by_category("lines")) == ["arrow left", "minus"]
    assert labels_of(searcher.by_category("shapes round", 1)) == ["circle"]
    assert labels_of(searcher.by_category("left")) == ["arrow left"]
    assert searcher.names.meant("lines", 9) == []
    assert searcher.names.has_tag("Line") and not searcher.names.has_tag("left") and not searcher.names.has_tag(" ")
    with pytest.raises(UnknownName):
        searcher.by_category("square")


def test_tags_find_a_drawing_among_others_of_its_label_and_filters_hold(index, gallery, model, icon_pack, folder):
    path = icon_pack(categories={"Lines": ["minus"]})
    index(labels="folder")
    searcher = Searcher(model, gallery)
    assert [hit.path.name for hit in searcher.by_category("lines", 1)] == ["minus"]
    assert [hit.path.name for hit in searcher.by_category("lines", only=Filter(folder=path))] == ["minus"]
    assert searcher.names.find("lines", 9, Filter(folder=folder / "elsewhere")) == []


TAG_FILES = {
    "tags.json": {"circle": ["round", "ring, hoop"]},
    "../icons.json": {"circle": {"name": "circle", "category": "round", "tags": ["ring", "hoop", 5]}},
    "../../data/openmoji.json": [
        {"hexcode": "circle", "annotation": "a circle", "tags": "ring, round", "group": "hoop"}
    ],
}


@pytest.mark.parametrize("where", TAG_FILES)
def test_tags_are_read_from_the_file_of_their_set(index, gallery, model, svg, folder, counts, where):
    svg("a/b/circle.svg")
    svg("a/b/minus.svg", "minus")
    file = folder / "a" / "b" / where
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(TAG_FILES[where]))
    assert counts(index()) == {"added": 2}
    searcher = Searcher(model, gallery)
    label = "a circle" if "openmoji" in where else "circle"
    assert labels_of(searcher.by_category("hoop")) == labels_of(searcher.by_category("ring round")) == [label]
    assert counts(index()) == {"unchanged": 2}
    file.write_text(json.dumps({"circle": ["wheel"]}))
    assert index().described == 1
    assert labels_of(searcher.by_category("wheel")) == ["circle"]
    assert not searcher.names.has_tag("hoop")
    file.write_text("{" * 100_000)
    assert index().described == 1
    assert not searcher.names.has_tag("wheel")


@pytest.fixture
def judging(tmp_path, gallery, model_folder, model):
    """Return a function that searches for a cat among photos "p" and drawings "d", each a bit farther than the last."""
    cat = np.random.default_rng(1).standard_normal(model.bits)
    vectors = unit(np.stack([cat, -cat]))
    head = Head(np.eye(FEATURES)[1], np.array([0.0, 1.0, 0.0]), 0.6)
    folder = shutil.copytree(model_folder, tmp_path / "calibrated")
    coefficients = np.array([9.0, 0.0, 0.0, 0.0]), np.array([9.0, 0.0])
    heads = dict.fromkeys(QueryKind, head)
    write_calibration(folder, Calibration(("cat", "dog"), vectors, vectors, *coefficients, heads, 0.0))

    def search(kinds):
        for number, kind in enumerate(kinds):
            code = pack(np.where(np.arange(model.bits) < number, -cat, cat)[np.newaxis]).tobytes()
            name = f"/{number}"
            file = PhotoFile(Path(name), sha256(name.encode()).hexdigest(), 1, 1, None)
            with gallery.writing() as writer:
                writer.put(replace(file, kind="drawing") if kind == "d" else file, code, b"jpeg")
        searcher = Searcher(Model.load(folder), gallery)
        answer = searcher.by_values(cat, asked=searcher.prepare([[[0, 0], [9, 9]]]))
        assert "".join(hit.kind[0] for hit in answer) == kinds
        return searcher, answer

    return search


def test_photos_before_drawings_are_judged_and_drawings_have_no_chance(judging):
    _, answer = judging("ppppppdp")
    assert answer.verdict == "sure"
    assert answer.chance is not None
    assert [hit.chance is not None for hit in answer] == [True] * 6 + [False] * 2
    assert [hit.likely for hit in answer] == [True] * 6 + [False] * 2


@pytest.mark.parametrize("kinds", ["ddddd", "dpppppp", "ppppd", "ppd", "d"])
def test_where_a_drawing_is_among_the_first_hits_nothing_is_said_that_was_not_measured(judging, kinds):
    searcher, answer = judging(kinds)
    assert (answer.verdict, answer.chance) == ("unsure", None)
    assert {(hit.chance, hit.likely) for hit in answer} == {(None, False)}
    assert answer.guesses[0].category == "cat"  # which depends on what was drawn alone
    drawing = next(hit.id for hit in answer if hit.kind == "drawing")
    assert searcher.similar(drawing).chance is None
