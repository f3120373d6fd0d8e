"""A gallery that fills a disk: codes in shards, searched where they lie, and checked by brute force."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.scale.codes import ClusteredCodes, whole_pieces
from sketchhash.benchmark.scale.constants import K, best_time, processor_time
from sketchhash.benchmark.scale.figures import Simulation
from sketchhash.codes import hamming
from sketchhash.index.kernel import QUERIES_AT_ONCE
from sketchhash.index.protocol import Hits
from sketchhash.index.shards import ShardedIndex, merged, write_shard

_STATUS = Path("/proc/self/status")


def simulate(
    codes: int, bits: int, shards: int, checked: int, repeats: int, tell: Callable[[str], None], folder: Path | None
) -> Simulation:
    """Write clustered codes in shards to a temporary folder in ``folder``, search them, and remove them.

    While codes are made, brute force finds the hits of the first ``checked`` queries, and never sees a shard.
    """
    source = ClusteredCodes(bits)
    queries = source.queries(QUERIES_AT_ONCE)
    expected: list[list[Hits]] = [[] for _ in range(checked)]
    with TemporaryDirectory(prefix="shards-", dir=folder) as name:
        place = Path(name)
        seconds, size = 0.0, whole_pieces(-(-codes // shards))
        for number, first in enumerate(range(0, codes, size)):
            tell(f"Writing shard {number + 1} of {-(-codes // size)} ...")
            start = perf_counter()
            some = source.some(first, min(size, codes - first))
            ids = np.arange(first, first + len(some))
            write_shard(place, f"{number:05}", ids, some)
            seconds += perf_counter() - start
            for row, found in enumerate(expected):
                found.append(_brute_force(ids, some, queries[row]))
        del some, ids
        tell("Searching ...")
        alone, spread = ShardedIndex.open(place, threads=1), ShardedIndex.open(place)
        _forget(place)
        start = perf_counter()
        spread.search(queries[:1], K)
        cold = perf_counter() - start
        found = [spread.search(queries[row : row + 1], K)[0] for row in range(checked)]
        parts = [Hits(found[0].ids + codes * number, found[0].distances) for number in range(len(alone.shards))]
        return Simulation(
            codes=len(spread),
            bits=bits,
            shards=len(spread.shards),
            disk_bytes=sum(path.stat().st_size for path in place.iterdir()),
            write_seconds=seconds,
            cold_seconds=cold,
            query_seconds=processor_time(lambda number: alone.search(_one(queries, number), K), repeats),
            spread_seconds=best_time(lambda number: spread.search(_one(queries, number), K), repeats),
            batch_seconds=processor_time(lambda _: alone.search(queries, K), max(1, repeats // 4)) / len(queries),
            merge_seconds=processor_time(lambda _: merged(parts, K), repeats),
            cores=os.cpu_count() or 1,
            own_bytes=_own_bytes(),
            checked=checked,
            is_exact=all(_are_equal(one, merged(some, K)) for one, some in zip(found, expected, strict=True)),
        )


def _one(queries: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    row = number % len(queries)
    return queries[row : row + 1]


def _brute_force(ids: NDArray[np.int64], codes: NDArray[np.uint8], query: NDArray[np.uint8]) -> Hits:
    distances = hamming(query[None], codes)[0]
    near = np.flatnonzero(distances <= np.partition(distances, min(K, len(distances)) - 1)[min(K, len(distances)) - 1])
    order = near[np.lexsort((ids[near], distances[near]))][:K]
    return Hits(ids[order], distances[order])


def _are_equal(one: Hits, other: Hits) -> bool:
    return np.array_equal(one.ids, other.ids) and np.array_equal(one.distances, other.distances)


def _forget(folder: Path) -> None:
    """Ask the system to drop what it holds of some files."""
    if hasattr(os, "posix_fadvise"):
        for path in folder.iterdir():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _own_bytes() -> int:
    """Give the memory of this process that is not a map of files: 0 where the system does not tell."""
    if not _STATUS.exists():
        return 0
    lines = dict(line.split(":", 1) for line in _STATUS.read_text(encoding="ascii").splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024
