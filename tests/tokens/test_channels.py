import itertools

import numpy as np
import pytest

from sketchhash.tokens import kernel
from sketchhash.tokens.channels import (
    CHANNELS,
    DIRECT_FEATURES,
    FEATURES,
    PATCH,
    PLANES,
    RADIUS,
    cells,
    channels,
    lookup_planes,
    lookups,
    luv,
    patch_features,
)

MAGNITUDES = [3, 8, 13]
FINE, COARSE = slice(4, 8), slice(9, 13)


def noise(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8)


def edge(angle, side=81):
    """Dark to bright along a direction, in degrees from the x axis towards y."""
    y, x = np.mgrid[:side, :side] - side // 2
    along = x * np.cos(np.deg2rad(angle)) + y * np.sin(np.deg2rad(angle))
    lightness = np.rint(60 + 140 * np.clip(along / 4 + 0.5, 0, 1)).astype(np.uint8)
    return np.repeat(lightness[:, :, None], 3, axis=2)


def at_middle(planes):
    return planes[:, planes.shape[1] // 2, planes.shape[2] // 2]


@pytest.mark.parametrize("shape", [(1, 1), (1, 90), (90, 1), (5, 7), (40, 53)])
def test_any_photo_has_14_finite_channels_and_a_frame(shape):
    planes = channels(noise(shape))
    assert planes.shape == (CHANNELS, shape[0] + 2 * RADIUS, shape[1] + 2 * RADIUS)
    assert planes.dtype == np.float32
    assert np.isfinite(planes).all()
    assert planes.min() > -1e-6


def test_a_flat_photo_has_its_colour_and_no_gradients():
    photo = np.full((20, 30, 3), (200, 90, 30), dtype=np.uint8)
    planes = channels(photo)
    np.testing.assert_allclose(planes[:3], np.broadcast_to(luv(photo[:1, :1]), planes[:3].shape), rtol=1e-6)
    np.testing.assert_allclose(planes[3:], 0, atol=1e-4)


def test_black_has_no_gradients_at_all():
    np.testing.assert_array_equal(channels(np.zeros((9, 9, 3), dtype=np.uint8))[3:], 0)


@pytest.mark.parametrize("quarters", range(8))
def test_an_edge_shows_in_the_channel_of_its_orientation_whichever_side_is_bright(quarters):
    planes = channels(edge(45 * quarters))
    for histogram in (FINE, COARSE):
        shares = at_middle(planes)[histogram] / at_middle(planes)[histogram].sum()
        assert shares[quarters % 4] > 0.95


def test_an_edge_between_two_orientations_is_shared_by_them():
    shares = at_middle(channels(edge(22.5)))[COARSE]
    assert shares[0] == pytest.approx(shares[1], rel=0.1)
    assert shares[2:].max() < 0.05 * shares[0]


@pytest.mark.parametrize("angle", range(0, 180, 5))
def test_shares_follow_the_angle(angle):
    shares = at_middle(channels(edge(angle)))[COARSE]
    expected = np.maximum(1 - np.abs((angle / 45 - np.arange(4) + 2) % 4 - 2), 0)
    np.testing.assert_allclose(shares / shares.sum(), expected, atol=0.05)


def test_orientations_add_up_to_the_magnitude():
    planes = channels(noise((40, 50)))
    np.testing.assert_allclose(planes[FINE].sum(axis=0), planes[3], rtol=1e-4)
    np.testing.assert_allclose(planes[COARSE].sum(axis=0), planes[8], rtol=1e-4)


def test_colour_without_a_change_in_lightness_has_gradients_too():
    photo = np.empty((60, 60, 3), dtype=np.uint8)
    photo[:, :30], photo[:, 30:] = (200, 60, 60), (60, 131, 60)
    planes = channels(photo)
    lightness = planes[0, RADIUS + 30]
    assert np.ptp(lightness) < 0.01
    for magnitude in MAGNITUDES:
        assert abs(int(planes[magnitude, RADIUS + 30].argmax()) - (RADIUS + 29.5)) < 2


def test_an_edge_with_a_quarter_of_the_contrast_keeps_half_of_its_magnitude():
    strong, faint = edge(0), (edge(0) // 4 + 90).astype(np.uint8)
    ratio = at_middle(channels(faint))[8] / at_middle(channels(strong))[8]
    assert 0.5 < ratio < 0.7


def test_coarser_magnitudes_forget_fine_noise():
    fine, medium, coarse = channels(noise((60, 60)))[MAGNITUDES].mean(axis=(1, 2))
    assert 0 < coarse < medium / 2 < fine / 2


def test_the_frame_mirrors_the_photo():
    photo = noise((30, 40))
    mirrored = np.pad(photo, ((20, 20), (20, 20), (0, 0)), mode="symmetric")
    inside = (slice(None), slice(20, -20), slice(20, -20))
    # Away from the outer edge, where filters that mirror once more see something else.
    deep = (slice(None), slice(RADIUS, -RADIUS), slice(RADIUS, -RADIUS))
    np.testing.assert_allclose(channels(mirrored)[inside][deep], channels(photo)[deep], atol=1e-3)


def test_the_photo_is_left_alone():
    photo = noise((20, 20))
    before = photo.copy()
    channels(photo)
    np.testing.assert_array_equal(photo, before)


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (37, 53), (64, 48)])
@pytest.mark.parametrize("kind", [noise, lambda shape: np.full((*shape, 3), 80, dtype=np.uint8)])
def test_the_compiled_kernel_gives_the_same_bits(shape, kind, monkeypatch):
    if kernel.native() is None:
        pytest.skip("the kernel is not built")
    compiled = channels(kind(shape))
    monkeypatch.setattr(kernel, "native", lambda: None)
    np.testing.assert_array_equal(compiled, channels(kind(shape)))


