"""Where in the photos training may look: pixels on contours, and pixels that nobody takes for one.

All of them are at least `RADIUS` from the border, so that the patches around them lie inside their photo.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import require
from sketchhash.tokens.channels import RADIUS
from sketchhash.tokens.training.bsds import TracedPhoto


def contour_places(photos: Sequence[TracedPhoto]) -> NDArray[np.int32]:
    """List what was traced, once for each annotator: ``(pixels, 4)`` of photo, annotator, row, column, in order."""
    found = [np.empty((0, 4), dtype=np.int32)]
    for number, traced in enumerate(photos):
        inside = np.argwhere(traced.contours[:, RADIUS:-RADIUS, RADIUS:-RADIUS]) + np.array([0, RADIUS, RADIUS])
        found.append(np.insert(inside, 0, number, axis=1).astype(np.int32))
    return np.concatenate(found)


def background_pixels(traced: TracedPhoto) -> NDArray[np.int32]:
    """List the pixels at least 2 pixels from every annotator's contours: ``(pixels, 2)`` of row, column."""
    ndimage = require("scipy.ndimage", "train")
    # Nearer than 2 pixels are the contours themselves and their eight neighbours.
    near = ndimage.binary_dilation(traced.contours.any(axis=0), np.ones((3, 3)))
    pixels: NDArray[np.int32] = (np.argwhere(~near[RADIUS:-RADIUS, RADIUS:-RADIUS]) + RADIUS).astype(np.int32)
    return pixels
