"""Categories that a word means."""

import pytest

from sketchhash.words import find_categories, listed_categories


@pytest.mark.parametrize(
    ("word", "category"),
    [
        ("cat", "cat"),
        ("CAT ", "cat"),
        ("cats", "cat"),
        ("kitten", "cat"),
        ("aeroplane", "airplane"),
        ("poodle", "dog"),
        ("pony", "horse"),
        ("hot air balloon", "hot air balloon"),
        ("bear", "bear"),
        ("strawberries", "strawberry"),
    ],
)
def test_the_nearest_comes_first(word, category):
    assert find_categories(word, listed_categories())[0] == category


def test_only_what_is_known_is_found():
    assert find_categories("puppy", ["cat", "dog", "teapot"]) == ["dog", "cat"]
    assert find_categories("puppy", ["cat", "teapot"]) == ["cat"]
    assert find_categories("puppy", ["teapot"]) == []


def test_a_word_inside_a_name_is_found():
    assert find_categories("bear", ["cup", "teddy-bear"]) == ["teddy-bear"]
    assert find_categories("ball", ["hot air balloon", "soccer ball"]) == ["soccer ball", "hot air balloon"]


@pytest.mark.parametrize("nothing", ["", "  ", "()", "xyzzy"])
def test_what_means_nothing_finds_nothing(nothing):
    assert find_categories(nothing, ["cat"]) == []


def test_categories_of_ones_own_are_found_by_name():
    assert find_categories("gizmo", ["blue gizmo", "widget"]) == ["blue gizmo"]
