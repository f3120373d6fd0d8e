"""Drawings are found by their names; photos are not, whatever their labels."""

import json

import numpy as np
import pytest

from sketchhash.errors import UnknownName
from sketchhash.gallery import Filter, Searcher

pytest.importorskip("resvg_py")

NAMES = ("arrow-left", "arrow-bar-left", "arrow-right", "left-hand", "circle")


@pytest.fixture
def searcher(index, gallery, model, photo, folder):
    icons = {name: {"body": f'<path d="M2 {2 + n}h20v4h-20z"/>'} for n, name in enumerate(NAMES)}
    (folder / "icons.json").write_text(json.dumps({"prefix": "test", "icons": icons, "width": 24, "height": 24}))
    photo(folder / "noise.png")
    index()
    gallery.rows("UPDATE photos SET label = 'left' WHERE path LIKE '%noise.png'")
    return Searcher(model, gallery)


def names(hits):
    return [hit.path.name for hit in hits]


def test_the_nearest_name_comes_first_and_beginnings_of_words_count(searcher):
    assert searcher.names.meant("Arrow left", 9) == ["arrow left", "arrow bar left"]
    assert searcher.names.meant("arr", 9) == ["arrow left", "arrow right", "arrow bar left"]
    assert searcher.names.meant("", 9) == searcher.names.meant("-", 9) == searcher.names.meant("square", 9) == []


def test_a_word_that_the_model_does_not_know_finds_drawings_and_no_photos(searcher):
    assert names(searcher.by_category("arrow-left")) == ["arrow-left", "arrow-bar-left"]
    hits = searcher.by_category("left")
    assert names(hits) == ["arrow-left", "left-hand", "arrow-bar-left"]
    assert {hit.kind for hit in hits} == {"drawing"}


def test_filters_and_the_number_of_hits_hold_for_names_too(searcher, folder):
    assert len(searcher.by_category("left", 1)) == 1
    with pytest.raises(UnknownName):
        searcher.by_category("left", only=Filter(folder=folder / "elsewhere"))


def test_a_word_that_nothing_is_called_is_refused_as_before(searcher):
    with pytest.raises(UnknownName, match="category"):
        searcher.by_category("zebra crossing")


def test_names_follow_the_gallery_as_it_changes(searcher, gallery, folder):
    gallery.remove([folder / "icons.json"])
    assert searcher.names.meant("circle", 9) == []


def test_without_drawings_labels_are_no_names(index, gallery, model, photo, folder):
    photo(folder / "cats/noise.png")
    index(labels="folder")
    assert Searcher(model, gallery).names.meant("cats", 9) == []
    assert np.asarray(gallery.info().drawings) == 0
