"""DAISY: what the lines around a pixel look like, tolerant of small shifts (Tola, Lepetit and Fua, PAMI 2010).

Histograms of gradient directions, taken at the pixel and at 8 points on each of some rings around it; the farther
out, the more smoothed. With a Gaussian that is cut off late the numbers equal those of scikit-image's ``daisy``,
which describes every pixel of a picture: here the few that are asked for are looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens.filters import Planes

_POINTS = 8
_DIRECTIONS = 8


@dataclass(frozen=True)
class Daisy:
    """A descriptor that reaches so many pixels to the outermost of its rings; ``smooth`` takes planes and a sigma."""

    reach: int
    rings: int
    smooth: Callable[[Planes, float], Planes]

    @property
    def length(self) -> int:
        """Numbers of a descriptor."""
        return (1 + self.rings * _POINTS) * _DIRECTIONS

    def describe(
        self, lines: NDArray[np.float32], rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Describe pixels of a picture of lines ``(h, w)``: ``(pixels, length)``, of unit length where there is any."""
        directions = _directions(lines)
        histograms = []
        for ring in range(1, self.rings + 1):
            distance = self.reach * ring / self.rings
            smooth = self.smooth(directions, distance / 2)
            if ring == 1:
                histograms.append(smooth[:, rows, columns])
            for angle in np.arange(_POINTS) * (2 * np.pi / _POINTS):
                down, right = round(distance * np.sin(angle)), round(distance * np.cos(angle))
                histograms.append(smooth[:, rows + down, columns + right])
        descriptors: NDArray[np.float32] = np.concatenate(histograms).T
        lengths = np.linalg.norm(descriptors, axis=1, keepdims=True)
        descriptors /= np.maximum(lengths, np.finfo(np.float32).tiny)
        return descriptors


def _directions(lines: NDArray[np.float32]) -> NDArray[np.float32]:
    """Spread the gradient at each pixel over the directions it points to: ``(directions, h, w)``."""
    right = np.diff(lines, axis=1, append=lines[:, -1:])
    down = np.diff(lines, axis=0, append=lines[-1:])
    spread = np.zeros((_DIRECTIONS, *lines.shape), dtype=np.float32)
    rows, columns = np.nonzero((right != 0) | (down != 0))
    right, down = right[rows, columns], down[rows, columns]
    centres = np.arange(_DIRECTIONS, dtype=np.float32) * np.float32(2 * np.pi / _DIRECTIONS) - np.float32(np.pi)
    # A circular normal distribution of this concentration is about as wide as a bin.
    nearness = np.exp(np.float32(_DIRECTIONS / np.pi) * np.cos(np.arctan2(down, right) - centres[:, None]))
    spread[:, rows, columns] = np.hypot(right, down) * nearness
    return spread
