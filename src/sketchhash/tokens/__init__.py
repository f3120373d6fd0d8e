"""Sketch tokens: the contours of a photo, drawn the way a person's sketch is drawn.

    photo ──► detector (a score per pixel) ──► contours (thin, select) ──► pen ──► token map

The token branch of the network shares its weights with the sketch branch (Liu et al., "Deep Sketch Hashing",
section 2.1), so a token map has a sketch's polarity and line width: white paper, black ink. It keeps the
geometry of its photo, squeezed to a square, because both feed the same network.

`sketch` does all of it, and `detect` the first half. Detectors are interchangeable: see `Detector`. `TokenCache`
keeps finished maps on disk.
"""

from sketchhash.tokens.cache import TokenCache, pixel_content
from sketchhash.tokens.contours import TokenStyle, thin
from sketchhash.tokens.detectors import (
    DEFAULT_DETECTOR,
    DETECTORS,
    WEIGHTS,
    WORKING_SIDE,
    Detector,
    contour_scores,
    detect,
    detector,
    draw_tokens,
    sketch,
    token_map,
)
from sketchhash.tokens.sketch_tokens import SketchTokens

__all__ = [
    "DEFAULT_DETECTOR",
    "DETECTORS",
    "WEIGHTS",
    "WORKING_SIDE",
    "Detector",
    "SketchTokens",
    "TokenCache",
    "TokenStyle",
    "contour_scores",
    "detect",
    "detector",
    "draw_tokens",
    "pixel_content",
    "sketch",
    "thin",
    "token_map",
]
