"""Any picture of a sketch, brought to the normal form that strokes are rasterised to.

Ink is told from paper, whatever the picture (a scan, a photo of a page on a table, chalk on a board, a bitmap), thinned
to its centre lines, and drawn again by the pen of `sketchhash.imaging.ink`: so the width of the pen that made it, its
colour, and where on the page it stood do not matter.

Thinning is that of Guo and Hall, "Parallel thinning with two-subiteration algorithms", 1989: whether a pixel may go
depends on its eight neighbours alone, and each layer is taken off in two half steps, from opposite sides. We differ in
one thing: peeling ends once the lines are thin, so that a solid area, wider than they are, stays an area.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageFilter

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.decode import DEFAULT_LIMITS, Limits, open_picture
from sketchhash.imaging.ink import DEFAULT_STYLE, InkStyle, Lines, draw
from sketchhash.imaging.pages import find_sheet

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


def read_recognised(
    source: Path | bytes,
    as_sketch: Callable[[Path | bytes], NDArray[np.uint8]],
    as_photo: Callable[[Path | bytes], NDArray[np.uint8]],
    limits: Limits = DEFAULT_LIMITS,
) -> NDArray[np.uint8]:
    """Read a picture as what `is_sketch` takes it for: a sketch has two dimensions, a photo three.

    This is one function so that a process that decodes has its time once for both.

    Raises:
        UnreadableImage: If the file cannot be decoded, or there is no ink on the page of a sketch.
    """
    return as_sketch(source) if is_sketch(source, limits) else as_photo(source)


# A sketch is lines, no wider than this share of the picture and covering no more than that of the paper, which is
# smooth: hardly a pixel of a small copy differs from its neighbours by so many levels once the lines are removed.
_LOOKED_AT = 320
_SMALL_SIDE = 96
_THIN = 0.05
_MOST_INK = 0.25
_STEP = 6
_MOST_STEPS = 0.05


def is_sketch(source: Path | bytes, limits: Limits = DEFAULT_LIMITS) -> NDArray[np.bool_]:
    """Tell whether a picture shows a sketch rather than a photo: some thin lines on smooth paper.

    The answer is an array without dimensions: that is what processes that decode can send.

    Raises:
        UnreadableImage: If the file cannot be decoded.
    """
    picture = open_picture(source, limits, longest=_LOOKED_AT)
    picture.thumbnail((_LOOKED_AT, _LOOKED_AT), Image.Resampling.BOX)
    ink = ink_on(np.asarray(picture))
    mask = ink > ink_threshold(ink)
    if picture.mode == "RGBA":
        picture = _on_contrasting_page(picture)
    sheet = find_sheet(picture)
    paper = mask.size if sheet is None else int(sheet.sum())
    if not mask.any() or mask.sum() > _MOST_INK * paper or _pen_width(mask) > _THIN * max(mask.shape):
        return np.array(False)
    small = picture.convert("L").resize((_SMALL_SIDE, _SMALL_SIDE), Image.Resampling.BOX)
    where = np.ones((_SMALL_SIDE, _SMALL_SIDE), dtype=bool)
    if sheet is not None:
        where = np.asarray(Image.fromarray(sheet).resize(small.size, Image.Resampling.NEAREST))
    if _has_light_ink(small, where):
        small = ImageChops.invert(small)
    steps = np.hypot(*np.gradient(np.asarray(_without_dark_lines(small), dtype=np.float64)))
    return np.array((steps[where] > _STEP).mean() <= _MOST_STEPS)


def normalise_ink(pixels: NDArray[np.uint8], size: int, style: InkStyle = DEFAULT_STYLE) -> NDArray[np.uint8]:
    """Bring a sketch to the normal form: ``(size, size)``, paper 255, ink 0, lines as wide as the style says.

    Args:
        pixels: Grey ``(h, w)``, RGB ``(h, w, 3)`` or RGBA ``(h, w, 4)``; see `ink_on`.
        size: The side of the result.
        style: The pen and the margin.

    Raises:
        UnreadableImage: If there is no ink on the page.
    """
    ink = _resize_to(_crop(ink_on(pixels)), _GRID)
    return draw(centrelines(_where_inked(ink)), size, style)


# A page is flat, as programs and scanners make it, if this share of it lies within a few grey levels of one
# colour. Bitmaps of 28 pixels are hardly more than a third paper; a page in a shadow is never that flat.
_FLAT_SHARE = 0.35
_FLAT_LEVELS = 2
# The light on a photographed page is measured on a small square copy; no line is wider than this there.
_LIGHT_SIDE = 192
_WIDEST_LINE = 9
# Below this contrast, out of 255, nothing is ink; nor is it within so many deviations of the paper's grain.
_LEAST_CONTRAST = 12
_GRAIN_DEVIATIONS = 5


def ink_on(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Measure how strongly each pixel is inked, ``(h, w)``: its contrast to the paper under it, 0 for paper.

    Args:
        pixels: Grey ``(h, w)``, RGB ``(h, w, 3)`` or RGBA ``(h, w, 4)``; ink of any colour, lighter or darker
            than the paper, which may be unevenly lit.
    """
    picture = Image.fromarray(pixels)
    if picture.mode == "RGBA":
        picture = _on_contrasting_page(picture)
    channels = picture.split()
    papers = [_most_common_level(channel) for channel in channels]
    if all(share >= _FLAT_SHARE for _, share in papers):
        inks = [_ink_on_flat(channel, level) for channel, (level, _) in zip(channels, papers, strict=True)]
        return np.asarray(reduce(ImageChops.lighter, inks))
    grey, sheet = picture.convert("L"), find_sheet(picture)
    ink = _ink_in_uneven_light(grey, sheet)
    is_frame = sheet is not None and not ink.any()  # drawn around nothing: it looks like a table around a sheet
    return _ink_in_uneven_light(grey, None) if is_frame else ink


