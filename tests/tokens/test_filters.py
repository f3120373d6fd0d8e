import numpy as np
import pytest

from sketchhash.tokens import kernel
from sketchhash.tokens.filters import blur, box, slopes, triangle


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


def spread_of_a_point(smooth):
    point = np.zeros((11, 13), dtype=np.float32)
    point[5, 6] = 1
    return smooth(point)


def test_a_triangle_falls_linearly_from_its_middle():
    slope = np.array([0, 0, 0, 1, 2, 3, 2, 1, 0, 0, 0]) / 9
    spread = spread_of_a_point(lambda point: triangle(point, 2))
    np.testing.assert_allclose(spread, np.outer(slope, np.pad(slope, 1)), atol=1e-7)


def test_a_box_is_flat():
    spread = spread_of_a_point(lambda point: box(point, 1))
    expected = np.zeros((11, 13))
    expected[4:7, 5:8] = 1 / 9
    np.testing.assert_allclose(spread, expected, atol=1e-7)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (3, 40, 33), (2, 3, 20, 17)])
@pytest.mark.parametrize(
    "smooth", [lambda planes: blur(planes, 5.0), lambda planes: triangle(planes, 5), lambda planes: box(planes, 4)]
)
def test_compiled_smoothing_gives_the_same_bits(shape, smooth, monkeypatch):
    if kernel.native() is None:
        pytest.skip("the kernel is not built")
    planes = np.random.default_rng(2).random(shape, dtype=np.float32)
    compiled, of_a_view = smooth(planes), smooth(planes[..., ::-1])
    monkeypatch.setattr(kernel, "native", lambda: None)
    np.testing.assert_array_equal(compiled, smooth(planes))
    np.testing.assert_array_equal(of_a_view, smooth(planes[..., ::-1]))


@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "numpy"])
def test_smoothing_may_take_the_place_of_its_input(is_compiled, monkeypatch):
    if not is_compiled:
        monkeypatch.setattr(kernel, "native", lambda: None)
    planes = np.random.default_rng(2).random((3, 20, 30), dtype=np.float32)
    expected = box(triangle(planes, 2), 4)
    assert triangle(planes, 2, out=planes) is planes
    assert box(planes, 4, out=planes) is planes
    np.testing.assert_array_equal(planes, expected)
