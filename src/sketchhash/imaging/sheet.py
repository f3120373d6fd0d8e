"""Contact sheets: rows of small pictures with a caption each, to look at and to put into documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageOps

from sketchhash.errors import BadArgument
from sketchhash.files import replacing

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
