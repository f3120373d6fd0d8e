"""Lines through the middle of ink, so that it can be drawn again with another pen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.imaging.ink import Lines
from sketchhash.imaging.thinning import thin

# A mark by itself is a speck if it has less ink than this share of the square of the line width. A full stop,
# drawn by the same round pen, has 0.79 of it, or 0.48 where the width was estimated from upright lines alone.
_SPECK = 0.45


def centrelines(ink: NDArray[np.bool_]) -> Lines:
    """Find the lines through the middle of ink ``(height, width)``, in pixels; there must be some.

    A solid area becomes a mesh of short lines, a little smaller than itself; the pen makes up for that.
    """
    pen = _pen_width(ink)
    middle = thin(ink)
    specks = _specks(ink, middle, pen)
    ink, middle = ink & ~specks, middle & ~specks

    joins = _joins(np.pad(middle, 1))
    points = _smooth(_pixel_centres(middle), joins)
    dots = np.flatnonzero(np.bincount(joins.ravel(), minlength=len(points)) == 0)
    starts, ends = np.concatenate([joins, np.stack([dots, dots], axis=1)]).T
    # Thinning shortens pointed tips; the outline of the ink, half a pen further out, tells where they were.
    outline = _pixel_centres(ink)
    inset = (pen - 1) / 2
    low = np.minimum(points.min(axis=0), outline.min(axis=0) + inset)
    high = np.maximum(points.max(axis=0), outline.max(axis=0) - inset)
    return Lines(points[starts], points[ends], low, high)


def _pen_width(ink: NDArray[np.bool_]) -> float:
    """Estimate the width of lines as twice the area of ink over the length of its outline.

    The outline comes from Crofton's formula: π/4 of the changes met along all rows and columns. A dot counts
    as half as wide as it is, so a drawing made of dots is not mistaken for specks.
    """
    framed = np.pad(ink, 1)
    changes = np.count_nonzero(framed[1:] != framed[:-1]) + np.count_nonzero(framed[:, 1:] != framed[:, :-1])
    return float(2 * ink.sum() / (np.pi / 4 * changes))


def _pixel_centres(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    rows, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return np.stack([columns, rows], axis=1) + 0.5


def _joins(framed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pair neighbouring pixels by rank, ``(pairs, 2)``; diagonally only where nothing else joins them."""
    flat, stride = framed.ravel(), framed.shape[1]
    pixels = np.flatnonzero(flat)
    rank = np.cumsum(flat) - 1
    east, south, west = flat[pixels + 1], flat[pixels + stride], flat[pixels - 1]
    southeast = flat[pixels + stride + 1] & ~(east | south)
    southwest = flat[pixels + stride - 1] & ~(west | south)
    steps = ((east, 1), (south, stride), (southeast, stride + 1), (southwest, stride - 1))
    return np.concatenate(
        [np.stack([rank[pixels[joined]], rank[pixels[joined] + step]], axis=1) for joined, step in steps]
    )


def _smooth(points: NDArray[np.float64], joins: NDArray[np.intp]) -> NDArray[np.float64]:
    """Move each point half-way to the mean of its neighbours, which takes the stairs out of slanted lines.

    The ends of lines stay where they are.
    """
    own, other = np.concatenate([joins, joins[:, ::-1]]).T
    neighbours = np.bincount(own, minlength=len(points))
    sums = [np.bincount(own, weights=points[other, axis], minlength=len(points)) for axis in (0, 1)]
    means = np.stack(sums, axis=1) / np.maximum(neighbours, 1)[:, None]
    return np.where(neighbours[:, None] >= 2, (points + means) / 2, points)


def _specks(ink: NDArray[np.bool_], middle: NDArray[np.bool_], pen: float) -> NDArray[np.bool_]:
    """Mark where there is no more than marks that stand alone and are too small to be made by the pen."""
    # Around each pixel look at three by three cells as wide as the pen. A line longer than a cell has at
    # least so many pixels there.
    cell = int(np.ceil(pen))
    is_short = _count_around(middle, cell) <= cell
    is_faint = _count_around(ink, cell) < _SPECK * pen * pen
    height, width = ink.shape
    return (is_short & is_faint).repeat(cell, axis=0)[:height].repeat(cell, axis=1)[:, :width]


def _count_around(mask: NDArray[np.bool_], cell: int) -> NDArray[np.int64]:
    """Count what is set in each square cell of a mask and the eight cells around it."""
    height, width = mask.shape
    in_rows = np.add.reduceat(mask, np.arange(0, height, cell), axis=0, dtype=np.int64)
    counts = np.pad(np.add.reduceat(in_rows, np.arange(0, width, cell), axis=1), 1)
    across = counts[:, :-2] + counts[:, 1:-1] + counts[:, 2:]
    around: NDArray[np.int64] = across[:-2] + across[1:-1] + across[2:]
    return around
