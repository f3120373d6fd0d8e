import numpy as np
import pytest

from sketchhash.tokens.filters import blur, slopes


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 9, 7)])
def test_smoothing_leaves_a_constant_picture_alone(shape):
    flat = np.full(shape, 0.25, dtype=np.float32)
    np.testing.assert_allclose(blur(flat, 5.0), flat, rtol=1e-5)


def test_smoothing_spreads_a_point_by_sigma_in_both_directions():
    point = np.zeros((61, 61), dtype=np.float32)
    point[30, 30] = 1
    spread = blur(point, 3.0)
    offset = np.arange(61) - 30
    assert spread.sum() == pytest.approx(1, abs=1e-5)
    for axis in (0, 1):
        variance = (spread.sum(axis=axis) * offset**2).sum()
        assert np.sqrt(variance) == pytest.approx(3.0, rel=0.06)  # the kernel ends at 2.5 sigma


def test_smoothing_does_not_change_its_input():
    planes = np.random.default_rng(0).random((8, 8), dtype=np.float32)
    before = planes.copy()
    blur(planes, 1.0)
    np.testing.assert_array_equal(planes, before)


def test_slopes_of_a_tilted_plane_are_its_tilt():
    y, x = np.mgrid[:6, :8].astype(np.float32)
    across, down = slopes(2 * x - 3 * y)
    np.testing.assert_allclose(across[:, 1:-1], 2, rtol=1e-6)
    np.testing.assert_allclose(down[1:-1], -3, rtol=1e-6)
    assert across.dtype == down.dtype == np.float32
