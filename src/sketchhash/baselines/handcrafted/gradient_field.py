"""The gradient field of GF-HOG: directions known on edges, spread as smoothly as can be over the rest of the picture.

Smooth means harmonic: values on edges stay, every other pixel is the mean of its neighbours (Laplace's equation), and
nothing flows over the border. A sparse factorisation takes about 100 ms a picture. Conjugate gradients,
preconditioned by a cycle of multigrid, take a fifth of that to errors of some thousandths, far less than a histogram
of directions shows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Matrix
from sketchhash.errors import require

Plane = NDArray[np.float32]

_LAPLACE = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], dtype=np.float32)
_DAMPING = np.float32(0.8 / 4)  # of Jacobi's iteration, which smooths errors of one or two pixels best
_SWEEPS, _LAST_SWEEPS = 3, 12
_COARSEST = 6
_MOST_ROUNDS = 60


def gradient_field(edges: NDArray[np.bool_]) -> Matrix:
    """Spread the direction θ of edges ``(h, w)`` over the picture, as (1 + cos θ) / 2."""
    cv2 = require("cv2", "bench")
    thick = cv2.dilate(edges.astype(np.float32), np.ones((3, 3)))
    right, down = (
        harmonic(thick > 0, cv2.Sobel(thick, cv2.CV_32F, *order, borderType=cv2.BORDER_CONSTANT))
        for order in ((1, 0), (0, 1))
    )
    field: Matrix = (1 + np.cos(np.arctan2(down, right).astype(np.float64))) / 2
    return field


def harmonic(fixed: NDArray[np.bool_], values: Plane, tolerance: float = 1e-3) -> Plane:
    """Keep the values of fixed pixels ``(h, w)``, and make every other one the mean of its neighbours.

    Rounds end when the residual, as the preconditioner measures it, has fallen to ``tolerance`` of the first one.
    Without a fixed pixel everything is zero.
    """
    field = np.where(fixed, values, 0).astype(np.float32)
    if not fixed.any():
        return field
    grids = _grids(~fixed)
    residual = _laplacian(field) * grids[0]
    step = correction = _cycle(residual, grids)
    size = first = np.vdot(residual, correction)
    for _ in range(_MOST_ROUNDS):
        if size <= tolerance**2 * first:
            break
        change = -_laplacian(step) * grids[0]
        length = size / np.vdot(step, change)
        field += length * step
        before, residual = residual, residual - length * change
        correction = _cycle(residual, grids)
        # A cycle is not quite symmetric; this form of the conjugate direction forgives it.
        turn = np.vdot(residual - before, correction) / size
        size = np.vdot(residual, correction)
        step = correction + turn * step
    return field


def _grids(free: NDArray[np.bool_]) -> list[Plane]:
    """Halve the picture again and again; a coarse pixel is free where all that it stands for are."""
    cv2 = require("cv2", "bench")
    grids = [free.astype(np.float32)]
    while min(grids[-1].shape) > _COARSEST:
        height, width = grids[-1].shape
        share = cv2.resize(grids[-1], ((width + 1) // 2, (height + 1) // 2), interpolation=cv2.INTER_AREA)
        grids.append((share > 0.999).astype(np.float32))
    return grids


def _cycle(residual: Plane, grids: list[Plane]) -> Plane:
    """Correct errors of every size: short ones on this grid, longer ones on the coarser grids."""
    cv2 = require("cv2", "bench")
    free = grids[0]
    if len(grids) == 1:
        return _smooth(np.zeros_like(residual), residual, free, _LAST_SWEEPS)
    correction = _smooth(np.zeros_like(residual), residual, free, _SWEEPS)
    left = (_laplacian(correction) + residual) * free
    height, width = free.shape
    # A pixel of twice the side has four times the area: the mean of four pixels becomes their sum.
    coarse = 4 * cv2.resize(left, grids[1].shape[::-1], interpolation=cv2.INTER_AREA) * grids[1]
    correction += free * cv2.resize(_cycle(coarse, grids[1:]), (width, height), interpolation=cv2.INTER_LINEAR)
    return _smooth(correction, residual, free, _SWEEPS)


def _smooth(correction: Plane, residual: Plane, free: Plane, sweeps: int) -> Plane:
    damping = _DAMPING * free
    for _ in range(sweeps):
        correction = correction + damping * (_laplacian(correction) + residual)
    return correction


def _laplacian(plane: Plane) -> Plane:
    """Sum the differences to the four neighbours; a neighbour beyond the border is like the pixel itself."""
    cv2 = require("cv2", "bench")
    differences: Plane = cv2.filter2D(plane, cv2.CV_32F, _LAPLACE, borderType=cv2.BORDER_REPLICATE)
    return differences
