"""Icons, symbols and line art as sketches: the ink of a drawing that is to be found by drawing.

People draw an icon by its lines. So what is thin in it becomes a line, whatever its width; what is solid becomes the
line around it; and of two tones the paler one is left out, as it fills what the darker one surrounds. All of it is
drawn again by the pen of `ink`, centred, as every sketch is.

Further views of an icon were tried, such as the line around it all: codes of several, compared by the nearest, find no
more than this one (``benchmarks/drawings.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.decode import DEFAULT_LIMITS, Limits, fitted, open_picture
from sketchhash.imaging.ink import DEFAULT_STYLE, InkStyle, draw
from sketchhash.imaging.sketches import centrelines, ink_on, ink_threshold

THUMBNAIL = 256
"""The side of the picture that is shown of a drawing."""

_GRID = 192  # the side at which lines are sought: icons are made of fewer lines than sketches
_BORDER = 4
_SOLID = 0.055  # of the longest side: what reaches farther from its middle is no line
_OUTLINE = 2  # pixels, of the line around something solid

# What somebody drew with a program: so much of it is paper of exactly one colour, or transparent, so few colours make
# up so much of the rest, and all others are mixtures along edges: of 118 icons of Tabler, Phosphor and OpenMoji, at 16
# to 256 pixels, none has more than 341. Nothing that a camera sees is so flat.
_LOOKED_AT = 256
_PAPER = 0.3
_PAPER_LEVELS = 2
_COLOURS = 4
_COLOURED = 0.4
_MOST_COLOURS = 512
_ONE_NUMBER = np.array([1, 1 << 8, 1 << 16])  # for three levels


@dataclass(frozen=True, eq=False)
class DrawingPicture:
    """What is kept of a drawing: its ink ``(size, size)``, and how it looks ``(THUMBNAIL, THUMBNAIL, 3)``."""

    ink: NDArray[np.uint8]
    looks: NDArray[np.uint8]

    @classmethod
    def of(cls, written: NDArray[np.uint8]) -> Self:
        """Read what `read_drawing` has returned."""
        looks = written[-(THUMBNAIL * THUMBNAIL * 3) :].reshape(THUMBNAIL, THUMBNAIL, 3)
        size = math.isqrt(len(written) - looks.size)
        return cls(written[: -looks.size].reshape(size, size), looks)


def read_drawing(
    source: Path | bytes, size: int, style: InkStyle = DEFAULT_STYLE, limits: Limits = DEFAULT_LIMITS
) -> NDArray[np.uint8]:
    """Read an icon or other line art, as one row of bytes that `DrawingPicture.of` reads: ``(n,)``.

    Raises:
        UnreadableImage: If the file cannot be decoded, or nothing is drawn on it.
    """
    picture = _in_grey(open_picture(source, limits, longest=2 * THUMBNAIL))
    try:
        ink = drawing_ink(picture, size, style)
    except UnreadableImage as problem:
        name = "these bytes" if isinstance(source, bytes) else str(source)
        raise UnreadableImage(f"Cannot read a drawing from {name}: {problem}") from problem
    return np.concatenate([ink.ravel(), _looks(picture).ravel()])


def read_either(
    source: Path | bytes,
    as_drawing: Callable[[Path | bytes], NDArray[np.uint8]],
    as_photo: Callable[[Path | bytes], NDArray[np.uint8]],
    limits: Limits = DEFAULT_LIMITS,
) -> NDArray[np.uint8]:
    """Read a picture as what `is_drawing` takes it for: a drawing has one dimension, see `read_drawing`, a photo three.

    A picture that looks like a drawing but has no ink is a photo all the same.
    """
    if is_drawing(source, limits):
        try:
            return as_drawing(source)
        except UnreadableImage:
            pass
    return as_photo(source)


def drawing_reader(
    size: int, style: InkStyle, limits: Limits = DEFAULT_LIMITS
) -> Callable[[Path | bytes], NDArray[np.uint8]]:
    """Return a function that reads drawings as a network takes them; it can be sent to another process."""
    return partial(read_drawing, size=size, style=style, limits=limits)


def may_be_drawing(content: bytes) -> bool:
    """Tell by a file's first bytes whether it is worth a look: line art is kept as PNG, WebP, GIF or BMP.

    JPEG and what else cameras write are photos unless somebody says otherwise.
    """
    return content.startswith((b"\x89PNG", b"GIF8", b"BM")) or content[8:12] == b"WEBP"


def is_drawing(source: Path | bytes, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Tell whether a picture was drawn by a program: a few flat colours on flat paper. Photos hardly ever pass."""
    picture = open_picture(source, limits, longest=_LOOKED_AT).convert("RGBA")
    picture.thumbnail((_LOOKED_AT, _LOOKED_AT), Image.Resampling.NEAREST)  # no new colours
    pixels = np.asarray(picture).astype(np.int32)
    colours, is_seen = pixels[..., :3], pixels[..., 3] >= 128
    if is_seen.mean() <= 1 - _PAPER:
        inked = colours[is_seen]
    else:
        is_paper = (np.abs(colours - _most_common(colours)) <= _PAPER_LEVELS).all(axis=2)
        if is_paper.mean() < _PAPER:
            return False
        inked = colours[~is_paper]
    if not len(inked):
        return False
    counts = np.sort(np.unique(inked @ _ONE_NUMBER, return_counts=True)[1])[::-1]
    return bool(len(counts) <= _MOST_COLOURS and counts[:_COLOURS].sum() >= _COLOURED * len(inked))


