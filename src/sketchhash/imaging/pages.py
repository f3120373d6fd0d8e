"""Photos of pages: where the sheet of paper is, and whether a picture is a sketch at all.

A drawing that was photographed often lies on a table, whose texture and the paper's own edge are stronger than a
pencil. So the sheet is sought first: a bright convex region, with something around it that differs from it by more
than a shadow does, in texture, in colour, or by being much darker.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

# The sheet is sought on a small square copy, on which no line is wider than this.
_SIDE = 96
_WIDEST_LINE = 7
# The sheet is so much of the picture, and so much of its hull is bright.
_LEAST_SHARE, _MOST_SHARE = 0.15, 0.94
_LEAST_SOLIDITY = 0.85
# What is around the sheet is no shadow on it if it is so much rougher, has another colour, or is so much darker.
_ROUGHER, _LEAST_ROUGHNESS = 2.5, 0.012
_OTHER_COLOUR = 0.025
_DARKER = 0.4
# The outermost part of the sheet has the shadow of its edge.
_EDGE = 3


def find_sheet(picture: Image.Image) -> NDArray[np.bool_] | None:
    """Return where a sheet of paper lies in a picture, ``(height, width)``, without its edge.

    None if the picture shows nothing but paper, or no paper that can be told from the rest.
    """
    small = picture.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    views = _views(small)
    for view in views:
        sheet = _component(view > _otsu(view))
        if not _LEAST_SHARE <= sheet.mean() <= _MOST_SHARE:
            continue
        hull = _hull(sheet)
        inside, around = ~_grown(~hull, _EDGE), ~_grown(hull, _EDGE)
        is_solid = sheet.sum() >= _LEAST_SOLIDITY * hull.sum() and around.mean() >= (1 - _MOST_SHARE) / 2
        if is_solid and inside.any() and _differ(small, views[0], inside, around):
            return np.asarray(Image.fromarray(inside).resize(picture.size, Image.Resampling.NEAREST))
    return None


def _views(small: Image.Image) -> list[NDArray[np.float64]]:
    """Return what tells paper from a table, 0 to 255 and high for paper: it is brighter, has no colour, is smoother.

    Lines are removed first; not at the border, where a strip of table would pass for a line.
    """
    channels = [_without_lines(channel) for channel in small.split()]
    colours = np.stack([np.asarray(channel, dtype=np.float64) for channel in channels], axis=2) + 1
    page = colours.mean(axis=2)
    shades = colours / colours.sum(axis=2, keepdims=True)
    brightest = page >= np.quantile(page, 0.8)
    colour = np.abs(shades - np.median(shades[brightest], axis=0)).max(axis=2)
    rough = _roughness(Image.fromarray(page.clip(0, 255).astype(np.uint8)))
    return [page.clip(0, 255), 255 - (2000 * colour).clip(0, 255), 255 - (2000 * rough).clip(0, 255)]


def _roughness(grey: Image.Image) -> NDArray[np.float64]:
    blurred = np.asarray(grey.filter(ImageFilter.BoxBlur(2)), dtype=np.float64)
    return np.abs(np.asarray(grey) - blurred) / np.maximum(blurred, 1)


def _differ(small: Image.Image, page: NDArray[np.float64], sheet: NDArray[np.bool_], around: NDArray[np.bool_]) -> bool:
    """Tell whether what is around a sheet is more than a shadow on it."""
    roughness = _roughness(small.convert("L"))
    own, other = float(np.median(roughness[sheet])), float(np.median(roughness[around]))
    colours = np.asarray(small, dtype=np.float64) + 1
    colours /= colours.sum(axis=2, keepdims=True)
    shift = np.abs(np.median(colours[sheet], axis=0) - np.median(colours[around], axis=0)).max()
    return bool(
        other > max(_ROUGHER * own, _LEAST_ROUGHNESS)
        or shift > _OTHER_COLOUR
        or np.median(page[around]) < _DARKER * np.median(page[sheet])
    )


def _without_lines(picture: Image.Image) -> Image.Image:
    """Remove whatever is dark and narrow, but at the border; edges stay where they are."""
    closed = picture.filter(ImageFilter.MaxFilter(_WIDEST_LINE)).filter(ImageFilter.MinFilter(_WIDEST_LINE))
    inner = (_WIDEST_LINE, _WIDEST_LINE, picture.width - _WIDEST_LINE, picture.height - _WIDEST_LINE)
    whole = picture.copy()
    whole.paste(closed.crop(inner), inner[:2])
    return whole


def _otsu(levels: NDArray[np.float64]) -> float:
    """Return the level that parts dark from bright best: the variance between the two is largest (Otsu, 1979)."""
    counts = np.bincount(levels.astype(np.intp).ravel(), minlength=256).astype(np.float64)
    below = np.cumsum(counts)
    above = np.maximum(below[-1] - below, 1e-9)
    sums = np.cumsum(counts * np.arange(256))
    difference = sums / np.maximum(below, 1e-9) - (sums[-1] - sums) / above
    return float(np.argmax(below * above * difference**2))


def _component(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the connected part of a mask that is nearest to the middle, without what is narrow."""
    wide = ~_grown(~mask, _EDGE)
    places = np.argwhere(wide)
    if not len(places):
        return wide
    start = places[np.argmin(np.abs(places - len(mask) / 2).sum(axis=1))]
    opened = _grown(wide, _EDGE)
    part = np.zeros_like(mask)
    part[tuple(start)] = True
    while True:
        larger = _grown(part, 1) & opened
        if np.array_equal(larger, part):
            return part
        part = larger


def _grown(mask: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    return np.asarray(Image.fromarray(mask).convert("L").filter(ImageFilter.MaxFilter(2 * reach + 1))) > 0


def _hull(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Fill the convex hull of a mask (Andrew's monotone chain, over the ends of its rows)."""
    rows = np.flatnonzero(mask.any(axis=1))
    ends = [(int(x), int(y)) for y in rows for x in (mask[y].argmax(), mask.shape[1] - 1 - mask[y, ::-1].argmax())]
    ends.sort()
    chains: list[list[tuple[int, int]]] = []
    for points in (ends, ends[::-1]):
        chain: list[tuple[int, int]] = []
        for point in points:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    filled = Image.new("1", mask.shape[::-1])
    ImageDraw.Draw(filled).polygon(chains[0] + chains[1], fill=1, outline=1)
    return np.asarray(filled)


def _turn(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
