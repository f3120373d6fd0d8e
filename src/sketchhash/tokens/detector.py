"""What a contour detector is, and the table of those we have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import UnknownName
from sketchhash.tokens.gradient import GradientDetector


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


DETECTORS: Mapping[str, Callable[[], Detector]] = {"gradient": GradientDetector}


def detector(name: str) -> Detector:
    """Make the detector of that name.

    >>> detector("gradient").name
    'gradient'
    """
    try:
        return DETECTORS[name]()
    except KeyError:
        raise UnknownName("contour detector", name, DETECTORS) from None
