"""A plain contour detector: colour gradients at a fine and a coarse scale, damped where everything is busy.

It needs no training and no weights. The constants were chosen on the validation photos of BSDS500 (longest
side 256, two pixels of tolerance): the sum over channels follows people's contours better than the maximum,
fourfold chroma better than equal weights, and one shared surround as well as one per scale.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens.filters import blur, slopes

_VERSION = 1  # raise whenever `detect` gives other scores for the same fields

_OPPONENT = np.array(
    [
        [1 / 3, 1 / 3, 1 / 3],  # light against dark
        [1 / 2, -1 / 2, 0.0],  # red against green
        [1 / 4, 1 / 4, -1 / 2],  # yellow against blue
    ],
    dtype=np.float32,
)


@dataclass(frozen=True)
class GradientDetector:
    """Scores a pixel by its colour gradient, relative to the gradients around it.

    Args:
        scales: Gaussian widths at which the gradient is taken, in pixels, ascending.
        chroma: Weight of the two colour channels against lightness.
        surround: Gaussian width of the neighbourhood that damps texture, in pixels.
        quiet: Gradient below which a surround no longer counts, so that noise in flat areas stays faint.
    """

    scales: tuple[float, ...] = (1.0, 3.0)
    chroma: float = 4.0
    surround: float = 5.0
    quiet: float = 0.1

    @property
    def name(self) -> str:
        """The name it has in the table of detectors."""
        return "gradient"

    @property
    def fingerprint(self) -> str:
        """A hash of the version and the parameters."""
        return hashlib.sha256(f"{_VERSION} {self!r}".encode()).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1).

        The strongest gradient of a photo is often an outlier, and 60 % of it keeps too little of what people
        trace. ``1 - exp(-x)`` flattens the top, which brings 60 % of the maximum close to people's own ink.
        """
        strength = self._strength(photo)
        return 1 - np.exp(-strength / (blur(strength, self.surround) + np.float32(self.quiet)))

    def _strength(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        weights = _OPPONENT * np.array([[1], [self.chroma], [self.chroma]], dtype=np.float32)
        channels = np.tensordot(weights, photo.astype(np.float32), axes=(1, 2))
        channels /= 255

        strength = np.zeros(photo.shape[:2], dtype=np.float32)
        reached = 0.0
        for scale in self.scales:
            # Gaussians compose: their variances add, so each scale starts from the one before.
            channels = blur(channels, math.sqrt(scale**2 - reached**2))
            reached = scale
            across, down = slopes(channels)
            # A step of unit height keeps its strength at every scale.
            strength += np.float32(scale) * np.sqrt((across**2 + down**2).sum(axis=0))
        return strength / np.float32(len(self.scales))
