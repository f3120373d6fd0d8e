"""What the forest of sketch tokens sees of a photo: 14 channels, and the features of a patch of them.

Lim, Zitnick and Dollár, "Sketch Tokens" (CVPR 2013), section 3.1. The channels are colour (CIE L*u*v*, where equal
distances look about equally different) and gradients at three scales:

    0-2    L, u, v
    3      gradient magnitude, as photographed
    4-7    that magnitude, split by orientation: 0, 45, 90 and 135 degrees
    8      gradient magnitude after a blur of 1.5 pixels
    9-12   that magnitude, split by orientation
    13     gradient magnitude after a blur of 5 pixels

A gradient is that of the colour channel where it is steepest, and its magnitude is divided by the average
magnitude around it. All channels are smoothed a little at the end, against shifts of a pixel.

A patch is 35 × 35 pixels of the channels. Its 21,350 features are the channels at every place, and how alike
its parts are:

    number               feature
    0 … 17,149           channel c at row y, column x of the patch: (35 c + y) 35 + x
    17,150 … 21,349      channel c, mean of one cell minus mean of another: 17,150 + 300 c + pair

The 25 cells are boxes of 9 × 9 pixels, six pixels from one to the next, so that they overlap a little; the 300
pairs are those of `numpy.triu_indices`, over cells in reading order. Both kinds of feature are the difference of
two values in a stack of planes that holds the channels, their box means and a plane of zeros, so a forest is
walked without asking which kind a feature is of.

Only additions, products, quotients and roots of float32 are used, each rounded alike everywhere, so that the
compiled kernel and the NumPy code return the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens import kernel
from sketchhash.tokens.filters import Planes, blur, box, slopes, triangle

# One divisor for all three keeps distances comparable. The widest, u, spans 258 units over the sRGB cube, and the
# offsets move its lowest u (-83.1) and v (-134.1) just above zero: everything lands in [0, 1], and L in [0, 0.39].
_SPAN = 260.0
_OFFSETS = np.array([0.0, 84.0, 135.0]) / _SPAN

_XYZ_OF_RGB = np.array(  # sRGB's primaries and white, D65
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_PROJECTION = np.array([1.0, 15.0, 3.0])  # X + 15 Y + 3 Z, below u' and v'
_WHITE = _XYZ_OF_RGB.sum(axis=1)
_WHITE_U, _WHITE_V = np.array([4.0, 9.0]) * _WHITE[:2] / (_PROJECTION @ _WHITE)

# Everything the conversion needs, rounded once: rows that map linear RGB to Y, 4 X, 9 Y and X + 15 Y + 3 Z, then
# the white point and the offsets of u and v. The kernel reads the same numbers.
_CONSTANTS = np.concatenate(
    [
        _XYZ_OF_RGB[1],
        4 * _XYZ_OF_RGB[0],
        9 * _XYZ_OF_RGB[1],
        _PROJECTION @ _XYZ_OF_RGB,
        [_WHITE_U, _WHITE_V],
        _OFFSETS[1:],
    ]
).astype(np.float32)
_TINY = np.float32(
    1e-30
)  # 0 / tiny is 0: black has no hue, a flat area no slope; no slope of an 8-bit photo comes near


def _decode() -> NDArray[np.float32]:
    """Tabulate the linear light of each byte value of sRGB."""
    value = np.arange(256) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _lightness() -> NDArray[np.float32]:
    """Tabulate L, scaled, against Y in steps of 1/4096: in the dark, where L is steepest, still below a byte's step."""
    luminance = np.arange(4097) / 4096
    level = np.where(luminance > (6 / 29) ** 3, 116 * np.cbrt(luminance) - 16, (29 / 3) ** 3 * luminance)
    return (level / _SPAN).astype(np.float32)


_LINEAR, _LIGHTNESS = _decode(), _lightness()


