"""Who takes part: our indexes and their peers, each on one thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming
from sketchhash.errors import MissingExtra, require
from sketchhash.index import Hits
from sketchhash.index.kernel import QUERIES_AT_ONCE
from sketchhash.index.pruned import PrunedIndex
from sketchhash.index.scan import ScanIndex

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Engine:
    """Codes ready to be searched.

    Args:
        nbytes: The memory that codes, ids and what else it keeps take.
        search: Finds the k nearest of each query, on one thread.
        search_on_all_cores: The same on every core; of our indexes only.
    """

    nbytes: int
    search: Callable[[Codes, int], object]
    search_on_all_cores: Callable[[Codes, int], list[Hits]] | None = None


Build = Callable[[Codes], Engine]


def available_engines() -> tuple[dict[str, Build], list[str]]:
    """Give the engines by name, and a note for each peer that is not installed."""
    engines: dict[str, Build] = {
        "scan": partial(_ours, ScanIndex),
        "pruned": partial(_ours, PrunedIndex),
    }
    notes = []
    for name, module, build in (("faiss", "faiss", _faiss), ("usearch", "usearch.index", _usearch)):
        try:
            require(module, "bench")
        except MissingExtra as missing:
            notes.append(f"{name} is left out. {missing}")
        else:
            engines[name] = build
    return {**engines, "NumPy": _numpy}, notes


def _ours(make: type[ScanIndex | PrunedIndex], codes: Codes) -> Engine:
    index = make(codes.shape[1] * 8)
    index.add(np.arange(len(codes)), codes)

    def search(queries: Codes, k: int) -> list[Hits]:
        # So many queries stay on one thread; more would be spread over all cores.
        starts = range(0, len(queries), QUERIES_AT_ONCE)
        return [hits for start in starts for hits in index.search(queries[start : start + QUERIES_AT_ONCE], k)]

    return Engine(index.nbytes, search, index.search)


def _faiss(codes: Codes) -> Engine:
    faiss = require("faiss", "bench")
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexBinaryFlat(codes.shape[1] * 8)
    flat.add(codes)
    return Engine(codes.nbytes, flat.search)


def _usearch(codes: Codes) -> Engine:
    usearch = require("usearch.index", "bench")

    def search(queries: Codes, k: int) -> object:
        # It needs no index: it reads the array it is given.
        return usearch.search(codes, queries, k, usearch.MetricKind.Hamming, exact=True, threads=1, dtype="b1")

    return Engine(codes.nbytes, search)


def _numpy(codes: Codes) -> Engine:
    def search(queries: Codes, k: int) -> object:
        found = []
        for query in queries:
            distances = hamming(query[None], codes)[0]
            nearest = np.argpartition(distances, min(k, len(codes)) - 1)[:k]
            found.append(nearest[np.argsort(distances[nearest])])
        return found

    return Engine(codes.nbytes, search)
