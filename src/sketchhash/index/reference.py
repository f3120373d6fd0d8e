"""The plain index, in NumPy: sort all distances. The others are proved equal to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack
from sketchhash.index.protocol import (
    Hits,
    check_absent,
    check_addition,
    check_among,
    check_bits,
    check_codes,
    check_ids,
    check_k,
    check_present,
    check_radius,
    check_values,
)
from sketchhash.index.weighing import weigh, weighed_distances


class ReferenceIndex:
    """Codes in the order of their ids, so that a stable sort by distance breaks ties by id."""

    def __init__(self, bits: int) -> None:
        """Start without codes."""
        check_bits(bits)
        self.bits = bits
        self._ids = np.empty(0, dtype=np.int64)
        self._codes = np.empty((0, bits // 8), dtype=np.uint8)

    def __len__(self) -> int:
        """Count the codes."""
        return len(self._ids)

    def add(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``."""
        check_addition(ids, codes, self.bits)
        check_absent(np.isin(ids, self._ids), ids)
        together = np.concatenate((self._ids, ids))
        order = np.argsort(together)
        self._ids = together[order]
        self._codes = np.concatenate((self._codes, codes))[order]

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes."""
        check_ids(ids)
        check_present(np.isin(ids, self._ids), ids)
        staying = ~np.isin(self._ids, ids)
        self._ids, self._codes = self._ids[staying], self._codes[staying]

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)
        chosen = self._chosen(among)
        return [self._ranking(hamming(query[None], self._codes[chosen])[0], chosen, k) for query in queries]

    def search_by_values(self, values: NDArray[Any], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` codes nearest to values ``(queries, bits)``, by the weight of the bits that differ."""
        check_values(values, self.bits)
        check_k(k)
        chosen = self._chosen(among)
        weighed = zip(pack(values), weigh(values), strict=True)
        return [
            self._ranking(weighed_distances(query, weights, self._codes[chosen]), chosen, k)
            for query, weights in weighed
        ]

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        check_codes(queries, self.bits)
        check_radius(radius)
        rankings = [self._ranking(distances, slice(None), len(self)) for distances in hamming(queries, self._codes)]
        counts = [np.count_nonzero(ranking.distances <= radius) for ranking in rankings]
        return [
            Hits(ranking.ids[:count], ranking.distances[:count])
            for ranking, count in zip(rankings, counts, strict=True)
        ]

    def _chosen(self, among: NDArray[np.int64] | None) -> slice | NDArray[np.bool_]:
        if among is None:
            return slice(None)
        check_among(among)
        return np.isin(self._ids, among)

    def _ranking(self, distances: NDArray[np.uint16], chosen: slice | NDArray[np.bool_], k: int) -> Hits:
        order = np.argsort(distances, kind="stable")[:k]
        return Hits(self._ids[chosen][order], distances[order])
