"""A vocabulary of local descriptors: a sample, its k-means, and distances to the words."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, require

Descriptors = NDArray[np.float32]

_BATCH = 8192
Row = TypeVar("Row", bound=np.generic)


def some_rows(rows: NDArray[Row], most: int, seed: int) -> NDArray[Row]:
    """Draw at most ``most`` rows without replacement; the same ones for a seed, whatever was drawn before."""
    if len(rows) <= most:
        return rows
    return rows[np.random.default_rng(seed).choice(len(rows), most, replace=False, shuffle=False)]


def find_words(descriptors: Descriptors, words: int, rng: np.random.Generator) -> Descriptors:
    """Cluster descriptors ``(n, features)`` and give the centres: ``(words, features)``."""
    if len(descriptors) < words:
        raise BadArgument(
            f"{words} words cannot be learned from {len(descriptors)} local descriptors: "
            "give more pictures, or ask for a smaller size."
        )
    cluster = require("sklearn.cluster", "bench")
    threads = require("threadpoolctl", "bench")
    k_means = cluster.MiniBatchKMeans(words, batch_size=_BATCH, n_init=1, random_state=int(rng.integers(2**31)))
    # Threads add up their shares in the order in which they finish: one alone gives the same words every time.
    with threads.threadpool_limits(1):
        centres: Descriptors = k_means.fit(descriptors).cluster_centers_.astype(np.float32)
    return centres


def squared_distances(descriptors: Descriptors, words: Descriptors) -> Descriptors:
    """Measure from every descriptor to every word: ``(n, words)``."""
    distances = descriptors @ (-2 * words.T)
    distances += np.square(words).sum(axis=1)
    distances += np.square(descriptors).sum(axis=1)[:, None]
    return distances.clip(0, out=distances)
