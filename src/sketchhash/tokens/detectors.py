"""The contour detectors by name, and token maps made with them.

    photo ──► working size ──► detector ──► scores ──► strong contours ──► pen ──► token map

A new detector is a class with `name`, `fingerprint` and `detect`, and one row in `DETECTORS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.errors import BadArgument, UnknownName
from sketchhash.tokens.contour_net import SHIPPED_NETWORK, ContourNet
from sketchhash.tokens.contours import DEFAULT_STYLE, TokenStyle, draw, strong_contours
from sketchhash.tokens.peers import HED, Canny, GradientDetector
from sketchhash.tokens.sketch_tokens import SHIPPED_FOREST, Forest, SketchTokens

WORKING_SIDE = 256
"""The longest side at which contours are detected for token maps, whatever the photo's."""
_SHORTEST_SIDE = 32  # a panorama is stretched to this, or nothing would be left inside its border


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
    "contour-net": ContourNet.shipped,
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
    return ContourNet.load(weights) if name == "contour-net" else SketchTokens(Forest.load(weights))


WEIGHTS: Mapping[str, Path] = {"contour-net": SHIPPED_NETWORK, "sketch-tokens": SHIPPED_FOREST}
"""Which detectors read a file of weights, and the one they come with: a model folder carries a copy."""
DEFAULT_DETECTOR = "contour-net"


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


def token_map(
    photo: NDArray[np.uint8], detector: Detector, size: int, style: TokenStyle = DEFAULT_STYLE
) -> NDArray[np.uint8]:
    """Draw the contours of a photo, ``(h, w)`` or ``(h, w, 3)``, on a square sheet ``(size, size)``.

    Paper is 255 and ink 0. The photo is squeezed to the square, as the photo branch sees it.
    """
    return draw_tokens(contour_scores(photo, detector), size, style)


def contour_scores(photo: NDArray[np.uint8], detector: Detector) -> NDArray[np.float32]:
    """Score a photo, ``(h, w)`` or ``(h, w, 3)``, at its working size for lying on contours: each in [0, 1]."""
    return detector.detect(working_size(photo))


def draw_tokens(scores: NDArray[np.float32], size: int, style: TokenStyle = DEFAULT_STYLE) -> NDArray[np.uint8]:
    """Draw the strong contours among a photo's ``scores`` on a square sheet ``(size, size)``; see `token_map`."""
    if size < 1:
        raise BadArgument(f"A token map is at least 1 pixel wide; got size={size}.")
    return draw(strong_contours(scores, style), size, style.ink.line_width)


def working_size(photo: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a photo at the size at which contours are detected for token maps: ``(h, w, 3)``, longest side 256."""
    rgb = as_rgb(photo)
    scale = WORKING_SIDE / max(rgb.shape[:2])
    height, width = (max(_SHORTEST_SIDE, round(side * scale)) for side in rgb.shape[:2])
    if rgb.shape[:2] == (height, width):
        return rgb
    return np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0))


def as_rgb(photo: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a photo with three channels, ``(h, w, 3)``; raise if it is not a photo."""
    is_picture = photo.ndim == 2 or (photo.ndim == 3 and photo.shape[2] == 3)
    if photo.dtype != np.uint8 or not is_picture or photo.size == 0:
        raise BadArgument(f"A photo is uint8 of shape (h, w) or (h, w, 3), not empty; got {photo.dtype} {photo.shape}.")
    return photo if photo.ndim == 3 else np.repeat(photo[:, :, None], 3, axis=2)


@cache
def _default() -> Detector:
    return detector(DEFAULT_DETECTOR)
