"""DAISY at stroke points, as LKS describes the strokes around them.

It has 2 rings and reaches 8 pixels on a sheet of 200, about the 31 × 31 pixels of LKS on 400. The one in
`sketchhash.tokens.training` has three rings and wider, exact smoothing, and would take most of the time that a picture
has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Picture
from sketchhash.tokens.daisy import Daisy
from sketchhash.tokens.filters import blur

REACH = 8

_PAPER = 3 * REACH  # around the sheet, wider than any smoothing at its border reaches
_DAISY = Daisy(REACH, rings=2, smooth=blur)


def describe(ink: Picture, points: NDArray[np.intp]) -> NDArray[np.float32]:
    """Describe the ink around points ``(n, 2)``, row and column: ``(n, 136)``, of unit length where there is ink."""
    darkness = (1 - np.pad(ink, _PAPER, constant_values=255) / 255).astype(np.float32)
    rows, columns = (points + _PAPER).T
    return _DAISY.describe(darkness, rows, columns)
