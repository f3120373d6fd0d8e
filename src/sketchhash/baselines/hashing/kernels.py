"""Kernel logistic regression of many bits at once.

Radial basis functions around k-means centres stand for the features, and all bits share them. With K the kernel between
centres and K^-½ its inverse root, ϕ(x)ᵀK^-½ are features in which the penalty wᵀKw is a plain sum of squares, which
descends much faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.linear import take
from sketchhash.baselines.views import Given, Matrix, Standard, features_of
from sketchhash.errors import BadArgument, require

STEPS = 200
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class KernelClassifier:
    """Log odds of bits: exp(−‖x − z‖² / width) for all centres z ``(centres, features)``, times weights."""

    standard: Standard
    centres: Matrix
    width: float
    weights: Matrix

    @classmethod
    def fit(
        cls,
        features: NDArray[np.floating],
        bits: NDArray[np.int8],
        centres: int,
        penalty: float,
        rng: np.random.Generator,
    ) -> KernelClassifier:
        """Learn to predict bits ``(n, bits)`` of ±1 from features ``(n, features)``."""
        standard = Standard.of(features)
        rows = standard(features)
        middles = _centres(rows, centres, rng)
        width = 2 * float(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())  # mean ‖x − x'‖² over all pairs
        between, vectors = np.linalg.eigh(_kernel(middles, middles, width))
        root = vectors / np.sqrt(np.maximum(between, 1e-6)) @ vectors.T
        weights = root @ regress(_kernel(rows, middles, width) @ root, bits.astype(np.float64), penalty)
        return cls(standard, middles, width, weights)

    def __call__(self, given: Given) -> Matrix:
        """Give log odds ``(n, bits)``."""
        features = features_of(given)
        if features.shape[1] != self.centres.shape[1]:
            raise BadArgument(
                f"The features are {features.shape[1]} wide and the method learned from {self.centres.shape[1]}: "
                "extract them as the training features were."
            )
        blocks = (features[start : start + _ROWS_AT_ONCE] for start in range(0, max(len(features), 1), _ROWS_AT_ONCE))
        odds = [_kernel(self.standard(block), self.centres, self.width) @ self.weights for block in blocks]
        return np.concatenate(odds)

    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """Give all that was learned."""
        return {
            "mean": self.standard.mean,
            "deviation": self.standard.deviation,
            "centres": self.centres,
            "width": np.array([self.width]),
            "weights": self.weights,
        }

    @classmethod
    def restore(cls, state: Mapping[str, NDArray[np.generic]], prefix: str) -> KernelClassifier:
        """Take back what `arrays` gave, by names that begin with ``prefix``."""
        mean, deviation, width = (take(state, f"{prefix}{name}", 1) for name in ("mean", "deviation", "width"))
        centres, weights = (take(state, f"{prefix}{name}", 2) for name in ("centres", "weights"))
        if centres.shape != (len(weights), len(mean)) or mean.shape != deviation.shape or len(width) != 1:
            raise BadArgument(f"The centres do not fit the weights: {centres.shape} and {weights.shape}.")
        return cls(Standard(mean, deviation), centres, float(width[0]), weights)


def regress(features: Matrix, bits: Matrix, penalty: float) -> Matrix:
    """Minimise Σ log(1 + exp(−bits ⊙ features·w)) + penalty ‖w‖² over w ``(features, bits)``, all bits together."""
    shape = features.shape[1], bits.shape[1]

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = flat.reshape(shape)
        margins = bits * (features @ weights)
        value = np.logaddexp(0.0, -margins).sum() + penalty * flat @ flat
        slope = -bits * np.exp(-np.logaddexp(0.0, margins))
        return float(value), (features.T @ slope + 2 * penalty * weights).ravel()

    minimise = require("scipy.optimize", "train").minimize
    found = minimise(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    weights: Matrix = found.x.reshape(shape)
    return weights


def _centres(rows: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    if len(rows) <= count:
        return rows.copy()
    k_means = require("sklearn.cluster", "train").KMeans(
        count, init="random", n_init=1, max_iter=20, random_state=int(rng.integers(2**31))
    )
    centres: Matrix = k_means.fit(rows).cluster_centers_
    return centres


def _kernel(rows: Matrix, centres: Matrix, width: float) -> Matrix:
    squares = np.square(rows).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    kernel: Matrix = np.exp(-np.maximum(squares - 2 * rows @ centres.T, 0.0) / width)
    return kernel
