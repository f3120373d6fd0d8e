"""The learned contour detector of Lim, Zitnick and Dollár, "Sketch Tokens" (CVPR 2013).

    photo ──► 14 channels ──► patch features at every second pixel ──► forest ──► share of contours

Each tree was trained to tell 150 kinds of short contours, the sketch tokens, from background. Which kind it is
does not matter here: a pixel's score is the share of all kinds together, one minus that of background.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.tokens.channels import channels
from sketchhash.tokens.features import lookup_planes
from sketchhash.tokens.forest import Forest

_VERSION = 1  # raise whenever `detect` gives other scores with the same forest
_STRIDE = 2
_MOST_PIXELS = 50_000_000  # about 9 GB of planes, and still within the kernel's 32-bit offsets
SHIPPED_FOREST = Path(__file__).with_name("forest.npz")


@dataclass(frozen=True)
class SketchTokens:
    """Scores a pixel by what a forest says about the patch around it."""

    forest: Forest

    @classmethod
    def shipped(cls) -> Self:
        """Take the forest that comes with the package, trained on BSDS500."""
        if not SHIPPED_FOREST.exists():
            raise IncompatibleModel(
                f"The forest of sketch tokens, {SHIPPED_FOREST}, is not there. "
                "Type: pip install --force-reinstall --no-deps sketchhash"
            )
        return cls(Forest.load(SHIPPED_FOREST))

    @property
    def name(self) -> str:
        """The name it has in the table of detectors."""
        return "sketch-tokens"

    @property
    def fingerprint(self) -> str:
        """A hash of the version and the forest."""
        return hashlib.sha256(f"{self.name} {_VERSION} {self.forest.fingerprint}".encode()).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1]."""
        height, width = photo.shape[:2]
        if height * width > _MOST_PIXELS:
            raise BadArgument(
                f"Contours are looked for in photos of at most {_MOST_PIXELS:,} pixels, not {width} × {height}: "
                "make it smaller first."
            )
        planes = lookup_planes(channels(photo))
        rows, columns = np.arange(0, height, _STRIDE), np.arange(0, width, _STRIDE)
        corners = rows[:, None] * planes.shape[2] + columns
        share = self.forest.contour_share(planes, corners.ravel())
        return _doubled(_doubled(share.reshape(corners.shape)).T).T[:height, :width]


def _doubled(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put the mean of two neighbours between them; the last one is repeated."""
    doubled = np.empty((2 * len(rows), rows.shape[1]), dtype=np.float32)
    doubled[::2] = rows
    doubled[1:-1:2] = np.float32(0.5) * (rows[:-1] + rows[1:])
    doubled[-1] = rows[-1]
    return doubled
