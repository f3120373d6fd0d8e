"""Small image filters over the last two axes: smoothing by symmetric kernels, and central differences.

Pictures are mirrored at their border. ``out`` may be the input itself. The compiled kernel adds in the same order
as the NumPy code here, so both give the same bits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens import kernel

Planes = NDArray[np.float32]


def blur(planes: Planes, sigma: float) -> Planes:
    """Smooth ``(..., h, w)`` with a Gaussian of ``sigma`` pixels."""
    reach = math.ceil(2.5 * sigma)
    return _smooth(planes, np.exp(-0.5 * (np.arange(reach + 1) / sigma) ** 2))


def triangle(planes: Planes, radius: int, out: Planes | None = None) -> Planes:
    """Smooth ``(..., h, w)`` with weights that fall linearly to zero ``radius + 1`` pixels away."""
    return _smooth(planes, np.arange(radius + 1, 0, -1, dtype=np.float64), out)


def box(planes: Planes, radius: int, out: Planes | None = None) -> Planes:
    """Average ``(..., h, w)`` over squares of side ``2 * radius + 1``."""
    return _smooth(planes, np.ones(radius + 1), out)


def slopes(planes: Planes) -> tuple[Planes, Planes]:
    """Differentiate ``(..., h, w)`` along x and along y."""
    left, _, right = _shifted_views(planes, 1, axis=-1)
    above, _, below = _shifted_views(planes, 1, axis=-2)
    half = np.float32(0.5)
    return half * (right - left), half * (below - above)


def _smooth(planes: Planes, profile: NDArray[np.float64], out: Planes | None = None) -> Planes:
    """Convolve along x, then along y; ``profile`` holds the weights from the middle outwards, in any unit."""
    weights = (profile / (profile[0] + 2 * profile[1:].sum())).astype(np.float32)
    out = np.empty(planes.shape, dtype=np.float32) if out is None else out
    compiled = kernel.native()
    if compiled is None:
        out[...] = _smooth_along(_smooth_along(planes, weights, -1), weights, -2)
        return out
    height, width = planes.shape[-2:]
    reach = len(weights) - 1
    count = planes.size // (height * width)
    scratch = np.empty(height * width + width + 2 * reach, dtype=np.float32)
    compiled.smooth(np.ascontiguousarray(planes), count, height, width, weights, reach, scratch, out)
    return out


def _smooth_along(planes: Planes, weights: NDArray[np.float32], axis: int) -> Planes:
    reach = len(weights) - 1
    views = _shifted_views(planes, reach, axis)
    smoothed: Planes = weights[0] * views[reach]
    for step in range(1, reach + 1):
        pair = views[reach - step] + views[reach + step]
        pair *= weights[step]
        smoothed += pair
    return smoothed


def _shifted_views(planes: Planes, reach: int, axis: int) -> list[Planes]:
    """Shift the picture by ``-reach … reach`` pixels along an axis, without copying it each time."""
    border = [(0, 0)] * planes.ndim
    border[axis] = (reach, reach)
    mirrored = np.pad(planes, border, mode="symmetric")
    length = planes.shape[axis]
    along = np.moveaxis(mirrored, axis, 0)
    return [np.moveaxis(along[start : start + length], 0, axis) for start in range(2 * reach + 1)]
