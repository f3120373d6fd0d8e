import numpy as np
import pytest

from sketchhash.errors import DatasetProblem
from sketchhash.tokens.channels import RADIUS, channels
from sketchhash.tokens.features import patch_features
from sketchhash.tokens.training import Preset, TracedPhoto
from sketchhash.tokens.training.sampling import BACKGROUND, draw_pixels, measure
from sketchhash.tokens.training.token_classes import TokenClasses, find_classes


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
