"""Rank what a compared method encoded, by the distance that its card names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.method import Distance
from sketchhash.codes import pack
from sketchhash.errors import require
from sketchhash.evaluation.ranking import Labels, Vectors, rank_codes, rank_cosine, rank_euclidean, rank_vectors
from sketchhash.evaluation.ties import TieGroups

Matrix = NDArray[np.float64]


def rank_encodings(
    distance: Distance, sketches: Vectors, photos: Vectors, sketch_labels: Labels, photo_labels: Labels
) -> TieGroups:
    """Rank photos ``(photos, size)`` for every sketch ``(sketches, size)``; for *hamming* by the signs alone."""
    match distance:
        case Distance.HAMMING:
            return rank_codes(pack(sketches), pack(photos), sketch_labels, photo_labels)
        case Distance.COSINE:
            return rank_cosine(sketches, photos, sketch_labels, photo_labels)
        case Distance.EUCLIDEAN:
            return rank_euclidean(sketches, photos, sketch_labels, photo_labels)
        case Distance.MANHATTAN:
            return rank_vectors(_manhattan, sketches, photos, sketch_labels, photo_labels)
        case Distance.INTERSECTION:
            return rank_vectors(_opposite_intersection, sketches, photos, sketch_labels, photo_labels)
        case Distance.INNER_PRODUCT:
            return rank_vectors(_opposite_product, sketches, photos, sketch_labels, photo_labels)


def _manhattan(sketches: Matrix, photos: Matrix) -> Matrix:
    distances: Matrix = require("scipy.spatial.distance", "bench").cdist(sketches, photos, "cityblock")
    return distances


def _opposite_intersection(sketches: Matrix, photos: Matrix) -> Matrix:
    # Σ min(a, b) = ½ (Σ a + Σ b − Σ |a − b|)
    shared: Matrix = (_manhattan(sketches, photos) - sketches.sum(axis=1)[:, None] - photos.sum(axis=1)) / 2
    return shared


def _opposite_product(sketches: Matrix, photos: Matrix) -> Matrix:
    products: Matrix = sketches @ photos.T
    return -products