def ink_threshold(ink: NDArray[np.uint8]) -> float:
    """Find the level that parts ink from paper: half the ink's own strength.

    The strength is a mean weighted by itself, so that faint smears, and the ringing of JPEG around lines, do
    not pull it down.
    """
    weights = np.array(Image.fromarray(ink).histogram(), dtype=np.float64) * np.arange(256)
    return float((weights * np.arange(256)).sum() / max(weights.sum(), 1.0)) / 2


# A mark by itself is a speck if it has less ink than this share of the square of the line width. A full stop,
# drawn by the same round pen, has 0.79 of it, or 0.48 where the width was estimated from upright lines alone.
_SPECK = 0.45


def centrelines(ink: NDArray[np.bool_]) -> Lines:
    """Find the lines through the middle of ink ``(height, width)``, in pixels; there must be some.

    A solid area becomes a mesh of short lines, a little smaller than itself; the pen makes up for that.
    """
    pen = _pen_width(ink)
    middle = skeletonise(ink)
    specks = _specks(ink, middle, pen)
    ink, middle = ink & ~specks, middle & ~specks

    joins = _joins(np.pad(middle, 1))
    points = _smooth(_pixel_centres(middle), joins)
    dots = np.flatnonzero(np.bincount(joins.ravel(), minlength=len(points)) == 0)
    starts, ends = np.concatenate([joins, np.stack([dots, dots], axis=1)]).T
    # Thinning shortens pointed tips; the outline of the ink, half a pen further out, tells where they were.
    outline = _pixel_centres(ink)
    inset = (pen - 1) / 2
    low = np.minimum(points.min(axis=0), outline.min(axis=0) + inset)
    high = np.maximum(points.max(axis=0), outline.max(axis=0) - inset)
    return Lines(points[starts], points[ends], low, high)


# Lines have met their middle when a layer has become this much smaller than the first.
_LAST_LAYER = 0.25
# No pen is wider than an eighth of its drawing; what is wider is an area.
_WIDEST_PEN = 1 / 8


