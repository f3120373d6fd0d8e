"""The two views that a method learns to compare: features of photos and of sketches, with categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Views:
    """Training features ``(n, features)`` and labels ``(n,)`` of both views."""

    photos: NDArray[np.floating]
    photo_labels: NDArray[np.int64]
    sketches: NDArray[np.floating]
    sketch_labels: NDArray[np.int64]

    def pairs(self, per_category: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw row pairs (photo, sketch) of one category each, with replacement, as section 4.1 does."""
        shared = np.intersect1d(self.photo_labels, self.sketch_labels)
        photos, sketches = (
            np.concatenate([rng.choice(np.flatnonzero(labels == label), per_category) for label in shared])
            for labels in (self.photo_labels, self.sketch_labels)
        )
        return photos, sketches


@dataclass(frozen=True, eq=False)
class Standard:
    """Shifts and scales features to mean 0 and variance 1, as the training features had them."""

    mean: Matrix
    deviation: Matrix

    @classmethod
    def of(cls, features: NDArray[np.floating]) -> Standard:
        """Measure some features; a constant one is left unscaled."""
        deviation = features.std(axis=0, dtype=np.float64)
        return cls(features.mean(axis=0, dtype=np.float64), np.where(deviation > 0, deviation, 1.0))

    def __call__(self, features: NDArray[np.floating]) -> Matrix:
        """Shift and scale."""
        scaled: Matrix = (features - self.mean) / self.deviation
        return scaled
