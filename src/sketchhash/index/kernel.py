"""The native kernel's side of a search: its structures, its instruction sets and the threads it runs on.

``native/hamming.c`` describes the algorithm. A batch of queries is dealt out to a thread for each core, since the
kernel runs without the lock of Python; a single query stays on its thread.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.blocks import RowsView
from sketchhash.index.hits import Found, Wanted
from sketchhash.native import kernels

# Queries that share one reading of the gallery: more gain little, and leave cores without work at the end.
QUERIES_AT_ONCE = 32
# Hits that those queries may have together, so that a large k does not multiply the memory.
HITS_AT_ONCE = 1 << 22


class Level(IntEnum):
    """Instruction sets that the kernel is written for."""

    PORTABLE = 0
    AVX2 = 1
    AVX512 = 2


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


class Task(ctypes.Structure):
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
    )


def hamming_kernel() -> ctypes.CDLL | None:
    """Give the kernel with its functions declared, or nothing if there is none."""
    kernel = kernels("hamming")
    return None if kernel is None else _declared(kernel)


@cache
def levels() -> tuple[Level, ...]:
    """List the instruction sets of this processor that the kernel can use, the fastest last."""
    kernel = hamming_kernel()
    return () if kernel is None else tuple(level for level in Level if level <= kernel.best_level())


def run_in_batches(
    queries: NDArray[np.uint8], wanted: Wanted, level: Level | None, run: Callable[[Task], int]
) -> Found:
    """Give all queries to ``run``, some at once; a batch uses every core, with the fastest level if none is given."""
    found = Found.nothing(len(queries), wanted.k)
    if wanted.k == 0 or len(queries) == 0:
        return found
    width = queries.shape[1]
    level = levels()[-1] if level is None else level
    at_once = min(QUERIES_AT_ONCE, max(1, HITS_AT_ONCE // wanted.k))
    first_id, first_distance, first_count = _address(found.ids), _address(found.distances), _address(found.counts)

    def search(start: int) -> None:
        some = queries[start : start + at_once]
        task = Task(
            some.tobytes(),
            len(some),
            width,
            wanted.k,
            wanted.radius,
            level,
            first_id + start * wanted.k * found.ids.itemsize,
            first_distance + start * wanted.k * found.distances.itemsize,
            first_count + start * found.counts.itemsize,
        )
        if run(task) != 0:
            raise MemoryError(f"There is no memory for {wanted.k:,} hits of {len(some)} queries.")

    starts = range(0, len(queries), at_once)
    if len(starts) == 1:
        search(0)
        return found
    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(starts))) as threads:
        list(threads.map(search, starts))
    return found


def _address(array: NDArray[Any]) -> int:
    """Say where an array that may be written lies; ``array.ctypes.data`` takes three times as long."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array.data))


@cache
def _declared(kernel: ctypes.CDLL) -> ctypes.CDLL:
    task, rows, groups = (ctypes.POINTER(structure) for structure in (Task, RowsView, GroupsView))
    kernel.best_level.argtypes = ()
    kernel.nearest_in_rows.argtypes = (task, rows)
    kernel.nearest_in_groups.argtypes = (task, groups)
    return kernel
