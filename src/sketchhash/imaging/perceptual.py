"""The perceptual hash of a picture: 64 bits that copies of it share, but for a few.

It is the signs of the 64 lowest frequencies of the picture's brightness, squeezed to 32 × 32, without the mean: a
discrete cosine transform, as JPEG has it, of the whole picture. To resize or recompress a picture, or to brighten it a
little, hardly changes those signs; other pictures differ in about half of them. Codes of a model are made to agree for
pictures of one kind, so they cannot tell copies from likes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.imaging.photos import shrink

PERCEPTUAL_BYTES = 8

# From the small picture that galleries keep: so the hash can be made from that alone.
_LONGEST = 256
_SIDE = 32
_FREQUENCIES = 9  # 9 × 9, of which 64 beside the mean are taken, row by row
_PLAINEST = 2.0  # grey levels: below this deviation the signs are noise

_COSINES = np.cos(np.pi / _SIDE * np.outer(np.arange(_FREQUENCIES), np.arange(_SIDE) + 0.5))


def perceptual_hash(photo: NDArray[np.uint8]) -> bytes:
    """Return the hash of a picture ``(height, width, 3)``: 8 bytes, or none if it is of one colour."""
    small = Image.fromarray(shrink(photo, _LONGEST)).convert("L").resize((_SIDE, _SIDE), Image.Resampling.BILINEAR)
    grey = np.asarray(small, dtype=np.float64)
    if grey.std() < _PLAINEST:
        return b""
    waves = _COSINES @ grey @ _COSINES.T
    return np.packbits(waves.ravel()[1 : 8 * PERCEPTUAL_BYTES + 1] > 0).tobytes()
