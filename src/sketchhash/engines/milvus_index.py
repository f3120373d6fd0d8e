"""The contract of every index, kept by Milvus: the hits in their true order, from a server that cuts ties anywhere.

Among codes at one distance Milvus returns any, in any order, and at most 16,384 codes at once. So more are asked for
than are wanted, until the last one returned is farther than the last one wanted: then all that tie with it are there.
If 16,384 are not enough, the ids are divided at the middle of those returned, and both halves are searched in the
same way: each has at least 8,192 codes fewer, so it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.engines.addresses import Address
from sketchhash.engines.milvus import MOST, Collection, CollectionLayout, Kind, MilvusServer
from sketchhash.index.protocol import (
    Hits,
    Wanted,
    check_absent,
    check_addition,
    check_among,
    check_bits,
    check_codes,
    check_ids,
    check_k,
    check_present,
    check_radius,
)

# Where learned codes cluster, about a hundred tie at the hundredth place.
_MORE = 4
_FEWEST = 128
_HITS_AT_ONCE = 100_000
_WRITTEN_AT_ONCE = 5000
_AMONG_AT_ONCE = 20_000


class MilvusIndex:
    """Codes in a collection of Milvus. What it finds is what the reference finds, id for id.

    Each search waits until the server has applied all that was acknowledged before, up to a fifth of a second.
    Additions of more than 5,000 codes are several calls: after an error some may be there; `put` them again.
    """

    def __init__(self, collection: Collection, most: int = MOST) -> None:
        """Search a collection, asking for at most ``most`` codes at once."""
        self.bits = collection.bits
        self._collection = collection
        self._search = ExactSearch(collection, most=most)

    @classmethod
    def open(cls, address: str, bits: int, kind: Kind = "BIN_FLAT") -> Self:
        """Open the index at ``milvus://host:port/collection``, which is made if it is not there."""
        check_bits(bits)
        place = Address.parse(address)
        return cls(Collection.create(MilvusServer(place), place.name, CollectionLayout(bits, kind=kind)))

    def __len__(self) -> int:
        """Count the codes."""
        return len(self._collection)

    def add(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``."""
        check_addition(ids, codes, self.bits)
        check_absent(self._has(ids), ids)
        self._write(ids, codes)

    def put(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``, and replace those whose ids are there."""
        check_addition(ids, codes, self.bits)
        self._write(ids, codes)

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes."""
        check_ids(ids)
        check_present(self._has(ids), ids)
        self._collection.remove(ids.tolist())

    def settle(self) -> None:
        """Make Milvus index new codes, when all are written."""
        self._collection.settle()

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)
        wanted = Wanted(k, self.bits)
        if among is None:
            return self._search(queries, wanted)
        check_among(among)
        return self._search.among(queries, wanted, among.tolist())

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        check_codes(queries, self.bits)
        check_radius(radius)
        return self._search(queries, Wanted(np.iinfo(np.int64).max, min(radius, self.bits)))

    def _has(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        there = self._collection.rows(ids.tolist(), [])
        return np.array([each in there for each in ids.tolist()], dtype=np.bool_)

    def _write(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        for start in range(0, len(ids), _WRITTEN_AT_ONCE):
            block = slice(start, start + _WRITTEN_AT_ONCE)
            self._collection.put(
                [
                    {"id": each, "code": code.tobytes()}
                    for each, code in zip(ids[block].tolist(), codes[block], strict=True)
                ]
            )


class ExactSearch:
    """Searches a collection exactly; with fewer than all ``probes``, as exactly as its clusters allow."""

    def __init__(self, collection: Collection, probes: int | None = None, most: int = MOST) -> None:
        """Ask for at most ``most`` codes at once, and search ``probes`` clusters, or all."""
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

    def among(self, queries: NDArray[np.uint8], wanted: Wanted, ids: Sequence[int]) -> list[Hits]:
        """Find what is wanted of each query ``(queries, bits // 8)`` among some ids."""
        starts = range(0, max(len(ids), 1), _AMONG_AT_ONCE)
        parts = [self(queries, wanted, f"id in {list(ids[start : start + _AMONG_AT_ONCE])}") for start in starts]
        return [merged(of_one, wanted) for of_one in zip(*parts, strict=True)]

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
    """Merge the hits of parts that share no id, and return what is wanted of them."""
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
