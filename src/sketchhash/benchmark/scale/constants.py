"""Time one shard in memory, on one core."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

import numpy as np

from sketchhash.benchmark.scale.codes import ClusteredCodes
from sketchhash.benchmark.scale.figures import Constants, IndexConstants
from sketchhash.index.kernel import QUERIES_AT_ONCE
from sketchhash.index.pruned import PrunedIndex
from sketchhash.index.scan import ScanIndex

K = 100


def measure_constants(bits: int, codes: int, repeats: int) -> Constants:
    """Build both indexes over so many clustered codes, one after the other, and search them."""
    scan, pruned = (_measure(kind, bits, codes, repeats) for kind in (ScanIndex, PrunedIndex))
    return Constants(bits, codes, scan, pruned)


def _measure(kind: type[ScanIndex] | type[PrunedIndex], bits: int, codes: int, repeats: int) -> IndexConstants:
    source = ClusteredCodes(bits)
    some, queries = source.some(0, codes), source.queries(QUERIES_AT_ONCE)
    start = process_time()
    index = kind(bits)
    index.add(np.arange(codes), some)
    built = process_time() - start
    del some
    return IndexConstants(
        processor_time(lambda number: index.search(queries[number % len(queries)][None], K), repeats),
        processor_time(lambda _: index.search(queries, K), max(1, repeats // 4)) / len(queries),
        built,
        index.nbytes,
    )


def processor_time(call: Callable[[int], object], repeats: int) -> float:
    """Give the median of the processor time that some calls take; the first does not count.

    A call that keeps one core busy takes as long by the clock when nothing else runs, and hardly depends on what does.
    """
    return median(_times(call, repeats, process_time))


def best_time(call: Callable[[int], object], repeats: int) -> float:
    """Give the shortest time of some calls by the clock; the first does not count."""
    return min(_times(call, repeats, perf_counter))


def _times(call: Callable[[int], object], repeats: int, clock: Callable[[], float]) -> list[float]:
    times = []
    for number in range(repeats + 1):
        start = clock()
        call(number)
        times.append(clock() - start)
    return times[1:]
