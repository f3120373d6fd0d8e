"""What a sketch finds instead: the categories that take the first places of its ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.ranking import CODES_AT_ONCE, Labels
from sketchhash.codes import hamming


def places_taken(
    queries: NDArray[np.uint8],
    gallery: NDArray[np.uint8],
    query_labels: Labels,
    gallery_labels: Labels,
    depth: int,
) -> NDArray[np.float64]:
    """Give the mean share of the first ``depth`` places: row c, column d is what category d takes from sketches of c.

    Codes are packed. Places within a tie are expected ones, as in `sketchhash.benchmark.metrics`: of photos at the
    distance where the places end, each counts by the share of them that still fits. Rows of categories that do not
    ask are zero; the others sum to one, or less if the gallery is smaller than ``depth``.
    """
    bits = gallery.shape[1] * 8
    categories = 1 + int(max(query_labels.max(), gallery_labels.max()))
    taken = np.zeros((categories, categories))
    for start in range(0, len(queries), CODES_AT_ONCE):
        for query, distances in enumerate(hamming(queries[start : start + CODES_AT_ONCE], gallery), start):
            sizes = np.bincount(distances, minlength=bits + 1)
            nearer = np.cumsum(sizes) - sizes
            fitting = np.clip(depth - nearer, 0, sizes) / np.maximum(sizes, 1)
            taken[query_labels[query]] += np.bincount(gallery_labels, fitting[distances], categories) / depth
    asked = np.bincount(query_labels, minlength=categories)
    shares: NDArray[np.float64] = taken / np.maximum(asked, 1)[:, None]
    return shares
