"""The hits in their true order, from a server that cuts ties anywhere.

Among codes at one distance Milvus gives any, in any order, and at most 16,384 codes at once. So more are asked
for than are wanted, until the last one given is farther than the last one wanted: then all that tie with it are
there. If 16,384 are not enough, the ids are divided at the middle of those given, and both halves are searched in the
same way: each has at least 8,192 codes fewer, so it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.hits import Hits, Wanted
from sketchhash.index.milvus.collection import MOST, Collection

# Where learned codes cluster, about a hundred tie at the hundredth place.
_MORE = 4
_FEWEST = 128
_HITS_AT_ONCE = 100_000


class ExactSearch:
    """Searches a collection exactly; with fewer than all ``probes``, as exactly as its clusters allow."""

    def __init__(self, collection: Collection, probes: int | None = None, most: int = MOST) -> None:
        """Ask for at most so many codes at once, and look into so many clusters, or all."""
        self._collection = collection
        self._probes = min(probes or collection.clusters, collection.clusters)
        self._most = most

    def __call__(self, queries: NDArray[np.uint8], wanted: Wanted, condition: str = "") -> list[Hits]:
        """Find what is wanted of each query ``(queries, bits // 8)`` among the rows of a ``condition``."""
        limit = min(max(_MORE * wanted.k, _FEWEST), self._most)
        found = []
        for block in _blocks(queries, max(_HITS_AT_ONCE // limit, 1)):
            answers = self._collection.search(block, limit, condition, self._probes)
            for query, (ids, distances) in zip(block, answers, strict=True):
                if _is_complete(distances, limit, wanted):
                    found.append(_hits(ids, distances, wanted))
                else:
                    found.append(self._widely(query[np.newaxis], wanted, condition, limit))
        return found

    def _widely(self, query: NDArray[np.uint8], wanted: Wanted, condition: str, limit: int) -> Hits:
        while limit < self._most:
            limit = min(_MORE * limit, self._most)
            ((ids, distances),) = self._collection.search(query, limit, condition, self._probes)
            if _is_complete(distances, limit, wanted):
                return _hits(ids, distances, wanted)
        return self._divided(query, wanted, condition)

    def _divided(self, query: NDArray[np.uint8], wanted: Wanted, condition: str) -> Hits:
        ((ids, distances),) = self._collection.search(query, self._most, condition, self._probes)
        if _is_complete(distances, self._most, wanted):
            return _hits(ids, distances, wanted)
        middle = int(np.sort(ids)[(len(ids) - 1) // 2])
        halves = [
            self._divided(query, wanted, f"({condition}) and {half}" if condition else half)
            for half in (f"id <= {middle}", f"id > {middle}")
        ]
        return merged(halves, wanted)


def merged(parts: Sequence[Hits], wanted: Wanted) -> Hits:
    """Give what is wanted of the hits of parts that share no id."""
    ids = np.concatenate([part.ids for part in parts])
    return _hits(ids, np.concatenate([part.distances for part in parts]), wanted)


def _is_complete(distances: NDArray[np.uint16], limit: int, wanted: Wanted) -> bool:
    """Tell whether everything is there that could be wanted: nothing more is, or the rest is farther."""
    if len(distances) < limit:
        return True
    farthest_wanted = wanted.radius if len(distances) <= wanted.k else min(wanted.radius, int(distances[wanted.k - 1]))
    return int(distances[-1]) > farthest_wanted


def _hits(ids: NDArray[np.int64], distances: NDArray[np.uint16], wanted: Wanted) -> Hits:
    order = np.lexsort((ids, distances))[: wanted.k]
    order = order[distances[order] <= wanted.radius]
    return Hits(ids[order], distances[order])


def _blocks(queries: NDArray[np.uint8], size: int) -> Iterator[NDArray[np.uint8]]:
    return (queries[start : start + size] for start in range(0, len(queries), size))
