"""Photos in the sizes others ask for; every function takes RGB pixels, ``(height, width, 3)``."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

# A picture is first averaged in whole blocks down to this multiple of its final size, then resampled well:
# several times faster on large photos, and the same to within a few grey levels.
_REDUCING_GAP = 3.0

_THUMBNAIL_QUALITY = 80


def fit_square(photo: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Squeeze the whole picture into a square: ``(size, size, 3)``, antialiased.

    Squeezed rather than cropped: what stands at the edge of a photo can still be found.
    """
    return _resize(photo, size, size)


def shrink(photo: NDArray[np.uint8], longest: int) -> NDArray[np.uint8]:
    """Reduce a picture until no side exceeds ``longest``, aspect kept; a smaller one is returned as it is."""
    height, width = photo.shape[:2]
    if max(height, width) <= longest:
        return photo
    scale = longest / max(height, width)
    return _resize(photo, max(round(width * scale), 1), max(round(height * scale), 1))


def thumbnail(photo: NDArray[np.uint8], side: int = 256) -> bytes:
    """Give a small JPEG of the picture, aspect kept, no side above ``side``; nothing but pixels is in it."""
    file = io.BytesIO()
    Image.fromarray(shrink(photo, side)).save(file, "JPEG", quality=_THUMBNAIL_QUALITY)
    return file.getvalue()


def _resize(photo: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    picture = Image.fromarray(photo)
    return np.array(picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=_REDUCING_GAP))
