import numpy as np
import pytest

from sketchhash.tokens import kernel
from sketchhash.tokens.channels import CHANNELS, RADIUS, channels
from sketchhash.tokens.luv import luv

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
