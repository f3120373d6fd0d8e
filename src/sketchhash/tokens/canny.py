"""Canny's detector, by OpenCV: the floor that others are compared with.

Canny (PAMI 1986) gives edges at one pair of thresholds, and we need scores: a pixel's score is the highest
threshold at which it still is an edge.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import require

_VERSION = 1  # raise whenever `detect` gives other scores for the same fields

_SLOPE_UNIT = 256  # OpenCV takes slopes as 16-bit integers; grey levels a pixel would be too coarse


@dataclass(frozen=True)
class Canny:
    """Scores a pixel by the highest threshold at which Canny's detector marks it.

    Args:
        sigma: Gaussian width at which slopes are taken, in pixels.
        levels: How many thresholds are tried.
        steepest: Slope that scores 1, in grey levels a pixel; a step from black to white has 51 at ``sigma`` 2.
        low: The low threshold of the hysteresis, as a share of the high one; Canny advises a third to a half.
    """

    sigma: float = 2.0
    levels: int = 32
    steepest: float = 32.0
    low: float = 0.4

    @property
    def name(self) -> str:
        """The name it has in the table of detectors."""
        return "canny"

    @property
    def fingerprint(self) -> str:
        """A hash of the versions, OpenCV's included, and the parameters."""
        cv2 = require("cv2", "bench")
        return hashlib.sha256(f"{_VERSION} {cv2.__version__} {self!r}".encode()).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1], on lines one pixel thin.

        Thresholds grow with the square of the score: most edges are faint, and need telling apart the most.
        """
        cv2 = require("cv2", "bench")
        grey = cv2.GaussianBlur(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY).astype(np.float32), (0, 0), self.sigma)
        across, down = (
            np.rint(cv2.Sobel(grey, cv2.CV_32F, *order, scale=_SLOPE_UNIT / 8)).astype(np.int16)
            for order in ((1, 0), (0, 1))
        )
        scores = np.zeros(grey.shape, dtype=np.float32)
        for score in np.linspace(0, 1, self.levels + 1, dtype=np.float32)[1:]:
            high = float(score**2 * self.steepest * _SLOPE_UNIT)
            edges = cv2.Canny(across, down, self.low * high, high, L2gradient=True)
            scores[edges > 0] = score
        return scores
