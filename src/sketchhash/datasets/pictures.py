"""Items as pixels: a photo in colour, a sketch in the normal form of ink."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.items import Item
from sketchhash.errors import DatasetProblem
from sketchhash.imaging import InkStyle, normalise_ink, rasterise, read_photo, read_sketch
from sketchhash.imaging.strokes import Drawing

_STYLE = InkStyle()


def photo_pixels(item: Item, longest: int | None = None) -> NDArray[np.uint8]:
    """Decode a photo item: ``(height, width, 3)``; a large file need not be decoded beyond ``longest``."""
    if isinstance(item.content, Path):
        return read_photo(item.content, longest=longest)
    pixels = item.content if isinstance(item.content, Drawing) else item.content.read()
    if isinstance(pixels, Drawing):
        raise DatasetProblem(f"{item.id} is a drawing, not a photo.")
    return pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def sketch_ink(item: Item, size: int, style: InkStyle = _STYLE) -> NDArray[np.uint8]:
    """Decode a sketch item to ink ``(size, size)``, whether it was stored as strokes or as a picture."""
    if isinstance(item.content, Path):
        return read_sketch(item.content, size, style)
    content = item.content if isinstance(item.content, Drawing) else item.content.read()
    return rasterise(content, size, style) if isinstance(content, Drawing) else normalise_ink(content, size, style)
