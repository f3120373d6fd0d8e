"""Find the nearest rows: with the native kernel, or NumPy where it was not built."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.blocks import Rows
from sketchhash.index.hits import Found, Hits, Wanted
from sketchhash.index.kernel import Level, hamming_kernel, run_in_batches

# Most searches within a radius find few codes; the rare others are repeated with room for 16 times as many.
FIRST_ROOM = 1024
MORE_ROOM = 16


def nearest(rows: Rows, queries: NDArray[np.uint8], wanted: Wanted, level: Level | None = None) -> Found:
    """Find what is wanted among rows in ascending order of id."""
    kernel = hamming_kernel()
    if kernel is None:
        return ranked(queries, wanted, rows.ids, rows.distances)
    return run_in_batches(queries, wanted, level, lambda task: kernel.nearest_in_rows(task, rows.view))


def ranked(
    queries: NDArray[np.uint8],
    wanted: Wanted,
    ids: NDArray[np.int64],
    distances_from: Callable[[NDArray[np.uint8]], NDArray[np.uint16]],
) -> Found:
    """Find what is wanted by sorting: the kernel's twin in NumPy, for ids in any order."""
    found = Found.nothing(len(queries), wanted.k)
    for number, query in enumerate(queries):
        distances = distances_from(query)
        order = np.lexsort((ids, distances))[: wanted.k]
        order = order[distances[order] <= wanted.radius]
        found.counts[number] = len(order)
        found.ids[number, : len(order)] = ids[order]
        found.distances[number, : len(order)] = distances[order]
    return found


def all_within(
    find: Callable[[NDArray[np.uint8], Wanted], Found], queries: NDArray[np.uint8], radius: int, size: int
) -> list[Hits]:
    """Find every row up to ``radius`` with a search that gives at most k of ``size`` rows."""
    room = min(FIRST_ROOM, size)
    hits = find(queries, Wanted(room, radius)).hits()
    while room < size and (cut_off := [number for number, some in enumerate(hits) if len(some) == room]):
        room = min(room * MORE_ROOM, size)
        for number, more in zip(cut_off, find(queries[cut_off], Wanted(room, radius)).hits(), strict=True):
            hits[number] = more
    return hits
