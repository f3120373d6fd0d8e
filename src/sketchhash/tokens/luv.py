"""From the bytes of a photo to CIE L*u*v*, where equal distances look about equally different."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens import kernel

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
_TINY = np.float32(1e-30)  # black has no hue: 0 / tiny is 0


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
