"""The contract of every index, kept by Milvus."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.addresses import Address
from sketchhash.index.arguments import (
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
from sketchhash.index.hits import Hits, Wanted
from sketchhash.index.milvus.collection import MOST, Collection, Kind, Layout
from sketchhash.index.milvus.exact import ExactSearch, merged
from sketchhash.index.milvus.server import MilvusServer

_WRITTEN_AT_ONCE = 5000
_AMONG_AT_ONCE = 20_000


class MilvusIndex:
    """Codes in a collection of Milvus. What it finds is what the reference finds, id for id.

    Each search waits until the server has applied all that was acknowledged before, up to a fifth of a second.
    Additions of more than 5,000 codes are several calls: after an error some may be there; `put` them again.
    """

    def __init__(self, collection: Collection, most: int = MOST) -> None:
        """Take a collection, and ask for at most so many codes at once."""
        self.bits = collection.bits
        self._collection = collection
        self._search = ExactSearch(collection, most=most)

    @classmethod
    def open(cls, address: str, bits: int, kind: Kind = "BIN_FLAT") -> Self:
        """Open the index at ``milvus://host:port/collection``, which is made if it is not there."""
        check_bits(bits)
        place = Address.parse(address)
        return cls(Collection.create(MilvusServer(place), place.name, Layout(bits, kind=kind)))

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
        """Have new codes indexed, when all are written."""
        self._collection.settle()

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)
        wanted = Wanted(k, self.bits)
        if among is None:
            return self._search(queries, wanted)
        check_among(among)
        starts = range(0, max(len(among), 1), _AMONG_AT_ONCE)
        parts = [
            self._search(queries, wanted, f"id in {among[start : start + _AMONG_AT_ONCE].tolist()}") for start in starts
        ]
        return [merged(of_one, wanted) for of_one in zip(*parts, strict=True)]

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
