"""Small image filters over the last two axes: Gaussian smoothing and central differences."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Planes = NDArray[np.float32]


def blur(planes: Planes, sigma: float) -> Planes:
    """Smooth ``(..., h, w)`` with a Gaussian of ``sigma`` pixels; the picture is mirrored at its border."""
    reach = math.ceil(2.5 * sigma)
    weights = np.exp(-0.5 * (np.arange(reach + 1) / sigma) ** 2)
    weights = (weights / (weights[0] + 2 * weights[1:].sum())).astype(np.float32)
    for axis in (-1, -2):
        views = _shifted_views(planes, reach, axis)
        smooth = weights[0] * views[reach]
        for step in range(1, reach + 1):
            pair = views[reach - step] + views[reach + step]
            pair *= weights[step]
            smooth += pair
        planes = smooth
    return planes


def slopes(planes: Planes) -> tuple[Planes, Planes]:
    """Differentiate ``(..., h, w)`` along x and along y; the picture is mirrored at its border."""
    left, _, right = _shifted_views(planes, 1, axis=-1)
    above, _, below = _shifted_views(planes, 1, axis=-2)
    half = np.float32(0.5)
    return half * (right - left), half * (below - above)


def _shifted_views(planes: Planes, reach: int, axis: int) -> list[Planes]:
    """Shift the picture by ``-reach … reach`` pixels along an axis, without copying it each time."""
    border = [(0, 0)] * planes.ndim
    border[axis] = (reach, reach)
    mirrored = np.pad(planes, border, mode="symmetric")
    length = planes.shape[axis]
    along = np.moveaxis(mirrored, axis, 0)
    return [np.moveaxis(along[start : start + length], 0, axis) for start in range(2 * reach + 1)]
