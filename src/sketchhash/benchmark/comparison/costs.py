"""What searching costs: the seconds of one query, and the memory of the gallery's encodings.

A query is ranked as a search would do it, up to the 200 photos that the tables look at: codes by the package's own
scan, real values in single precision, by a product of a matrix and a vector where the distance allows it. Both on one
thread, and with warm caches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines import Distance
from sketchhash.codes import pack
from sketchhash.errors import require
from sketchhash.evaluation.metrics import DEPTH
from sketchhash.index import scan_index

Values = NDArray[np.floating]
Vectors = NDArray[np.float32]

_WARM_UP = 5
_FEWEST, _MOST = 5, 200
_SECONDS = 5.0


@dataclass(frozen=True)
class QueryTime:
    """Seconds of one query: the median, the best, and the number of queries timed."""

    p50: float
    best: float
    calls: int


def gallery_bytes(distance: Distance, gallery: Values) -> int:
    """Give the bytes that a gallery ``(photos, size)`` takes: a bit, or four bytes, a column."""
    values = int(gallery.size)
    return values // 8 if distance is Distance.HAMMING else 4 * values


def time_queries(distance: Distance, queries: Values, gallery: Values) -> QueryTime:
    """Time single queries ``(queries, size)`` against a gallery ``(photos, size)``."""
    search = _search(distance, queries, gallery)
    times: list[float] = []
    with require("threadpoolctl", "bench").threadpool_limits(1):
        for number in range(_WARM_UP):
            search(number % len(queries))
        while len(times) < _FEWEST or (len(times) < _MOST and sum(times) < _SECONDS):
            start = perf_counter()
            search(len(times) % len(queries))
            times.append(perf_counter() - start)
    return QueryTime(median(times), min(times), len(times))


def _search(distance: Distance, queries: Values, gallery: Values) -> Callable[[int], object]:
    """Get a gallery ready, and give a function that finds the nearest photos of the query of a number."""
    depth = min(DEPTH, len(gallery))
    if distance is Distance.HAMMING:
        codes, index = pack(queries), scan_index(np.arange(len(gallery)), pack(gallery))
        return lambda number: index.search(codes[number : number + 1], depth)
    vectors = queries.astype(np.float32)
    distances = distances_from(distance, np.ascontiguousarray(gallery, dtype=np.float32))
    return lambda number: nearest(distances(vectors[number]), depth)


def nearest(distances: Vectors, depth: int) -> NDArray[np.intp]:
    """Give the rows of the smallest distances ``(gallery,)``, nearest first."""
    rows = np.argpartition(distances, depth - 1)[:depth] if depth < len(distances) else np.arange(len(distances))
    return rows[np.argsort(distances[rows])]


def distances_from(distance: Distance, gallery: Vectors) -> Callable[[Vectors], Vectors]:
    """Give a function from one vector ``(size,)`` to what ranks the gallery like its distances ``(photos,)``."""
    match distance:
        case Distance.COSINE:
            lengths = np.linalg.norm(gallery, axis=1, keepdims=True)
            directions = (gallery / np.where(lengths > 0, lengths, 1)).astype(np.float32)
            return lambda vector: -(directions @ vector)
        case Distance.EUCLIDEAN:
            squares = np.square(gallery).sum(axis=1)
            return lambda vector: squares - 2 * (gallery @ vector)
        case Distance.MANHATTAN:
            return lambda vector: np.abs(gallery - vector).sum(axis=1)
        case Distance.INTERSECTION:
            return lambda vector: -np.minimum(gallery, vector).sum(axis=1)
        case _:
            return lambda vector: -(gallery @ vector)
