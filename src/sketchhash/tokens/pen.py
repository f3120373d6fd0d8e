"""Draw a mask of thin lines as ink on paper, at any size."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens.components import touching


def draw(mask: NDArray[np.bool_], size: int, line_width: float) -> NDArray[np.uint8]:
    """Trace the lines of a mask ``(h, w)`` on a square sheet ``(size, size)``: paper 255, ink 0.

    The sheet's proportions may differ from the mask's; the lines are as wide in every direction.

    Args:
        mask: Lines about one pixel thin; pixels that touch are joined.
        size: Side of the sheet in pixels.
        line_width: As a fraction of the side.
    """
    width = line_width * size
    distance = np.sqrt(_squared_distance(_trace(mask, size), size, math.ceil(width / 2 + 0.5)))
    # How much of each pixel the pen covers; a pen thinner than a pixel leaves grey.
    coverage = np.clip(width / 2 + 0.5 - distance, 0, min(1.0, width))
    return np.rint(255 - 255 * coverage).astype(np.uint8)


def _trace(mask: NDArray[np.bool_], size: int) -> NDArray[np.float32]:
    """Points along the lines, about half a pixel of the sheet apart: ``(2, points)``, y and x."""
    scale = (size / np.array(mask.shape, dtype=np.float32))[:, None]
    centres = (np.stack(np.nonzero(mask)).astype(np.float32) + np.float32(0.5)) * scale
    first, second = touching(mask)
    start, span = centres[:, first], centres[:, second] - centres[:, first]
    steps = math.ceil(2 * scale.max())
    return np.concatenate([centres, *(start + span * np.float32(i / steps) for i in range(1, steps))], axis=1)


def _squared_distance(points: NDArray[np.float32], size: int, reach: int) -> NDArray[np.float32]:
    """Measure each pixel centre's squared distance to the nearest point; infinite beyond ``reach`` pixels."""
    pixel = np.floor(points)
    y, x = points - pixel - np.float32(0.5)
    side = size + 2 * reach  # a frame, so that the pen may overhang the sheet
    row, column = pixel.astype(np.intp)
    corner = row * side + column

    squared = np.full(side * side, np.inf, dtype=np.float32)
    offsets = range(2 * reach + 1)
    across = [(x - np.float32(right - reach)) ** 2 for right in offsets]
    for down in offsets:
        upright = (y - np.float32(down - reach)) ** 2
        for right in offsets:
            np.minimum.at(squared, corner + (down * side + right), upright + across[right])
    return squared.reshape(side, side)[reach : reach + size, reach : reach + size]
