"""Resize photos, and lay out contact sheets of many pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageOps

from sketchhash.errors import BadArgument
from sketchhash.files import replacing
from sketchhash.imaging.decode import DEFAULT_LIMITS, Limits, fitted, read_photo, read_small_photo

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
    return _resize(photo, *fitted((width, height), longest))


def thumbnail(photo: NDArray[np.uint8], side: int = 256) -> bytes:
    """Return a small JPEG of the picture, aspect kept, no side above ``side``; nothing but pixels is in it."""
    file = io.BytesIO()
    Image.fromarray(shrink(photo, side)).save(file, "JPEG", quality=_THUMBNAIL_QUALITY)
    return file.getvalue()


def read_shrunk_photo(source: Path | bytes, longest: int, limits: Limits = DEFAULT_LIMITS) -> NDArray[np.uint8]:
    """Decode a photo with no side above ``longest``, by whole blocks first; see `read_photo` and `shrink`."""
    return shrink(read_photo(source, limits, longest), longest)


def read_as_jpeg(content: bytes, longest: int) -> NDArray[np.uint8]:
    """Decode a photo, and return the bytes ``(n,)`` of a JPEG of it with no side above ``longest``."""
    return np.frombuffer(thumbnail(read_small_photo(content, longest), longest), dtype=np.uint8)


_GAP = 4
_CAPTION_HEIGHT = 16


def contact_sheet(rows: Sequence[Sequence[NDArray[np.uint8]]], captions: Sequence[str], cell: int) -> NDArray[np.uint8]:
    """Lay out rows of pictures under their captions: RGB, ``(height, width, 3)``, white between.

    Args:
        rows: Pictures, each ``(h, w)`` or ``(h, w, 3)``; rows may differ in length.
        captions: One a row.
        cell: The side of the square each picture is fitted into, aspect kept.
    """
    if len(rows) != len(captions):
        raise BadArgument(f"Each row needs one caption: there are {len(rows)} rows and {len(captions)} captions.")
    columns = max(map(len, rows), default=0)
    row_height = _CAPTION_HEIGHT + cell + _GAP
    sheet = Image.new("RGB", (_GAP + columns * (cell + _GAP), _GAP + len(rows) * row_height), "white")
    pen = ImageDraw.Draw(sheet)
    for number, (row, caption) in enumerate(zip(rows, captions, strict=True)):
        top = _GAP + number * row_height
        pen.text((_GAP, top), caption, fill="black")
        for column, pixels in enumerate(row):
            picture = ImageOps.pad(Image.fromarray(pixels).convert("RGB"), (cell, cell), color="white")
            sheet.paste(picture, (_GAP + column * (cell + _GAP), top + _CAPTION_HEIGHT))
    return np.array(sheet)


def write_png(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write a PNG that is complete or not there."""
    with replacing(path) as file:
        Image.fromarray(pixels).save(file, "PNG", optimize=True)


def _resize(photo: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    picture = Image.fromarray(photo)
    return np.array(picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=_REDUCING_GAP))
