"""Codes in files that are searched through memory maps, so that a gallery may exceed memory.

A shard is two files: blocks of codes as the kernel reads them, and their ids. Both are mapped into memory, so opening
one reads nothing, and ids are read for hits alone. The hits of several shards are merged by (distance, id): the same
list that one index with all codes would return.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, DamagedState
from sketchhash.files import replacing
from sketchhash.index.kernel import BLOCK, Rows, all_within, blocks_for, nearest
from sketchhash.index.protocol import Hits, Wanted, check_addition, check_bits, check_codes, check_k, check_radius

CODES, IDS = ".codes.npy", ".ids.npy"


def write_shard(folder: Path, name: str, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
    """Write packed codes ``(ids, bits // 8)`` as the shard ``name``; it is whole when its codes file exists."""
    check_addition(ids, codes, codes.shape[-1] * 8)
    order = np.argsort(ids, kind="stable")
    rows = Rows.of(ids[order], codes[order])
    for suffix, array in ((IDS, rows.ids), (CODES, rows.blocks)):
        with replacing(folder / f"{name}{suffix}") as file:
            np.lib.format.write_array(file, array, allow_pickle=False)


def open_shard(folder: Path, name: str) -> Rows:
    """Map a shard into memory."""
    blocks = np.load(folder / f"{name}{CODES}", mmap_mode="r", allow_pickle=False)
    ids = np.load(folder / f"{name}{IDS}", mmap_mode="r", allow_pickle=False)
    if blocks.ndim != 3 or blocks.shape[2] != BLOCK or len(blocks) != blocks_for(len(ids)):
        raise DamagedState(
            f"The shard {name} in {folder} holds {blocks.shape} of codes for {len(ids):,} ids. Write it again."
        )
    return Rows(blocks, ids)


def merged(parts: Sequence[Hits], k: int) -> Hits:
    """Return the ``k`` nearest of the hits of several shards, ordered by (distance, id).

    >>> parts = [Hits(np.array([4]), np.array([2])), Hits(np.array([3, 9]), np.array([2, 5]))]
    >>> merged(parts, k=2).ids
    array([3, 4])
    """
    ids = np.concatenate([part.ids for part in parts])
    distances = np.concatenate([part.distances for part in parts])
    order = np.lexsort((ids, distances))[:k]
    return Hits(ids[order], distances[order])


class ShardedIndex:
    """Shards that are searched as one index, each on a thread; to add codes, write another shard.

    An id must be in one shard only.
    """

    def __init__(self, bits: int, shards: Iterable[Rows], threads: int | None = None) -> None:
        """Search shards of ``bits`` on so many threads, by default one a core."""
        check_bits(bits)
        self.bits = bits
        self.shards = tuple(shards)
        for rows in self.shards:
            if rows.blocks.shape[1] * 8 != bits:
                raise BadArgument(f"A shard has codes of {rows.blocks.shape[1] * 8} bits beside others of {bits}.")
        self._threads = threads or os.cpu_count() or 1

    @classmethod
    def open(cls, folder: Path, threads: int | None = None) -> Self:
        """Map all shards of a folder into memory."""
        names = sorted(path.name.removesuffix(CODES) for path in folder.glob(f"*{CODES}"))
        if not names:
            raise BadArgument(f"There are no shards in {folder}. Write some with: write_shard")
        shards = [open_shard(folder, name) for name in names]
        return cls(shards[0].blocks.shape[1] * 8, shards, threads)

    def __len__(self) -> int:
        """Count the codes."""
        return sum(len(rows.ids) for rows in self.shards)

    def search(self, queries: NDArray[np.uint8], k: int) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)

        def in_shard(rows: Rows) -> list[Hits]:
            return nearest(rows, queries, Wanted(min(k, len(rows.ids)), self.bits)).hits()

        with ThreadPoolExecutor(self._threads, "shards") as pool:
            parts = list(pool.map(in_shard, self.shards))
        return [merged([hits[number] for hits in parts], k) for number in range(len(queries))]

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        check_codes(queries, self.bits)
        check_radius(radius)
        parts = [
            all_within(partial(nearest, rows), queries, min(radius, self.bits), len(rows.ids)) for rows in self.shards
        ]
        return [merged([hits[number] for hits in parts], len(self)) for number in range(len(queries))]
