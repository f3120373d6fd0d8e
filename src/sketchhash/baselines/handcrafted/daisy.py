"""DAISY at stroke points, as LKS describes the strokes around them (Tola, Lepetit and Fua, PAMI 2010).

Histograms of gradient directions at the point and at 8 points on each of 2 rings, the outer ones smoothed more. It
reaches 8 pixels on a sheet of 200, about the 31 × 31 pixels of LKS on 400. The one in `sketchhash.tokens.training`
has three rings and wider, exact smoothing, and would take most of the time that a picture has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Picture
from sketchhash.tokens.filters import blur

REACH = 8
_PAPER = 3 * REACH  # around the sheet, wider than any smoothing at its border reaches
_RINGS = 2
_POINTS = 8
_DIRECTIONS = 8
DESCRIPTOR_LENGTH = (1 + _RINGS * _POINTS) * _DIRECTIONS


def describe(ink: Picture, points: NDArray[np.intp]) -> NDArray[np.float32]:
    """Describe the ink around points ``(n, 2)``, row and column: ``(n, 136)``, of unit length where there is ink."""
    directions = _directions(np.pad(ink, _PAPER, constant_values=255))
    rows, columns = (points + _PAPER).T
    histograms = []
    for ring in range(1, _RINGS + 1):
        distance = REACH * ring / _RINGS
        smooth = blur(directions, distance / 2)
        if ring == 1:
            histograms.append(smooth[:, rows, columns])
        for angle in np.arange(_POINTS) * (2 * np.pi / _POINTS):
            down, right = round(distance * np.sin(angle)), round(distance * np.cos(angle))
            histograms.append(smooth[:, rows + down, columns + right])
    descriptors: NDArray[np.float32] = np.concatenate(histograms).T
    lengths = np.linalg.norm(descriptors, axis=1, keepdims=True)
    descriptors /= np.maximum(lengths, np.finfo(np.float32).tiny)
    return descriptors


def _directions(ink: Picture) -> NDArray[np.float32]:
    """Spread the gradient at each pixel over the directions it points to: ``(directions, h, w)``."""
    darkness = 1 - ink.astype(np.float32) / 255
    right = np.diff(darkness, axis=1, append=darkness[:, -1:])
    down = np.diff(darkness, axis=0, append=darkness[-1:])
    spread = np.zeros((_DIRECTIONS, *ink.shape), dtype=np.float32)
    rows, columns = np.nonzero((right != 0) | (down != 0))
    right, down = right[rows, columns], down[rows, columns]
    centres = np.arange(_DIRECTIONS, dtype=np.float32) * np.float32(2 * np.pi / _DIRECTIONS) - np.float32(np.pi)
    # A circular normal distribution of this concentration is about as wide as a bin.
    nearness = np.exp(np.float32(_DIRECTIONS / np.pi) * np.cos(np.arctan2(down, right) - centres[:, None]))
    spread[:, rows, columns] = np.hypot(right, down) * nearness
    return spread
