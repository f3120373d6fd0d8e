import numpy as np
import pytest

from sketchhash.imaging.ink import InkStyle, rasterise
from sketchhash.imaging.strokes import Drawing
from sketchhash.tokens.pen import draw


def blank(height, width):
    return np.zeros((height, width), dtype=np.bool_)


def ink_of(sheet):
    return (255 - sheet.astype(np.float64)) / 255


def test_an_empty_mask_gives_blank_paper():
    sheet = draw(blank(10, 20), 16, 0.1)
    assert sheet.dtype == np.uint8
    assert sheet.shape == (16, 16)
    assert (sheet == 255).all()


@pytest.mark.parametrize("shape", [(64, 64), (32, 256), (256, 32)])
@pytest.mark.parametrize("size", [32, 128, 300])
def test_lines_are_as_wide_across_as_down_whatever_the_proportions(shape, size):
    height, width = shape
    mask = blank(height, width)
    mask[height // 2] = True
    level = ink_of(draw(mask, size, 1 / 40)).sum(axis=0)[size // 4 : -size // 4]
    mask = blank(height, width)
    mask[:, width // 2] = True
    upright = ink_of(draw(mask, size, 1 / 40)).sum(axis=1)[size // 4 : -size // 4]
    np.testing.assert_allclose(level, size / 40, atol=0.3)
    np.testing.assert_allclose(upright, size / 40, atol=0.3)


def test_a_line_lies_where_its_pixels_were():
    mask = blank(50, 100)
    mask[:, 25] = True
    ink = ink_of(draw(mask, 80, 1 / 40)).sum(axis=0)
    centre = (ink * (np.arange(80) + 0.5)).sum() / ink.sum()
    assert centre == pytest.approx(25.5 / 100 * 80, abs=0.05)


def test_touching_pixels_are_joined_when_the_sheet_is_larger():
    mask = np.eye(8, dtype=np.bool_)
    sheet = draw(mask, 200, 1 / 50)
    along = np.arange(15, 185)
    assert (sheet[along, along] < 64).all()


def test_a_pen_thinner_than_a_pixel_leaves_grey():
    mask = blank(20, 20)
    mask[10] = True
    ink = ink_of(draw(mask, 20, 1 / 80))
    assert ink[10, 5] == pytest.approx(0.25, abs=0.01)


def test_the_pen_is_the_pen_of_the_sketches():
    size, style = 120, InkStyle(line_width=1 / 40, margin=0.1)
    # A sketch of one diagonal: fitted to the margins, its ends are half a line inside them.
    line = Drawing((np.array([[0, 0], [1, 1]], dtype=np.float32),))
    start = round(size * style.margin + size * style.line_width / 2 - 0.5)
    mask = blank(size, size)
    inside = np.arange(start, size - start)
    mask[inside, inside] = True
    difference = np.abs(ink_of(draw(mask, size, style.line_width)) - ink_of(rasterise(line, size, style)))
    middle = slice(30, 90)
    assert difference[middle, middle].max() < 0.12
