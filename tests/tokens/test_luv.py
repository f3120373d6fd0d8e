import itertools

import numpy as np
import pytest

from sketchhash.tokens import kernel
from sketchhash.tokens.luv import luv

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
