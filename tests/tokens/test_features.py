import numpy as np
import pytest

from sketchhash.tokens.channels import CHANNELS, RADIUS, channels
from sketchhash.tokens.features import (
    DIRECT_FEATURES,
    FEATURES,
    PATCH,
    PLANES,
    cells,
    lookup_planes,
    lookups,
    patch_features,
)

PAIRS = np.stack(np.triu_indices(25, k=1), axis=1)
CENTRES = [5, 11, 17, 23, 29]


@pytest.fixture(scope="module")
def planes():
    return channels(np.random.default_rng(3).integers(0, 256, (24, 31, 3), dtype=np.uint8))


def patch_at(planes, row, column):
    """The patch around a pixel of the photo: the frame moves it by the radius that the patch starts earlier."""
    return planes[:, row : row + PATCH, column : column + PATCH]


def test_there_are_as_many_features_as_the_paper_says():
    assert DIRECT_FEATURES == 35 * 35 * 14 == 17_150
    assert FEATURES == 17_150 + 14 * 300 == 21_350


@pytest.mark.parametrize(("row", "column"), [(0, 0), (23, 30), (0, 30), (11, 7)])
def test_the_first_features_are_the_patch_itself(planes, row, column):
    described = patch_features(planes, np.array([row]), np.array([column]))
    np.testing.assert_array_equal(described[0, :DIRECT_FEATURES], patch_at(planes, row, column).ravel())


@pytest.mark.parametrize(("row", "column"), [(0, 0), (23, 30), (11, 7)])
def test_the_rest_compare_the_means_of_two_cells(planes, row, column):
    patch = patch_at(planes, row, column).astype(np.float64)
    means = np.array([patch[:, y - 4 : y + 5, x - 4 : x + 5].mean(axis=(1, 2)) for y in CENTRES for x in CENTRES])
    described = patch_features(planes, np.array([row]), np.array([column]))[0, DIRECT_FEATURES:]
    first, second = PAIRS.T
    expected = (means[first] - means[second]).T.ravel()
    np.testing.assert_allclose(described, expected, atol=1e-5)


def test_the_middle_of_a_patch_is_its_pixel(planes):
    middle = np.arange(CHANNELS) * PATCH * PATCH + RADIUS * PATCH + RADIUS
    described = patch_features(planes, np.array([4, 9]), np.array([5, 30]), middle)
    np.testing.assert_array_equal(described, planes[:, [4 + RADIUS, 9 + RADIUS], [5 + RADIUS, 30 + RADIUS]].T)


def test_chosen_features_come_in_the_order_asked_for(planes):
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 24, 40), rng.integers(0, 31, 40)
    chosen = rng.choice(FEATURES, 500)
    described = patch_features(planes, rows, columns, chosen)
    assert described.shape == (40, 500)
    assert described.dtype == np.float32
    np.testing.assert_array_equal(described, patch_features(planes, rows, columns)[:, chosen])


def test_no_pixels_have_no_features(planes):
    nothing = np.array([], dtype=np.int64)
    assert patch_features(planes, nothing, nothing).shape == (0, FEATURES)


def test_a_cell_is_a_box_of_nine_by_nine(planes):
    averaged = cells(planes)
    assert averaged.shape == planes.shape
    np.testing.assert_allclose(averaged[:, 20, 25], planes[:, 16:25, 21:30].mean(axis=(1, 2)), rtol=1e-5)


def test_every_look_up_of_every_pixel_stays_inside_the_planes(planes):
    stack = lookup_planes(planes)
    height, width = stack.shape[1:]
    assert stack.shape[0] == PLANES
    first, second = lookups(height, width)
    last_corner = 23 * width + 30
    assert min(first.min(), second.min()) >= 0
    assert max(first.max(), second.max()) + last_corner < stack.size
    assert not stack[-1].any()