def skeletonise(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Thin ink until most of its lines are one pixel wide: ``(height, width)``, a subset of ``ink``.

    The picture is one large number, a bit for each pixel: then its neighbour in the north is a shift away, and Python
    compares all pixels at once.
    """
    height, width = ink.shape
    framed = np.pad(ink, 1)
    left = int.from_bytes(np.packbits(framed).tobytes())
    first_layer = 0
    for _ in range(int(max(height, width) * _WIDEST_PEN / 2) + 1):
        before = left.bit_count()
        for is_second in (False, True):
            left ^= _may_go(left, width + 2, is_second)
        layer = before - left.bit_count()
        first_layer = first_layer or layer
        if layer <= first_layer * _LAST_LAYER:
            break
    packed = np.frombuffer(left.to_bytes(-(-framed.size // 8)), dtype=np.uint8)
    thinned = np.unpackbits(packed, count=framed.size).reshape(framed.shape)
    return thinned[1:-1, 1:-1].astype(bool)


def _may_go(ink: int, stride: int, is_second: bool) -> int:
    """Return the pixels that the first or second half step takes off: bits of rows of so many, east of each the next.

    Nothing is set in the frame, so that what is shifted out of a row is nothing.
    """
    north, south, west, east = ink >> stride, ink << stride, ink >> 1, ink << 1
    northwest, northeast, southwest, southeast = north >> 1, north << 1, south >> 1, south << 1
    clockwise = north | northeast, east | southeast, south | southwest, west | northwest
    counter = northwest | north, northeast | east, southeast | south, southwest | west
    # Walking around the pixel, ink begins behind each side that has none: just once, if one line meets it.
    met = [
        _without(counter[1], north),
        _without(counter[2], east),
        _without(counter[3], south),
        _without(counter[0], west),
    ]
    is_met_once = _without(met[0] ^ met[1] ^ met[2] ^ met[3], met[0] & met[1] | met[2] & met[3])
    # Two or three of its sides are inked, by whichever way of pairing neighbours counts fewer.
    has_sides = _at_least_two(*clockwise) & _at_least_two(*counter)
    has_all = clockwise[0] & clockwise[1] & clockwise[2] & clockwise[3]
    edges = _without(ink & is_met_once & has_sides, has_all & counter[0] & counter[1] & counter[2] & counter[3])
    if is_second:
        return _without(edges, clockwise[0] & east | _without(east, southeast))
    return _without(edges, clockwise[2] & west | _without(west, northwest))


def _without(some: int, others: int) -> int:
    """Return a set without another; complements of numbers are negative, which is slower."""
    return some ^ (some & others)


def _at_least_two(first: int, second: int, third: int, fourth: int) -> int:
    """Return what is in two of four sets or more."""
    return first & second | third & fourth | (first | second) & (third | fourth)


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


def _on_contrasting_page(picture: Image.Image) -> Image.Image:
    """Lay a transparent picture on white, or on black if there is nothing dark in it."""
    seen = np.asarray(picture.convert("L"))[np.asarray(picture.getchannel("A")) > 127]
    has_dark_ink = seen.size > 0 and np.quantile(seen, 0.02) < 128
    page = Image.new("RGBA", picture.size, "white" if has_dark_ink else "black")
    return Image.alpha_composite(page, picture).convert("RGB")


def _most_common_level(channel: Image.Image) -> tuple[int, float]:
    """Find the grey level with most pixels near it, and their share of the picture."""
    nearby = np.convolve(channel.histogram(), np.ones(2 * _FLAT_LEVELS + 1), mode="same")
    level = int(np.flatnonzero(nearby == nearby.max()).mean())
    return level, float(nearby.max()) / (channel.width * channel.height)


def _ink_on_flat(channel: Image.Image, paper: int) -> Image.Image:
    contrast = np.abs(np.arange(256) - paper)
    contrast[contrast < _LEAST_CONTRAST] = 0
    return channel.point(contrast.tolist())


def _ink_in_uneven_light(grey: Image.Image, sheet: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    """Compare each pixel with the page as it would be without lines: gradients and shadows are in both.

    If a ``sheet`` of paper was found, ``(height, width)``, there is ink on it alone. What is around it is darker, so it
    does not show in the page as it would be.
    """
    small = grey.resize((_LIGHT_SIDE, _LIGHT_SIDE), Image.Resampling.BOX)
    whole = np.ones(grey.size[::-1], dtype=bool) if sheet is None else sheet
    on_sheet = np.asarray(Image.fromarray(whole).resize(small.size, Image.Resampling.NEAREST))
    if _has_light_ink(small, on_sheet):
        page = ImageChops.invert(_without_dark_lines(ImageChops.invert(small)))
    else:
        page = _without_dark_lines(small)

    paper = np.asarray(page.resize(grey.size, Image.Resampling.BILINEAR), dtype=np.float32)
    quiet = np.asarray(grey.filter(ImageFilter.BoxBlur(1)), dtype=np.float32)
    contrast: NDArray[np.float32] = 255 * np.abs(quiet / np.maximum(paper, 1) - 1)
    middle = float(np.median(contrast[whole]))
    grain = 1.4826 * float(np.median(np.abs(contrast[whole] - middle)))
    contrast[~whole] = 0
    contrast[contrast < middle + max(_LEAST_CONTRAST, _GRAIN_DEVIATIONS * grain)] = 0
    return np.minimum(contrast, 255).astype(np.uint8)


def _has_light_ink(picture: Image.Image, where: NDArray[np.bool_]) -> bool:
    """Tell whether what stands out most from its surroundings, ``where`` one looks, is lighter than they are."""
    # What lies elsewhere, such as a dark table, is no surroundings: beside it the paper itself would look light.
    pixels = np.asarray(picture)
    paper = Image.fromarray(np.where(where, pixels, np.median(pixels[where])).astype(np.uint8))
    difference = pixels.astype(np.float64) - np.asarray(paper.filter(ImageFilter.BoxBlur(_WIDEST_LINE)))
    return bool((difference[where] ** 3).sum() > 0)


def _without_dark_lines(picture: Image.Image) -> Image.Image:
    """Remove whatever is dark and no wider than `_WIDEST_LINE`; edges and gradients stay where they are."""
    reach = _WIDEST_LINE // 2
    framed = Image.fromarray(np.pad(np.asarray(picture), reach, mode="edge"))  # so that gradients reach the border
    for extreme in (ImageFilter.MaxFilter(3), ImageFilter.MinFilter(3)):
        for _ in range(reach):
            framed = framed.filter(extreme)
    return framed.crop((reach, reach, reach + picture.width, reach + picture.height))


def _pen_width(ink: NDArray[np.bool_]) -> float:
    """Estimate the width of lines as twice the area of ink over the length of its outline.

    The outline comes from Crofton's formula: π/4 of the changes met along all rows and columns. A dot counts
    as half as wide as it is, so a drawing made of dots is not mistaken for specks.
    """
    framed = np.pad(ink, 1)
    changes = np.count_nonzero(framed[1:] != framed[:-1]) + np.count_nonzero(framed[:, 1:] != framed[:, :-1])
    return float(2 * ink.sum() / (np.pi / 4 * changes))


def _pixel_centres(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    rows, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return np.stack([columns, rows], axis=1) + 0.5


def _joins(framed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pair neighbouring pixels by rank, ``(pairs, 2)``; diagonally only where nothing else joins them."""
    flat, stride = framed.ravel(), framed.shape[1]
    pixels = np.flatnonzero(flat)
    rank = np.cumsum(flat) - 1
    east, south, west = flat[pixels + 1], flat[pixels + stride], flat[pixels - 1]
    southeast = flat[pixels + stride + 1] & ~(east | south)
    southwest = flat[pixels + stride - 1] & ~(west | south)
    steps = ((east, 1), (south, stride), (southeast, stride + 1), (southwest, stride - 1))
    return np.concatenate(
        [np.stack([rank[pixels[joined]], rank[pixels[joined] + step]], axis=1) for joined, step in steps]
    )


def _smooth(points: NDArray[np.float64], joins: NDArray[np.intp]) -> NDArray[np.float64]:
    """Move each point half-way to the mean of its neighbours, which takes the stairs out of slanted lines.

    The ends of lines stay where they are.
    """
    own, other = np.concatenate([joins, joins[:, ::-1]]).T
    neighbours = np.bincount(own, minlength=len(points))
    sums = [np.bincount(own, weights=points[other, axis], minlength=len(points)) for axis in (0, 1)]
    means = np.stack(sums, axis=1) / np.maximum(neighbours, 1)[:, None]
    return np.where(neighbours[:, None] >= 2, (points + means) / 2, points)


def _specks(ink: NDArray[np.bool_], middle: NDArray[np.bool_], pen: float) -> NDArray[np.bool_]:
    """Mark where there is no more than marks that stand alone and are too small to be made by the pen."""
    # Around each pixel look at three by three cells as wide as the pen. A line longer than a cell has at
    # least so many pixels there.
    cell = int(np.ceil(pen))
    is_short = _count_around(middle, cell) <= cell
    is_faint = _count_around(ink, cell) < _SPECK * pen * pen
    height, width = ink.shape
    return (is_short & is_faint).repeat(cell, axis=0)[:height].repeat(cell, axis=1)[:, :width]


def _count_around(mask: NDArray[np.bool_], cell: int) -> NDArray[np.int64]:
    """Count what is set in each square cell of a mask and the eight cells around it."""
    height, width = mask.shape
    in_rows = np.add.reduceat(mask, np.arange(0, height, cell), axis=0, dtype=np.int64)
    counts = np.pad(np.add.reduceat(in_rows, np.arange(0, width, cell), axis=1), 1)
    across = counts[:, :-2] + counts[:, 1:-1] + counts[:, 2:]
    around: NDArray[np.int64] = across[:-2] + across[1:-1] + across[2:]
    return around
