"""The 14 channels of a photo in which sketch tokens are looked for.

Lim, Zitnick and Dollár, "Sketch Tokens" (CVPR 2013), section 3.1: colour, and gradients at three scales.

    0-2    L, u, v
    3      gradient magnitude, as photographed
    4-7    that magnitude, split by orientation: 0, 45, 90 and 135 degrees
    8      gradient magnitude after a blur of 1.5 pixels
    9-12   that magnitude, split by orientation
    13     gradient magnitude after a blur of 5 pixels

A gradient is that of the colour channel where it is steepest, and its magnitude is divided by the average
magnitude around it. All channels are smoothed a little at the end, against shifts of a pixel.

Only additions, products, quotients and roots of float32 are used, each rounded alike everywhere, so that the
compiled kernel and the NumPy code give the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens import kernel
from sketchhash.tokens.filters import Planes, blur, slopes, triangle
from sketchhash.tokens.luv import luv

CHANNELS = 14
RADIUS = 17  # of a patch, 35 pixels wide: the mirrored frame gives every pixel of the photo a whole patch

_FINE, _COARSE = 1.5, 5.0
_SURROUND = 5  # radius of the neighbourhood that a magnitude is compared with
_QUIET = 0.01  # a surround fainter than this no longer counts, so that flat areas stay flat
_FINAL = 2
_TINY = np.float32(1e-30)  # keeps 0 / 0 out of flat areas; no slope of an 8-bit photo comes near
_BEND = 0.348


def channels(photo: NDArray[np.uint8]) -> Planes:
    """Compute the channels of a photo ``(h, w, 3)`` with its mirrored frame: ``(14, h + 34, w + 34)``."""
    framed = np.pad(photo, ((RADIUS, RADIUS), (RADIUS, RADIUS), (0, 0)), mode="symmetric")
    colours = luv(framed)
    planes = np.empty((CHANNELS, *colours.shape[1:]), dtype=np.float32)
    planes[:3] = colours
    planes[3:8] = _oriented_magnitude(colours)
    planes[8:13] = _oriented_magnitude(blur(colours, _FINE))
    magnitude, _, _ = _strongest_slopes(blur(colours, _COARSE))
    planes[13] = _normalised(magnitude)
    return triangle(planes, _FINAL, out=planes)


def _oriented_magnitude(colours: Planes) -> Planes:
    """Stack the normalised magnitude and its split by orientation: ``(5, h, w)``."""
    magnitude, across, down = _strongest_slopes(colours)
    magnitude = _normalised(magnitude)
    return np.concatenate([magnitude[None], _by_orientation(magnitude, across, down)])


def _normalised(magnitude: Planes) -> Planes:
    return magnitude / (triangle(magnitude, _SURROUND) + np.float32(_QUIET))


def _strongest_slopes(colours: Planes) -> tuple[Planes, Planes, Planes]:
    """Find the steepest of the colour channels at each pixel: its magnitude and its slopes, each ``(h, w)``."""
    compiled = kernel.native()
    if compiled is not None:
        height, width = colours.shape[1:]
        squared, across, down = np.empty((3, height, width), dtype=np.float32)
        scratch = np.empty(width + 2, dtype=np.float32)
        compiled.find_strongest_slopes(colours, len(colours), height, width, scratch, squared, across, down)
        return np.sqrt(squared), across, down
    all_across, all_down = slopes(colours)
    all_squared = all_across * all_across + all_down * all_down
    steepest = all_squared.argmax(axis=0)[None]
    squared, across, down = (
        np.take_along_axis(planes, steepest, axis=0)[0] for planes in (all_squared, all_across, all_down)
    )
    return np.sqrt(squared), across, down


def _by_orientation(magnitude: Planes, across: Planes, down: Planes) -> Planes:
    """Share each magnitude between the two nearest of four orientations, half a quarter turn apart: ``(4, h, w)``.

    One of the two is always an axis and the other a diagonal, so no angle is needed: with t the smaller over the
    larger slope, the diagonal's share is atan(t) / 45°. The parabola through 0 and 1 that stands in for it is
    less than a quarter of a degree off.
    """
    compiled = kernel.native()
    if compiled is not None:
        split = np.empty((4, *magnitude.shape), dtype=np.float32)
        compiled.split_by_orientation(magnitude, across, down, magnitude.size, split)
        return split
    x, y = np.abs(across), np.abs(down)
    ratio = np.minimum(x, y) / np.maximum(np.maximum(x, y), _TINY)
    diagonal = magnitude * (ratio + np.float32(_BEND) * ratio * (1 - ratio))
    axis = magnitude - diagonal
    is_level, is_falling = x >= y, (across < 0) == (down < 0)
    none = np.float32(0)
    return np.stack(
        [
            np.where(is_level, axis, none),
            np.where(is_falling, diagonal, none),
            np.where(is_level, none, axis),
            np.where(is_falling, none, diagonal),
        ]
    )
