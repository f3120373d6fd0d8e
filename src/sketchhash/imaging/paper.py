"""Telling ink from paper, whatever the picture: a scan, a photo of a page, chalk on a board, a bitmap."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageFilter

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
    return _ink_in_uneven_light(picture.convert("L"))


def ink_threshold(ink: NDArray[np.uint8]) -> float:
    """Find the level that parts ink from paper: half the ink's own strength.

    The strength is a mean weighted by itself, so that faint smears, and the ringing of JPEG around lines, do
    not pull it down.
    """
    weights = np.array(Image.fromarray(ink).histogram(), dtype=np.float64) * np.arange(256)
    return float((weights * np.arange(256)).sum() / max(weights.sum(), 1.0)) / 2


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


def _ink_in_uneven_light(grey: Image.Image) -> NDArray[np.uint8]:
    """Compare each pixel with the page as it would be without lines: gradients and shadows are in both."""
    small = grey.resize((_LIGHT_SIDE, _LIGHT_SIDE), Image.Resampling.BOX)
    if _has_light_ink(small):
        page = ImageChops.invert(_without_dark_lines(ImageChops.invert(small)))
    else:
        page = _without_dark_lines(small)

    paper = np.asarray(page.resize(grey.size, Image.Resampling.BILINEAR), dtype=np.float32)
    quiet = np.asarray(grey.filter(ImageFilter.BoxBlur(1)), dtype=np.float32)
    contrast: NDArray[np.float32] = 255 * np.abs(quiet / np.maximum(paper, 1) - 1)
    middle = float(np.median(contrast))
    grain = 1.4826 * float(np.median(np.abs(contrast - middle)))
    contrast[contrast < middle + max(_LEAST_CONTRAST, _GRAIN_DEVIATIONS * grain)] = 0
    return np.minimum(contrast, 255).astype(np.uint8)


def _has_light_ink(picture: Image.Image) -> bool:
    """Tell whether what stands out most from its surroundings is lighter than they are."""
    surroundings = picture.filter(ImageFilter.BoxBlur(_WIDEST_LINE))
    difference = np.asarray(picture, dtype=np.float64) - np.asarray(surroundings)
    return bool((difference**3).sum() > 0)


def _without_dark_lines(picture: Image.Image) -> Image.Image:
    """Remove whatever is dark and no wider than `_WIDEST_LINE`; edges and gradients stay where they are."""
    reach = _WIDEST_LINE // 2
    framed = Image.fromarray(np.pad(np.asarray(picture), reach, mode="edge"))  # so that gradients reach the border
    for extreme in (ImageFilter.MaxFilter(3), ImageFilter.MinFilter(3)):
        for _ in range(reach):
            framed = framed.filter(extreme)
    return framed.crop((reach, reach, reach + picture.width, reach + picture.height))
