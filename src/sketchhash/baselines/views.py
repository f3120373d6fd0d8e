"""The two views that a method learns to compare: photos and sketches, with categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument

Matrix = NDArray[np.float64]
Picture = NDArray[np.uint8]
Given = NDArray[np.floating] | Sequence[Picture]


@dataclass(frozen=True, eq=False)
class Views:
    """Training data of both views, features ``(n, features)`` or pictures, with labels ``(n,)``."""

    photos: Given
    photo_labels: NDArray[np.int64]
    sketches: Given
    sketch_labels: NDArray[np.int64]

    @property
    def matrices(self) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """The features of photos and of sketches; pictures are refused."""
        return features_of(self.photos), features_of(self.sketches)

    def pairs(self, per_category: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw row pairs (photo, sketch) of one category each, with replacement, as section 4.1 does."""
        shared = np.intersect1d(self.photo_labels, self.sketch_labels)
        if not len(shared):
            raise BadArgument("No category has both photos and sketches, so there are no pairs to learn from.")
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
    def of(cls, features: NDArray[np.floating], weights: Matrix | None = None) -> Standard:
        """Measure some features, each row by its weight if given; a constant feature is left unscaled."""
        mean = np.average(features.astype(np.float64, copy=False), axis=0, weights=weights)
        deviation = np.sqrt(np.average(np.square(features - mean), axis=0, weights=weights))
        # The mean of equal numbers may differ from them in its last digit, which is no deviation.
        is_constant = deviation <= 1e-12 * np.abs(mean)
        return cls(mean, np.where(is_constant, 1.0, deviation))

    def __call__(self, features: NDArray[np.floating]) -> Matrix:
        """Shift and scale."""
        scaled: Matrix = (features - self.mean) / self.deviation
        return scaled


def features_of(given: Given) -> NDArray[np.floating]:
    """Narrow what a method was given to finite features ``(n, features)``, or refuse it."""
    if not isinstance(given, np.ndarray) or given.ndim != 2 or given.dtype.kind != "f":
        raise BadArgument("This method learns from features, a matrix with one row each; extract them from pictures.")
    if not np.isfinite(given).all():
        raise BadArgument("A feature is infinite or not a number: check how the features were extracted.")
    return given
