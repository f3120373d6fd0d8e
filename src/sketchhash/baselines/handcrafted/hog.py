"""Histograms of oriented gradients, of a whole drawing.

Dalal, Triggs. Histograms of oriented gradients for human detection. CVPR 2005.

Gradients are counted by direction in the cells of a grid, and cells normalised within blocks that overlap. scikit-
image does it.

Where we differ: the paper gives 1296 dimensions and nothing else. 6 × 6 blocks of 2 × 2 cells with 9 directions are
one way to have as many: 7 × 7 cells, blocks one cell apart. Votes are not interpolated between cells or directions.
"""

from __future__ import annotations

from typing import ClassVar

from sketchhash.baselines.handcrafted.fixed import FixedDescriptor
from sketchhash.baselines.views import Matrix, Picture
from sketchhash.errors import require

_DIRECTIONS = 9
_CELL = 32
_CELLS = 7
_BLOCK = 2


class HOG(FixedDescriptor):
    """Where on the sheet lines run in which direction."""

    dimensions: ClassVar[int] = (_CELLS - _BLOCK + 1) ** 2 * _BLOCK**2 * _DIRECTIONS
    side: ClassVar[int] = _CELL * _CELLS

    def describe(self, ink: Picture) -> Matrix:
        """Histogram the gradients; each block has unit length, with no value above 0.2 before the last scaling."""
        feature = require("skimage.feature", "bench")
        values: Matrix = feature.hog(
            1 - ink / 255,
            orientations=_DIRECTIONS,
            pixels_per_cell=(_CELL, _CELL),
            cells_per_block=(_BLOCK, _BLOCK),
            block_norm="L2-Hys",
        )
        return values
