from dataclasses import replace

import numpy as np
import pytest

from sketchhash.errors import BadArgument, DatasetProblem, UnknownName
from sketchhash.tokens.channels import RADIUS, channels, patch_features
from sketchhash.tokens.training import PRESETS, Preset, TracedPhoto, preset
from sketchhash.tokens.training.samples import (
    BACKGROUND,
    DESCRIPTOR_LENGTH,
    REACH,
    TokenClasses,
    describe,
    draw_pixels,
    find_classes,
    measure,
)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_answers_to_its_name_and_fits_into_twelve_gigabytes(name):
    sizes = preset(name)
    samples = sizes.positives * sizes.tokens + sizes.negatives * 200
    assert 4 * samples * sizes.features < 12e9


def test_an_unknown_preset_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        preset("smal")


@pytest.mark.parametrize(
    ("field", "value"), [("positives", 0), ("negatives", -1), ("trees", 0), ("features", 21_351), ("tokens", 0)]
)
def test_sizes_that_no_forest_can_grow_from_are_refused(field, value):
    with pytest.raises(BadArgument):
        Preset(**{"positives": 1, "negatives": 1, "trees": 1, field: value})


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


@pytest.fixture(scope="module")
def lines():
    """A vertical line, a horizontal one below it, and a diagonal to the right."""
    contours = np.zeros((120, 160), dtype=np.bool_)
    contours[10:60, 40] = True
    contours[95, 20:70] = True
    steps = np.arange(60)
    contours[30 + steps, 90 + steps] = True
    return contours


def test_the_numbers_are_scikit_images(lines):
    daisy = pytest.importorskip("skimage.feature").daisy
    rows, columns = np.nonzero(lines[REACH:-REACH, REACH:-REACH])
    expected = daisy(lines.astype(np.float32), step=1, radius=REACH, rings=3, histograms=8, orientations=8)
    by_length = expected[rows, columns]
    by_length /= np.linalg.norm(by_length, axis=1, keepdims=True)
    np.testing.assert_allclose(describe(lines, rows + REACH, columns + REACH), by_length, atol=1e-5)


def test_descriptors_have_unit_length(lines):
    descriptors = describe(lines, np.array([35, 95]), np.array([40, 45]))
    assert descriptors.shape == (2, DESCRIPTOR_LENGTH)
    np.testing.assert_allclose(np.linalg.norm(descriptors, axis=1), 1, rtol=1e-5)


def test_a_shift_changes_less_than_another_direction(lines):
    on_line, beside, other = describe(lines, np.array([35, 35, 95]), np.array([40, 41, 45]))
    assert np.linalg.norm(on_line - beside) < 0.5 * np.linalg.norm(on_line - other)


def test_empty_paper_has_a_descriptor_of_zeros():
    assert not describe(np.zeros((40, 40), dtype=np.bool_), np.array([20]), np.array([20])).any()


@pytest.fixture(scope="module")
def found(photos, tiny):
    return find_classes(photos, tiny, np.random.default_rng(0), lambda: None)


def test_at_most_the_wanted_pixels_of_each_class_and_photo_are_drawn(photos, found, tiny):
    drawn = draw_pixels(photos, found, tiny, np.random.default_rng(0))
    for token in range(tiny.tokens):
        there = np.count_nonzero(found.tokens == token)
        assert np.count_nonzero(drawn.classes == token) == min(tiny.positives, there)
    background = drawn.places[drawn.classes == BACKGROUND]
    assert np.bincount(background[:, 0]).tolist() == [tiny.negatives] * len(photos)


def test_classes_are_those_of_the_pixels(photos, found, tiny):
    drawn = draw_pixels(photos, found, tiny, np.random.default_rng(0))
    known = {(*place[[0, 2, 3]].tolist(), token) for place, token in zip(found.places, found.tokens, strict=True)}
    for (photo, row, column), token in zip(drawn.places.tolist(), drawn.classes.tolist(), strict=True):
        if token == BACKGROUND:
            assert not photos[photo].contours[:, row - 1 : row + 2, column - 1 : column + 2].any()
        else:
            assert (photo, row, column, token) in known


def test_each_generator_draws_a_sample_of_its_own(photos, found, tiny):
    first, again, other = (draw_pixels(photos, found, tiny, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.places, again.places)
    assert not np.array_equal(first.places, other.places)


def test_values_are_the_features_of_the_pixels(photos, found, tiny):
    rng = np.random.default_rng(0)
    drawn = draw_pixels(photos, found, tiny, rng)
    sample = measure(photos, drawn, tiny, rng)
    assert sample.values.shape == (len(drawn.places), tiny.features)
    assert len(np.unique(sample.features)) == tiny.features
    for number in (0, 7, -1):
        photo, row, column = drawn.places[number]
        everything = patch_features(channels(photos[photo].photo), np.array([row]), np.array([column]))[0]
        np.testing.assert_array_equal(sample.values[number], everything[sample.features])


def test_contours_everywhere_are_a_problem_of_the_dataset():
    side = 2 * RADIUS + 3
    everywhere = TracedPhoto("x", np.zeros((side, side, 3), dtype=np.uint8), np.ones((1, side, side), dtype=np.bool_))
    found = TokenClasses(
        np.array([[0, 0, RADIUS, RADIUS]], dtype=np.int32), np.zeros(1, np.int32), np.zeros((1, 35, 35), np.float32)
    )
    with pytest.raises(DatasetProblem, match="No photo has background"):
        draw_pixels([everywhere], found, Preset(1, 1, 1, tokens=1), np.random.default_rng(0))
