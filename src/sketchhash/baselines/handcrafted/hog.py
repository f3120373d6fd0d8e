"""Histograms of oriented gradients, of a whole drawing.

Dalal, Triggs. Histograms of oriented gradients for human detection. CVPR 2005.

Gradients are counted by direction in the cells of a grid, and cells are normalised within overlapping blocks, as
scikit-image implements it.

Where we differ: the paper gives 1296 dimensions and nothing else. 6 × 6 blocks of 2 × 2 cells with 9 directions are
one way to get as many: 7 × 7 cells, blocks one cell apart. Votes are not interpolated between cells or directions.
"""

from __future__ import annotations

from typing import ClassVar

from sketchhash.baselines.handcrafted.descriptors import EDGES, SQUEEZED, FixedDescriptor
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Picture, Reported
from sketchhash.errors import require

_DIRECTIONS = 9
_CELL = 32
_CELLS = 7
_BLOCK = 2


class HOG(FixedDescriptor):
    """Describes where in a drawing lines run in which direction."""

    dimensions: ClassVar[int] = (_CELLS - _BLOCK + 1) ** 2 * _BLOCK**2 * _DIRECTIONS
    side: ClassVar[int] = _CELL * _CELLS

    def describe(self, ink: Picture) -> Matrix:
        """Histogram the gradients; each block has unit length, with values clipped at 0.2 before the last scaling."""
        feature = require("skimage.feature", "bench")
        values: Matrix = feature.hog(
            1 - ink / 255,
            orientations=_DIRECTIONS,
            pixels_per_cell=(_CELL, _CELL),
            cells_per_block=(_BLOCK, _BLOCK),
            block_norm="L2-Hys",
        )
        return values


CARD = Card(
    name="hog",
    title="HOG",
    kind=Kind.HANDCRAFTED,
    paper="Dalal, Triggs. Histograms of oriented gradients for human detection. CVPR",
    year=2005,
    sees=Input.PICTURES,
    distance=Distance.COSINE,
    method=HOG,
    choices=(
        EDGES,
        SQUEEZED,
        "6 × 6 overlapping blocks of 2 × 2 cells and 9 directions, inferred from the 1296 dimensions.",
        "Cosine distance.",
    ),
    tuberlin=Reported.at(1296, 0.091, 0.120),
    sketchy=Reported.at(1296, 0.115, 0.159),
    sizes=(1296,),
    differs="The paper gives the 1296 dimensions and no more: cells, blocks and the choice of edges are ours.",
)