def test_a_photo_that_is_a_view_of_another_is_read_as_it_looks():
    photo = noise((41, 60))
    view = photo[::2, ::-3]
    np.testing.assert_array_equal(channels(view), channels(view.copy()))


SPAN = 260


def luv_of(*colour):
    """L*, u* and v* of one colour, in CIE's units."""
    light, u, v = luv(np.array([[colour]], dtype=np.uint8))[:, 0, 0].astype(np.float64)
    return light * SPAN, u * SPAN - 84, v * SPAN - 135


@pytest.mark.parametrize(
    ("colour", "expected"),
    [
        ((0, 0, 0), (0, 0, 0)),
        ((255, 255, 255), (100, 0, 0)),
        ((255, 0, 0), (53.24, 175.01, 37.76)),
        ((0, 255, 0), (87.73, -83.08, 107.40)),
        ((0, 0, 255), (32.30, -9.40, -130.34)),
        ((119, 119, 119), (50.03, 0, 0)),
    ],
)
def test_known_colours_have_their_known_coordinates(colour, expected):
    np.testing.assert_allclose(luv_of(*colour), expected, atol=0.15)


def test_every_colour_lies_within_0_and_1():
    levels = range(0, 256, 15)
    colours = np.array(list(itertools.product(levels, levels, levels)), dtype=np.uint8)[None]
    planes = luv(colours)
    assert planes.dtype == np.float32
    assert planes.min() >= 0
    assert planes.max() <= 1


def test_grey_has_no_colour_and_rising_lightness():
    light, u, v = luv(np.arange(256, dtype=np.uint8).repeat(3).reshape(1, 256, 3))
    assert (np.diff(light[0]) > 0).all()
    np.testing.assert_allclose(u, 84 / SPAN, atol=1e-5)
    np.testing.assert_allclose(v, 135 / SPAN, atol=1e-5)


def test_the_compiled_conversion_gives_the_same_bits(monkeypatch):
    if kernel.native() is None:
        pytest.skip("the kernel is not built")
    levels = range(0, 256, 5)
    colours = np.array(list(itertools.product(levels, levels, levels)), dtype=np.uint8)[None]
    compiled = luv(colours)
    monkeypatch.setattr(kernel, "native", lambda: None)
    np.testing.assert_array_equal(compiled, luv(colours))


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
