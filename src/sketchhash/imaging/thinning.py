"""Peeling ink down to its middle, layer by layer, without ever breaking or shortening a line.

Guo and Hall, "Parallel thinning with two-subiteration algorithms", 1989: whether a pixel may go depends on
its eight neighbours alone, and each layer is taken off in two half steps, from opposite sides. We differ in
one thing: peeling ends once the lines are thin, so that a solid area, wider than they are, stays an area.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Lines have met their middle when a layer has become this much smaller than the first.
_LAST_LAYER = 0.25

# No pen is wider than an eighth of its drawing; what is wider is an area.
_WIDEST_PEN = 1 / 8


def thin(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Thin ink until most of its lines are one pixel wide: ``(height, width)``, a subset of ``ink``."""
    height, width = ink.shape
    framed = np.pad(ink, 1).astype(np.uint8)
    flat = framed.ravel()
    stride = width + 2
    around = (
        -stride,
        1 - stride,
        1,
        stride + 1,
        stride,
        stride - 1,
        -1,
        -stride - 1,
    )  # north first, clockwise

    pixels = np.flatnonzero(flat)
    first_layer = 0
    for _ in range(int(max(height, width) * _WIDEST_PEN / 2) + 1):
        layer = 0
        for may_go in _MAY_GO:
            neighbourhood = np.zeros(len(pixels), dtype=np.uint8)
            for bit, step in enumerate(around):
                neighbourhood |= flat[pixels + step] << bit
            goes = may_go[neighbourhood]
            flat[pixels[goes]] = 0
            pixels = pixels[~goes]
            layer += int(goes.sum())
        first_layer = first_layer or layer
        if layer <= first_layer * _LAST_LAYER:
            break
    return framed[1:-1, 1:-1].astype(bool)


def _tabulate() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell for each of the 256 neighbourhoods whether its middle may go, in either half step."""
    bits = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(bool)
    north, northeast, east, southeast, south, southwest, west, northwest = bits.T
    lines_met = sum(
        (~side & (corner | next_side)).astype(int)
        for side, corner, next_side in (
            (north, northeast, east),
            (east, southeast, south),
            (south, southwest, west),
            (west, northwest, north),
        )
    )
    clockwise = np.sum([north | northeast, east | southeast, south | southwest, west | northwest], axis=0)
    counter = np.sum([northwest | north, northeast | east, southeast | south, southwest | west], axis=0)
    sides = np.minimum(clockwise, counter)
    is_edge = (lines_met == 1) & (sides >= 2) & (sides <= 3)
    first = is_edge & ~((south | southwest | ~northwest) & west)
    second = is_edge & ~((north | northeast | ~southeast) & east)
    return first, second


_MAY_GO = _tabulate()
