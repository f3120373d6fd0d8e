from dataclasses import replace

import numpy as np
import pytest

from sketchhash.errors import DatasetProblem
from sketchhash.tokens.training import Preset, TracedPhoto
from sketchhash.tokens.training.token_classes import TokenClasses, find_classes


def ignore():
    pass


@pytest.fixture(scope="module")
def two_lines():
    """One photo with a long vertical line, one with a long horizontal line."""
    vertical = np.zeros((1, 90, 90), dtype=np.bool_)
    vertical[0, :, 45] = True
    photo = np.zeros((90, 90, 3), dtype=np.uint8)
    return [TracedPhoto("v", photo, vertical), TracedPhoto("h", photo, vertical.swapaxes(1, 2))]


@pytest.mark.parametrize("drawn_by", ["photo", "annotator"])
def test_lines_of_two_directions_are_two_classes(two_lines, drawn_by):
    photos, column = two_lines, 0
    if drawn_by == "annotator":
        both = np.concatenate([traced.contours for traced in two_lines])
        photos, column = [replace(two_lines[0], contours=both)], 1
    found = find_classes(photos, Preset(1, 1, 1, tokens=2, contours=60), np.random.default_rng(0), ignore)
    vertical = found.tokens[found.places[:, column] == 0]
    horizontal = found.tokens[found.places[:, column] == 1]
    assert len(set(vertical)) == len(set(horizontal)) == 1
    assert vertical[0] != horizontal[0]


def test_the_picture_of_a_class_is_its_mean_patch(two_lines):
    found = find_classes(two_lines, Preset(1, 1, 1, tokens=2), np.random.default_rng(0), ignore)
    expected = np.zeros((35, 35))
    expected[:, 17] = 1
    np.testing.assert_allclose(found.pictures[found.tokens[0]], expected)
    np.testing.assert_allclose(found.pictures[found.tokens[-1]], expected.T)


def test_as_many_contours_are_sorted_as_asked_for_and_no_pixel_twice(photos, tiny):
    found = find_classes(photos, tiny, np.random.default_rng(0), ignore)
    assert len(found.places) == len(found.tokens) == tiny.contours
    assert len(np.unique(found.places, axis=0)) == tiny.contours
    for photo, annotator, row, column in found.places:
        assert photos[photo].contours[annotator, row, column]


def test_the_same_seed_finds_the_same_classes_and_another_seed_others(photos, tiny):
    first, again, other = (find_classes(photos, tiny, np.random.default_rng(seed), ignore) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.tokens, again.tokens)
    np.testing.assert_array_equal(first.places, again.places)
    assert not np.array_equal(first.places, other.places)


def test_progress_is_told_after_each_photo(photos, tiny):
    told = []
    find_classes(photos, tiny, np.random.default_rng(0), lambda: told.append(1))
    assert len(told) == len(photos)


def test_too_few_contours_for_the_classes_are_a_problem_of_the_dataset(two_lines):
    with pytest.raises(DatasetProblem, match=r"150 classes .* from 112 contour pixels"):
        find_classes(two_lines, Preset(1, 1, 1), np.random.default_rng(0), ignore)


def test_the_sheet_shows_the_commonest_class_first():
    pictures = np.zeros((16, 35, 35), dtype=np.float32)
    pictures[4] = 1
    tokens = np.array([4, 4, *range(16)], dtype=np.int32)
    sheet = TokenClasses(np.zeros((18, 4), dtype=np.int32), tokens, pictures).sheet()
    assert sheet.shape == (2 * 38, 15 * 38)
    assert not sheet[:35, :35].any()
    assert (sheet[:, 35:] == 255).all()
