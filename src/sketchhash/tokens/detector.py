"""What a contour detector is, and the table of those we have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, UnknownName
from sketchhash.tokens.canny import Canny
from sketchhash.tokens.forest import Forest
from sketchhash.tokens.gradient import GradientDetector
from sketchhash.tokens.hed import HED
from sketchhash.tokens.sketch_tokens import SHIPPED_FOREST, SketchTokens


class Detector(Protocol):
    """Scores every pixel of a photo for how likely it lies on a contour."""

    @property
    def name(self) -> str:
        """The name it has in `DETECTORS`."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash of everything that changes its output: name, version, parameters, weights."""
        ...

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1]. Scores need not be thin lines yet."""
        ...


DETECTORS: Mapping[str, Callable[[], Detector]] = {
    "canny": Canny,
    "gradient": GradientDetector,
    "hed": HED,
    "sketch-tokens": SketchTokens.shipped,
}


def detector(name: str, weights: Path | None = None) -> Detector:
    """Make the detector of that name, with the learned ``weights`` it comes with or those of another file.

    >>> detector("gradient").name
    'gradient'
    """
    if name not in DETECTORS:
        raise UnknownName("contour detector", name, DETECTORS)
    if weights is None:
        return DETECTORS[name]()
    if name not in WEIGHTS:
        raise BadArgument(f"The contour detector {name!r} takes no weights; leave {weights} out.")
    return SketchTokens(Forest.load(weights))


WEIGHTS: Mapping[str, Path] = {"sketch-tokens": SHIPPED_FOREST}
"""Which detectors read a file of weights, and the one they come with: a model folder carries a copy."""
