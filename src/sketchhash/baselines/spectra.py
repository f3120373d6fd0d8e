"""Decompositions that several methods rest on: whitening, canonical directions, principal axes, leading vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sketchhash.baselines.pairs import Covariances
from sketchhash.baselines.views import Matrix
from sketchhash.errors import require

# Below this a whole decomposition is faster than an iterative one, which also needs some room.
_SMALL = 64


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of photos ``(p, k)`` and of sketches ``(q, k)``, and how strongly each two are tied ``(k,)``."""

    photos: Matrix
    sketches: Matrix
    strengths: Matrix


@dataclass(frozen=True, eq=False)
class Whitening:
    """Inverse roots of both views' covariances.

    With them, max tr(AᵀKB) subject to AᵀC_pA = BᵀC_sB = I, for any K, is one singular value decomposition. That is the
    generalised eigenvalue problem K C_s⁻¹ Kᵀ a = ρ² C_p a, without its division by small ρ.
    """

    photos: Matrix
    sketches: Matrix

    @classmethod
    def of(cls, covariances: Covariances, ridge: float) -> Whitening:
        """Whiten both views; ``ridge`` is added to the variances first."""
        return cls(_inverse_root(covariances.photos, ridge), _inverse_root(covariances.sketches, ridge))

    def whitened(self, cross: Matrix) -> Matrix:
        """Give K between whitened views."""
        between: Matrix = self.photos @ cross @ self.sketches
        return between

    def directions(self, cross: Matrix) -> Directions:
        """Solve for all directions."""
        left, strengths, right = np.linalg.svd(self.whitened(cross), full_matrices=False)
        return Directions(self.photos @ left, self.sketches @ right.T, strengths)


def principal_axes(covariance: Matrix, count: int) -> Matrix:
    """Give the axes of largest variance ``(features, count)``, largest first."""
    axes: Matrix = np.linalg.eigh(covariance)[1][:, ::-1][:, :count]
    return axes


def leading_vectors(matrix: Matrix) -> tuple[Matrix, float, Matrix]:
    """Give the left singular vector, the value and the right vector of the largest singular value."""
    if min(matrix.shape) < _SMALL:
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        return left[:, 0], float(values[0]), right[0]
    start = np.random.default_rng(0).normal(size=min(matrix.shape))  # any start will do, but always the same
    left, values, right = require("scipy.sparse.linalg", "train").svds(matrix, k=1, v0=start)
    return left[:, 0], float(values[0]), right[0]


def _inverse_root(covariance: Matrix, ridge: float) -> Matrix:
    values, vectors = np.linalg.eigh(covariance + ridge * np.eye(len(covariance)))
    root: Matrix = vectors / np.sqrt(values) @ vectors.T
    return root
