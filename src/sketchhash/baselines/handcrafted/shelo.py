"""Soft histograms of edge local orientations (SHELO).

Saavedra. Sketch based image retrieval using a soft computation of the histogram of edge local orientations. ICIP
2014.

| symbol  | here                                                                       |
|---------|----------------------------------------------------------------------------|
| θ, g    | ``angle`` and ``strength`` of the gradient at a pixel                      |
| S, C, M | ``sine``, ``cosine``, ``weight``: a cell's sums of g·sin 2θ, g·cos 2θ and g |

Each cell has one orientation, ½ atan2(S, C), and votes for it with weight M in the histogram of its block. Every vote
is shared linearly between the nearest cells, blocks and directions.

Where we differ: the author's program does not share S and C between cells, and adds the share of a direction where we
multiply by it; we follow the description. We could not find how blocks are normalised: here the votes of each block are
scaled to sum to one, then their roots are taken.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.handcrafted.descriptors import EDGES, SQUEEZED, FixedDescriptor
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Picture, Reported
from sketchhash.errors import require

_CELLS = 25
_BLOCKS = 6
_DIRECTIONS = 36
_FAINT = 0.1  # a cell with less than this share of the strongest cell's gradient has no orientation


class SHELO(FixedDescriptor):
    """Describes where in a drawing lines run in which direction, with finer directions than HOG."""

    dimensions: ClassVar[int] = _BLOCKS**2 * _DIRECTIONS
    side: ClassVar[int] = 200

    def describe(self, ink: Picture) -> Matrix:
        """Histogram the orientations of cells; the squares of each block sum to one, or to zero in an empty one."""
        orientation, weight = cell_orientations(ink)
        rows, columns = np.nonzero(weight >= max(_FAINT * weight.max(), np.finfo(float).tiny))
        votes = np.zeros((_BLOCKS, _BLOCKS, _DIRECTIONS))
        turn = orientation[rows, columns] / np.pi * _DIRECTIONS
        lower = np.floor(turn).astype(np.intp)
        for block_rows, row_share in _nearest_two(rows, _CELLS, _BLOCKS):
            for block_columns, column_share in _nearest_two(columns, _CELLS, _BLOCKS):
                share = row_share * column_share * weight[rows, columns]
                for direction, nearness in ((lower, lower + 1 - turn), (lower + 1, turn - lower)):
                    np.add.at(votes, (block_rows, block_columns, direction % _DIRECTIONS), share * nearness)
        totals = votes.sum(axis=2, keepdims=True)
        shares: Matrix = np.sqrt(votes / np.where(totals > 0, totals, 1)).ravel()
        return shares


CARD = Card(
    name="shelo",
    title="SHELO",
    kind=Kind.HANDCRAFTED,
    paper="Saavedra. Sketch based image retrieval using a soft computation of HELO (S-HELO). ICIP",
    year=2014,
    sees=Input.PICTURES,
    distance=Distance.COSINE,
    method=SHELO,
    choices=(
        EDGES,
        SQUEEZED,
        "Each block's histogram sums to one before its root is taken.",
        "Cells with less than a tenth of the strongest cell's gradient do not vote.",
        "Cosine distance.",
    ),
    tuberlin=Reported.at(1296, 0.123, 0.155),
    sketchy=Reported.at(1296, 0.161, 0.182),
    sizes=(1296,),
    differs="How blocks are normalised could not be found, and the paper does not say which edges count: both are our "
    "choice.",
)


def cell_orientations(ink: Picture) -> tuple[Matrix, Matrix]:
    """Return the orientation of the lines in each cell, in [0, π), and its weight M, each ``(25, 25)``.

    Angles are doubled before averaging: the two sides of a line have opposite gradients but one orientation.
    """
    cv2 = require("cv2", "bench")
    darkness = 255 - ink.astype(np.float64)
    right, down = (cv2.Sobel(darkness, cv2.CV_64F, *order) for order in ((1, 0), (0, 1)))
    rows, columns = np.nonzero((right != 0) | (down != 0))
    right, down = right[rows, columns], down[rows, columns]
    strength, angle = np.hypot(right, down), np.arctan2(down, right)

    sums = np.zeros((3, _CELLS * _CELLS))
    side = len(ink)
    for cell_rows, row_share in _nearest_two(rows, side, _CELLS):
        for cell_columns, column_share in _nearest_two(columns, side, _CELLS):
            share = strength * row_share * column_share
            place = cell_rows * _CELLS + cell_columns
            for total, vote in zip(sums, (share * np.sin(2 * angle), share * np.cos(2 * angle), share), strict=True):
                total += np.bincount(place, vote, minlength=len(total))
    sine, cosine, weight = sums.reshape(3, _CELLS, _CELLS)
    across = np.arctan2(sine, cosine) / 2
    return (across + np.pi / 2) % np.pi, weight


def _nearest_two(
    places: NDArray[np.intp], fine: int, coarse: int
) -> tuple[tuple[NDArray[np.intp], Matrix], tuple[NDArray[np.intp], Matrix]]:
    """Find the two cells of a coarse grid nearest to places of a fine one, with shares that sum to one.

    A place beyond the middle of the outermost cell belongs only to that cell.
    """
    position = (places + 0.5) * (coarse / fine) - 0.5
    lower = np.floor(position).astype(np.intp)
    upper_share = position - lower
    return (lower.clip(0), 1 - upper_share), ((lower + 1).clip(max=coarse - 1), upper_share)
