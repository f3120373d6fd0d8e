"""Items as pixels, on the road that users' photos and drawings take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Item, photo_pixels, sketch_ink
from sketchhash.gallery.reading import decode
from sketchhash.imaging import InkStyle, shrink
from sketchhash.model import InkInput

_LONGEST_SIDE = 512  # as galleries have it


def as_galleries_see_it(photo: Item) -> NDArray[np.uint8]:
    """Decode a photo: ``(height, width, 3)``, as large as galleries take it."""
    if isinstance(photo.content, Path):
        return decode(photo.content.read_bytes())
    return shrink(photo_pixels(photo), _LONGEST_SIDE)


def inked_for(wanted: InkInput, sketch: Item) -> NDArray[np.uint8]:
    """Draw a sketch as a model wants it: ``(size, size)``."""
    return sketch_ink(sketch, wanted.size, InkStyle(wanted.line_width, wanted.margin))
