"""Codes in memory as the native kernel reads them, and the search for the nearest: in C, or NumPy without a kernel.

Codes lie in blocks of 64, byte by byte: a block holds the first bytes of its codes, then their second bytes, and so
on, ``(blocks, bits // 8, 64)``. The last block is padded with zeros. A vector register meets one byte of many codes,
and their distances add up lane by lane; no number of bits needs padding.

``native/hamming.c`` describes the algorithm. A batch of queries is divided among threads, one for each core, since the
kernel runs without Python's lock; a single query stays on its thread.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.protocol import Found, Hits, Wanted
from sketchhash.index.weighing import weight_tables
from sketchhash.native import kernels

BLOCK = 64  # codes in a block, and the bytes of a cache line; native/hamming.c knows it too

# Queries that share one reading of the gallery: more gain little, and leave cores without work at the end.
QUERIES_AT_ONCE = 32
# Hits that those queries may have together, so that a large k does not multiply the memory.
HITS_AT_ONCE = 1 << 22

# Most searches within a radius find few codes; the rare others are repeated with room for 16 times as many.
FIRST_ROOM = 1024
MORE_ROOM = 16


class Level(IntEnum):
    """Instruction sets that the kernel is written for."""

    PORTABLE = 0
    AVX2 = 1
    AVX512 = 2


class RowsView(ctypes.Structure):
    """`Rows`, as the kernel takes them."""

    _fields_ = (("blocks", ctypes.c_void_p), ("ids", ctypes.c_void_p), ("count", ctypes.c_int64))


@dataclass(frozen=True, eq=False)
class Rows:
    """Codes in blocks, and the id ``(rows,)`` of each; room for more may follow."""

    blocks: NDArray[np.uint8]
    ids: NDArray[np.int64]

    @classmethod
    def of(cls, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> Rows:
        """Lay out packed codes ``(rows, bits // 8)`` in the order given."""
        blocks = empty_blocks(blocks_for(len(codes)), codes.shape[1])
        write_codes(blocks, codes)
        return cls(blocks, ids)

    @cached_property
    def view(self) -> RowsView:
        """Point at these rows, which must outlive it. Kept: it takes as long as searching a thousand codes."""
        return RowsView(self.blocks.ctypes.data, self.ids.ctypes.data, len(self.ids))

    def codes(self, first: int = 0) -> NDArray[np.uint8]:
        """Return the packed codes from row ``first`` on, ``(rows - first, bits // 8)``."""
        block, skipped = divmod(first, BLOCK)
        used = self.blocks[block : blocks_for(len(self.ids))]
        codes = used.transpose(0, 2, 1).reshape(-1, used.shape[1])
        return codes[skipped : len(self.ids) - block * BLOCK]

    def codes_at(self, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Return the packed codes of some rows, ``(some, bits // 8)``."""
        return self.blocks[rows // BLOCK, :, rows % BLOCK]

    def distances(self, query: NDArray[np.uint8]) -> NDArray[np.uint16]:
        """Count the bits in which each code differs from one packed query: ``(rows,)``."""
        used = self.blocks[: blocks_for(len(self.ids))]
        differing = np.bitwise_count(used ^ query[:, None])
        distances: NDArray[np.uint16] = differing.sum(axis=1, dtype=np.uint16).ravel()
        return distances[: len(self.ids)]

    def weighed_distances(self, query: NDArray[np.uint8], weights: NDArray[np.uint8]) -> NDArray[np.uint16]:
        """Weigh the bits in which each code differs from one packed query: ``(rows,)``."""
        used = self.blocks[: blocks_for(len(self.ids))]
        distances = np.zeros((len(used), BLOCK), dtype=np.uint16)
        for plane, table in enumerate(weight_tables(query, weights)):
            distances += table[used[:, plane]]
        return distances.ravel()[: len(self.ids)]


def blocks_for(rows: int) -> int:
    """Return how many blocks hold ``rows``."""
    return -(-rows // BLOCK)


def empty_blocks(count: int, width: int) -> NDArray[np.uint8]:
    """Reserve blocks that start at a cache line, so that no vector is loaded across two."""
    size = count * width * BLOCK
    memory = np.empty(size + BLOCK, dtype=np.uint8)
    start = -memory.ctypes.data % BLOCK
    return memory[start : start + size].reshape(count, width, BLOCK)


def write_codes(blocks: NDArray[np.uint8], codes: NDArray[np.uint8]) -> None:
    """Write packed codes into the first blocks, and zeros after the last code of a block."""
    full = len(codes) // BLOCK
    width = codes.shape[1]
    blocks[:full] = codes[: full * BLOCK].reshape(full, BLOCK, width).transpose(0, 2, 1)
    if rest := len(codes) % BLOCK:
        blocks[full, :, :rest] = codes[full * BLOCK :].T
        blocks[full, :, rest:] = 0


def nearest(rows: Rows, queries: NDArray[np.uint8], wanted: Wanted, level: Level | None = None) -> Found:
    """Find what is wanted among rows in ascending order of id."""
    kernel = hamming_kernel()
    if kernel is None:
        return ranked(rows, queries, wanted)
    return run_in_batches(queries, wanted, level, lambda call: kernel.nearest_in_rows(call, rows.view))


def ranked(rows: Rows, queries: NDArray[np.uint8], wanted: Wanted) -> Found:
    """Find what is wanted by sorting: the kernel's equal in NumPy, for rows in any order."""
    found = Found.nothing(len(queries), wanted.k)
    for number, query in enumerate(queries):
        weights = None if wanted.weights is None else wanted.weights[number]
        distances = rows.distances(query) if weights is None else rows.weighed_distances(query, weights)
        order = np.lexsort((rows.ids, distances))[: wanted.k]
        order = order[distances[order] <= wanted.radius]
        found.counts[number] = len(order)
        found.ids[number, : len(order)] = rows.ids[order]
        found.distances[number, : len(order)] = distances[order]
    return found


def all_within(
    find: Callable[[NDArray[np.uint8], Wanted], Found], queries: NDArray[np.uint8], radius: int, size: int
) -> list[Hits]:
    """Find every row up to ``radius`` with a search that returns at most k of ``size`` rows."""
    room = min(FIRST_ROOM, size)
    hits = find(queries, Wanted(room, radius)).hits()
    while room < size and (cut_off := [number for number, some in enumerate(hits) if len(some) == room]):
        room = min(room * MORE_ROOM, size)
        for number, more in zip(cut_off, find(queries[cut_off], Wanted(room, radius)).hits(), strict=True):
            hits[number] = more
    return hits


class GroupView(ctypes.Structure):
    """A group of rows around a centre, as the kernel takes it."""

    _fields_ = (("rows", RowsView), ("shells", ctypes.c_void_p))


class GroupsView(ctypes.Structure):
    """All groups with their centres and radii, as the kernel takes them."""

    _fields_ = (
        ("centres", RowsView),
        ("groups", ctypes.POINTER(GroupView)),
        ("radii", ctypes.c_void_p),
        ("size", ctypes.c_int64),
    )


class KernelCall(ctypes.Structure):
    """What the kernel should find for some queries, and where it puts the hits."""

    _fields_ = (
        ("queries", ctypes.c_char_p),
        ("count", ctypes.c_int64),
        ("width", ctypes.c_int64),
        ("k", ctypes.c_int64),
        ("radius", ctypes.c_int64),
        ("level", ctypes.c_int64),
        ("ids", ctypes.c_void_p),
        ("distances", ctypes.c_void_p),
        ("found", ctypes.c_void_p),
        ("weights", ctypes.c_char_p),
    )


def hamming_kernel() -> ctypes.CDLL | None:
    """Return the kernel with its functions declared, or None if it was not built."""
    kernel = kernels("hamming")
    return None if kernel is None else _declared(kernel)


@cache
def levels() -> tuple[Level, ...]:
    """List the instruction sets of this processor that the kernel can use, the fastest last."""
    kernel = hamming_kernel()
    return () if kernel is None else tuple(level for level in Level if level <= kernel.best_level())


def run_in_batches(
    queries: NDArray[np.uint8], wanted: Wanted, level: Level | None, run: Callable[[KernelCall], int]
) -> Found:
    """Call ``run`` for all queries, some at once; a batch uses every core, with the fastest level if none is given."""
    found = Found.nothing(len(queries), wanted.k)
    if wanted.k == 0 or len(queries) == 0:
        return found
    width = queries.shape[1]
    level = levels()[-1] if level is None else level
    at_once = min(QUERIES_AT_ONCE, max(1, HITS_AT_ONCE // wanted.k))
    first_id, first_distance, first_count = _address(found.ids), _address(found.distances), _address(found.counts)

    def search(start: int) -> None:
        some = queries[start : start + at_once]
        call = KernelCall(
            some.tobytes(),
            len(some),
            width,
            wanted.k,
            wanted.radius,
            level,
            first_id + start * wanted.k * found.ids.itemsize,
            first_distance + start * wanted.k * found.distances.itemsize,
            first_count + start * found.counts.itemsize,
            None if wanted.weights is None else wanted.weights[start : start + at_once].tobytes(),
        )
        if run(call) != 0:
            raise MemoryError(f"There is no memory for {wanted.k:,} hits of {len(some)} queries.")

    starts = range(0, len(queries), at_once)
    if len(starts) == 1:
        search(0)
        return found
    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(starts))) as threads:
        list(threads.map(search, starts))
    return found


def _address(array: NDArray[Any]) -> int:
    """Return where an array that may be written lies; ``array.ctypes.data`` takes three times as long."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array.data))


@cache
def _declared(kernel: ctypes.CDLL) -> ctypes.CDLL:
    call, rows, groups = (ctypes.POINTER(structure) for structure in (KernelCall, RowsView, GroupsView))
    kernel.best_level.argtypes = ()
    kernel.nearest_in_rows.argtypes = (call, rows)
    kernel.nearest_in_groups.argtypes = (call, groups)
    return kernel