def luv(photo: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Convert an sRGB photo ``(h, w, 3)`` to L, u and v, each within [0, 1]: ``(3, h, w)``.

    >>> black_and_white = np.array([[[0, 0, 0], [255, 255, 255]]], dtype=np.uint8)
    >>> luv(black_and_white)[:, 0].round(2)
    array([[0.  , 0.38],
           [0.32, 0.32],
           [0.52, 0.52]], dtype=float32)
    """
    compiled = kernel.native()
    if compiled is not None:
        planes = np.empty((3, *photo.shape[:2]), dtype=np.float32)
        compiled.convert_to_luv(np.ascontiguousarray(photo), planes[0].size, _LINEAR, _LIGHTNESS, _CONSTANTS, planes)
        return planes
    red, green, blue = np.moveaxis(_LINEAR[photo], 2, 0)
    luminance, u, v, projection = (a * red + b * green + c * blue for a, b, c in _CONSTANTS[:12].reshape(4, 3))
    white_u, white_v, offset_u, offset_v = _CONSTANTS[12:]
    lightness = _LIGHTNESS[(luminance * np.float32(4096) + np.float32(0.5)).astype(np.intp)]
    projection = np.maximum(projection, _TINY)
    chroma = np.float32(13) * lightness
    return np.stack(
        [lightness, chroma * (u / projection - white_u) + offset_u, chroma * (v / projection - white_v) + offset_v]
    )


CHANNELS = 14
RADIUS = 17  # of a patch, 35 pixels wide: the mirrored frame gives every pixel of the photo a whole patch

_FINE, _COARSE = 1.5, 5.0
_SURROUND = 5  # radius of the neighbourhood that a magnitude is compared with
_QUIET = 0.01  # a surround fainter than this no longer counts, so that flat areas stay flat
_FINAL = 2
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


PATCH = 2 * RADIUS + 1
_CELL_RADIUS = 4
_CELL_CENTRES = RADIUS + np.array([-12, -6, 0, 6, 12])
_PAIRS = np.stack(np.triu_indices(len(_CELL_CENTRES) ** 2, k=1))

DIRECT_FEATURES = CHANNELS * PATCH * PATCH
FEATURES = DIRECT_FEATURES + CHANNELS * _PAIRS.shape[1]

_ZEROS = 2 * CHANNELS  # the plane after the channels and the cells
PLANES = _ZEROS + 1


def _addresses() -> NDArray[np.int64]:
    """Return the plane, row and column in the patch of the two values of every feature: ``(3, 2, features)``."""
    direct = np.indices((CHANNELS, PATCH, PATCH)).reshape(3, -1)
    nothing = np.zeros_like(direct)
    nothing[0] = _ZEROS

    channel = np.repeat(np.arange(CHANNELS), _PAIRS.shape[1])
    row, column = np.divmod(np.tile(_PAIRS, CHANNELS), len(_CELL_CENTRES))
    cells = np.stack([np.broadcast_to(CHANNELS + channel, row.shape), _CELL_CENTRES[row], _CELL_CENTRES[column]])
    return np.concatenate([np.stack([direct, nothing], axis=1), cells], axis=2)


_PLANE, _ROW, _COLUMN = _addresses()


def cells(channels: Planes, out: Planes | None = None) -> Planes:
    """Average every channel over the cell around each pixel: the shape of ``channels``."""
    return box(channels, _CELL_RADIUS, out)


def lookup_planes(channels: Planes) -> Planes:
    """Stack what features are looked up in: ``(29, h, w)``, the channels, their cells, and zeros."""
    planes = np.zeros((PLANES, *channels.shape[1:]), dtype=np.float32)
    planes[:CHANNELS] = channels
    cells(channels, out=planes[CHANNELS:_ZEROS])
    return planes


def lookups(height: int, width: int) -> NDArray[np.int64]:
    """Find the two values of every feature in planes of this size, flattened: ``(2, features)``.

    They count from the patch's upper left corner in the first plane: that is where the frame has moved the pixel
    in the patch's middle, so pixel (y, x) of the photo adds ``y * width + x``.
    """
    places: NDArray[np.int64] = (_PLANE * height + _ROW) * width + _COLUMN
    return places


def patch_features(
    channels: Planes,
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    features: NDArray[np.integer] | None = None,
) -> NDArray[np.float32]:
    """Describe the patches around pixels of the photo: ``(pixels, features)``.

    Args:
        channels: Of the framed photo, as `channels` returns them.
        rows: Row of each pixel in the photo, without the frame.
        columns: Column of each pixel.
        features: Numbers of the features wanted, in this order; all of them if not given.
    """
    planes = lookup_planes(channels)
    height, width = planes.shape[1:]
    first, second = lookups(height, width) if features is None else lookups(height, width)[:, features]
    flat = planes.ravel()
    described = np.empty((len(rows), len(first)), dtype=np.float32)
    taken = np.empty(len(first), dtype=np.float32)
    for patch, corner in zip(described, rows * width + columns, strict=True):
        # Nothing is out of range; "clip" is NumPy's way to write to `out` without a second copy.
        flat[corner:].take(first, out=patch, mode="clip")
        patch -= flat[corner:].take(second, out=taken, mode="clip")
    return described


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