def _most_common(colours: NDArray[np.int32]) -> NDArray[np.int32]:
    packed, counts = np.unique(colours.reshape(-1, 3) @ _ONE_NUMBER, return_counts=True)
    common = int(packed[counts.argmax()])
    return np.array([common & 255, common >> 8 & 255, common >> 16], dtype=np.int32)


def _in_grey(picture: Image.Image) -> Image.Image:
    """Lay what is drawn in black on nothing, as most icons are, on white: one channel is read much faster than four."""
    if picture.mode == "RGBA" and not any(colour.getbbox() for colour in picture.split()[:3]):
        return ImageChops.invert(picture.getchannel("A"))
    return picture


def drawing_ink(picture: Image.Image, size: int, style: InkStyle = DEFAULT_STYLE) -> NDArray[np.uint8]:
    """Return the lines of a drawing in the normal form: ``(size, size)``, paper 255, ink 0."""
    mask = _mask(picture)
    reach = round(_SOLID * max(mask.shape))
    solid = _eroded(mask, reach)
    if solid.any():
        areas = _dilated(solid, reach + 1) & mask
        mask = (mask & ~areas) | (areas & ~_eroded(areas, _OUTLINE))
    return draw(centrelines(mask), size, style)


def _mask(picture: Image.Image) -> NDArray[np.bool_]:
    """Return where there is ink, ``(h, w)``, cut out and at the size at which lines are sought."""
    ink = ink_on(np.asarray(picture))
    mask = ink > ink_threshold(ink)
    if not mask.any():
        raise UnreadableImage("nothing is drawn on it.")
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    cut = Image.fromarray(ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])
    scale = (_GRID - 2 * _BORDER) / max(cut.size)
    small = cut.resize((max(round(cut.width * scale), 1), max(round(cut.height * scale), 1)), Image.Resampling.BOX)
    ink = np.pad(np.asarray(small), _BORDER)
    return ink > ink_threshold(ink)


def _looks(picture: Image.Image) -> NDArray[np.uint8]:
    """Return a square picture of a drawing: on white, or on grey if it is drawn in white."""
    picture = picture.resize(fitted(picture.size, THUMBNAIL), Image.Resampling.BICUBIC)
    page = Image.new("RGB", (THUMBNAIL, THUMBNAIL), "white")
    corner = (THUMBNAIL - picture.width) // 2, (THUMBNAIL - picture.height) // 2
    if picture.mode == "RGBA":
        seen = np.asarray(picture.convert("L"))[np.asarray(picture.getchannel("A")) > 127]
        if seen.size and np.quantile(seen, 0.05) > 200:
            page = Image.new("RGB", page.size, "#555")
        page.paste(picture, corner, picture)
    else:
        page.paste(picture.convert("RGB"), corner)
    return np.asarray(page)


def _eroded(mask: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """Keep what is set with all that is so near to it, across or down."""
    kept: NDArray[np.bool_] = _count_near(mask, reach) == (2 * reach + 1) ** 2
    return kept


def _dilated(mask: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """Set all that is so near to what is set."""
    return _count_near(mask, reach) > 0


def _count_near(mask: NDArray[np.bool_], reach: int) -> NDArray[np.int32]:
    """Count what is set in the square around each pixel, by sums from the corner: its size takes no time."""
    side = 2 * reach + 1
    sums = np.pad(mask, (reach + 1, reach)).cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)
    counts: NDArray[np.int32] = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return counts
