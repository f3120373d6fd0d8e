"""Contours in one call, for those who do not want to choose a detector."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens.contours import DEFAULT_STYLE, TokenStyle, as_rgb, token_map
from sketchhash.tokens.detector import Detector
from sketchhash.tokens.detector import detector as make_detector

DEFAULT_DETECTOR = "sketch-tokens"


def detect(photo: NDArray[np.uint8], detector: Detector | None = None) -> NDArray[np.float32]:
    """Score every pixel of a photo, ``(h, w)`` or ``(h, w, 3)``, for lying on a contour: ``(h, w)``, in [0, 1].

    The photo is taken as large as it is. `token_map` looks at it from a longest side of 256 pixels, where a
    contour is what a person would draw rather than a texture.
    """
    return (detector or _default()).detect(as_rgb(photo))


def sketch(
    photo: NDArray[np.uint8], size: int, detector: Detector | None = None, style: TokenStyle = DEFAULT_STYLE
) -> NDArray[np.uint8]:
    """Draw the contours of a photo, ``(h, w)`` or ``(h, w, 3)``, on a square sheet ``(size, size)``.

    >>> sketch(np.zeros((60, 90), dtype=np.uint8), size=80).shape
    (80, 80)
    """
    return token_map(photo, detector or _default(), size, style)


@cache
def _default() -> Detector:
    return make_detector(DEFAULT_DETECTOR)
