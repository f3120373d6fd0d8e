"""Any picture of a sketch, brought to the normal form that strokes are rasterised to.

Ink is told from paper, thinned to its centre lines, and drawn again by the pen of `sketchhash.imaging.ink`:
so the width of the pen that made it, its colour, and where on the page it stood leave no trace.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.centrelines import centrelines
from sketchhash.imaging.decode import DEFAULT_LIMITS, Limits, open_picture
from sketchhash.imaging.ink import DEFAULT_STYLE, InkStyle, draw
from sketchhash.imaging.paper import ink_on, ink_threshold

# Photos of a page are reduced to this side first; a pencil line is still two pixels wide then.
_LONGEST_SIDE = 1024

# Lines are sought on a grid of this side, whatever the size asked for: every size shows the same lines.
_GRID = 320


def read_sketch(
    source: Path | bytes, size: int, style: InkStyle = DEFAULT_STYLE, limits: Limits = DEFAULT_LIMITS
) -> NDArray[np.uint8]:
    """Read a sketch from a picture file, in the normal form: ``(size, size)``, paper 255, ink 0.

    Raises:
        UnreadableImage: If the file cannot be decoded, or there is no ink on the page.
    """
    picture = open_picture(source, limits, longest=_LONGEST_SIDE)
    picture.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE), Image.Resampling.BOX)
    try:
        return normalise_ink(np.asarray(picture), size, style)
    except UnreadableImage as problem:
        name = "these bytes" if isinstance(source, bytes) else str(source)
        raise UnreadableImage(f"Cannot read a sketch from {name}: {problem}") from problem


def normalise_ink(pixels: NDArray[np.uint8], size: int, style: InkStyle = DEFAULT_STYLE) -> NDArray[np.uint8]:
    """Bring a sketch to the normal form: ``(size, size)``, paper 255, ink 0, lines as wide as the style says.

    Args:
        pixels: Grey ``(h, w)``, RGB ``(h, w, 3)`` or RGBA ``(h, w, 4)``; see `sketchhash.imaging.paper`.
        size: The side of the result.
        style: The pen and the margin.

    Raises:
        UnreadableImage: If there is no ink on the page.
    """
    ink = _resize_to(_crop(ink_on(pixels)), _GRID)
    return draw(centrelines(_where_inked(ink)), size, style)


def _where_inked(ink: NDArray[np.uint8]) -> NDArray[np.bool_]:
    mask = ink > ink_threshold(ink)
    if not mask.any():
        raise UnreadableImage("no ink was found on the page.")
    return mask


def _crop(ink: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Cut out the box around all ink, with a frame of one empty pixel."""
    mask = _where_inked(ink)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return np.pad(ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1], 1)


def _resize_to(ink: NDArray[np.uint8], longest: int) -> NDArray[np.uint8]:
    height, width = ink.shape
    scale = longest / max(height, width)
    target = max(round(width * scale), 1), max(round(height * scale), 1)
    return np.asarray(Image.fromarray(ink).resize(target, Image.Resampling.BICUBIC))
