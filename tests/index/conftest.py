"""Codes that cluster, and what a search should find among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from sketchhash.codes import hamming
from sketchhash.index import INDEXES, Index
from sketchhash.index.protocol import Hits


@pytest.fixture(scope="session")
def clustered() -> Callable[..., NDArray[np.uint8]]:
    """Return a function that makes packed codes around random centres, with a share of their bits flipped."""

    def make(size: int, bits: int, centres: int = 5, flipped: float = 0.08, seed: int = 0) -> NDArray[np.uint8]:
        rng = np.random.default_rng(seed)
        middles = rng.random((centres, bits)) < 0.5
        return np.packbits(middles[rng.integers(centres, size=size)] ^ (rng.random((size, bits)) < flipped), axis=1)

    return make


@pytest.fixture(scope="session")
def expected() -> Callable[..., Hits]:
    """Return a function that finds the hits of one query the plainest way: sort everything by (distance, id)."""

    def find(ids: NDArray[np.int64], codes: NDArray[np.uint8], query: NDArray[np.uint8], k: int, radius: int) -> Hits:
        distances = hamming(query[None], codes)[0]
        order = np.lexsort((ids, distances))[:k]
        order = order[distances[order] <= radius]
        return Hits(ids[order], distances[order])

    return find


@pytest.fixture(scope="session")
def assert_same_hits() -> Callable[[list[Hits], list[Hits]], None]:
    """Return a function that compares the hits of many queries, id for id."""

    def compare(found: list[Hits], expected: list[Hits]) -> None:
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one.ids, other.ids)
            np.testing.assert_array_equal(one.distances, other.distances)
            assert (one.ids.dtype, one.distances.dtype) == (np.int64, np.uint16)

    return compare


@pytest.fixture(scope="session")
def make_index(request) -> Callable[[str, int], Index]:
    """Return a function that makes an index without codes; an engine's is made once and emptied, which is faster."""
    kept: dict[tuple[str, int], Index] = {}

    def make(name: str, bits: int) -> Index:
        if name in INDEXES:
            return INDEXES[name](bits)
        if (name, bits) not in kept:
            kept[name, bits] = _open_index(request, name, bits)
        index = kept[name, bits]
        (everything,) = index.within(np.zeros((1, bits // 8), dtype=np.uint8), bits)
        index.remove(everything.ids)
        return index

    return make


def _open_index(request, name: str, bits: int) -> Index:
    if name == "milvus":
        from sketchhash.engines.milvus_index import MilvusIndex

        return MilvusIndex.open(request.getfixturevalue("milvus_server").address(f"codes_{bits}"), bits)
    from sketchhash.engines.addresses import Address
    from sketchhash.engines.postgres import Database, PgvectorIndex

    database = Database(Address.parse(request.getfixturevalue("postgres_server").address(f"codes_{bits}")))
    request.addfinalizer(database.close)
    return PgvectorIndex(database, bits)
