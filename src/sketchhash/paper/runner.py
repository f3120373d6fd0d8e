"""Runs entries one by one: finished runs are not repeated, and a run that fails does not stop the others.

Each run is also timed as a search would be, up to the 200 photos that the tables look at: codes by the package's own
scan, real values in single precision, by a product of a matrix and a vector where the distance allows it. Both on one
thread, with warm caches.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines import Distance
from sketchhash.codes import pack
from sketchhash.datasets import Item
from sketchhash.errors import require
from sketchhash.evaluation import labels
from sketchhash.evaluation.metrics import DEPTH
from sketchhash.index import scan_index
from sketchhash.paper.entries import DSH, Entry
from sketchhash.paper.features import Settings
from sketchhash.paper.methods import MethodEncodings, prepare_method, rank_encodings
from sketchhash.paper.records import Codes, CodeSample, Records, RunRecord, RunScores, examples, versions
from sketchhash.paper.workbench import Workbench

Values = NDArray[np.floating]
Vectors = NDArray[np.float32]

_WARM_UP = 5
_FEWEST, _MOST = 5, 200
_SECONDS = 5.0


@dataclass(frozen=True)
class Finished:
    """A finished run; ``before`` tells that it was found and not made now."""

    record: RunRecord
    before: bool


@dataclass(frozen=True)
class Failed:
    """A run that failed, and the file with its traceback."""

    entry: Entry
    problem: str
    path: Path


@dataclass(frozen=True)
class QueryTime:
    """Seconds of one query: the median, the best, and the number of queries timed."""

    p50: float
    best: float
    calls: int


def run_entries(bench: Workbench, out: Path, entries: Sequence[Entry]) -> Iterator[Finished | Failed]:
    """Run entries that are not finished in the folder ``out``, and yield each outcome."""
    records = Records(out)
    records.begin(bench.experiment)
    for entry in entries:
        yield run_entry(bench, records, entry)


def run_entry(bench: Workbench, records: Records, entry: Entry) -> Finished | Failed:
    """Run an entry, if it is not finished yet."""
    try:
        method = prepare_method(entry, bench)
        record = records.find(entry, method.recipe["hash"])
        # Older versions recorded runs of Sketch-a-Net without its accuracy.
        if record and (record.accuracy is not None or not method.tells_accuracy):
            return Finished(record, before=True)
        started = perf_counter()
        return Finished(_keep(bench, records, entry, method.recipe, method.encode(), started), before=False)
    except Exception as problem:  # whatever a method does wrong, the others go on
        path = records.write_failure(entry, traceback.format_exc())
        return Failed(entry, " ".join(f"{type(problem).__name__}: {problem}".split()), path)


def gallery_bytes(distance: Distance, gallery: Values) -> int:
    """Return the bytes that a gallery ``(photos, size)`` takes: a bit, or four bytes, a column."""
    values = int(gallery.size)
    return values // 8 if distance is Distance.HAMMING else 4 * values


def time_queries(distance: Distance, queries: Values, gallery: Values) -> QueryTime:
    """Time single queries ``(queries, size)`` against a gallery ``(photos, size)``."""
    search = _search(distance, queries, gallery)
    times: list[float] = []
    with require("threadpoolctl", "bench").threadpool_limits(1):
        for number in range(_WARM_UP):
            search(number % len(queries))
        while len(times) < _FEWEST or (len(times) < _MOST and sum(times) < _SECONDS):
            start = perf_counter()
            search(len(times) % len(queries))
            times.append(perf_counter() - start)
    return QueryTime(median(times), min(times), len(times))


def nearest(distances: Vectors, depth: int) -> NDArray[np.intp]:
    """Return the rows of the smallest distances ``(gallery,)``, nearest first."""
    rows = np.argpartition(distances, depth - 1)[:depth] if depth < len(distances) else np.arange(len(distances))
    return rows[np.argsort(distances[rows])]


def distances_from(distance: Distance, gallery: Vectors) -> Callable[[Vectors], Vectors]:
    """Return a function from a vector ``(size,)`` to values ``(photos,)`` that rank the gallery like its distances."""
    match distance:
        case Distance.COSINE:
            lengths = np.linalg.norm(gallery, axis=1, keepdims=True)
            directions = (gallery / np.where(lengths > 0, lengths, 1)).astype(np.float32)
            return lambda vector: -(directions @ vector)
        case Distance.EUCLIDEAN:
            squares = np.square(gallery).sum(axis=1)
            return lambda vector: squares - 2 * (gallery @ vector)
        case Distance.MANHATTAN:
            return lambda vector: np.abs(gallery - vector).sum(axis=1)
        case Distance.INTERSECTION:
            return lambda vector: -np.minimum(gallery, vector).sum(axis=1)
        case _:
            return lambda vector: -(gallery @ vector)


def _keep(
    bench: Workbench, records: Records, entry: Entry, recipe: Settings, encoded: MethodEncodings, started: float
) -> RunRecord:
    distance, queries, gallery = encoded.distance, encoded.queries, encoded.gallery
    sides = labels(bench.parts.queries), labels(bench.parts.gallery)
    groups = rank_encodings(distance, queries, gallery, *sides)
    timing = time_queries(distance, queries, gallery)
    codes = Codes(pack(queries), pack(gallery)) if entry.method == DSH and not entry.repeat else None
    record = RunRecord(
        method=entry.method,
        size=entry.size,
        repeat=entry.repeat,
        recipe=str(recipe["hash"]),
        versions=versions(),
        columns=gallery.shape[1],
        seconds=perf_counter() - started,
        fit_seconds=encoded.seconds.fit,
        photo_seconds=encoded.seconds.photos,
        sketch_seconds=encoded.seconds.sketches,
        query_seconds=timing.p50,
        timed_queries=timing.calls,
        gallery_bytes=gallery_bytes(distance, gallery),
        scores=RunScores.of(groups, bench.seed),
        accuracy=encoded.accuracy,
        sample=CodeSample.draw(codes, *sides) if codes else None,
        examples=examples(codes, _named(bench.parts.queries), _named(bench.parts.gallery)) if codes else (),
    )
    return records.add(record, recipe, groups)


def _named(items: Sequence[Item]) -> list[tuple[str, int]]:
    return [(item.id, item.label) for item in items]


def _search(distance: Distance, queries: Values, gallery: Values) -> Callable[[int], object]:
    """Return a function that finds the nearest photos of the query of a number."""
    depth = min(DEPTH, len(gallery))
    if distance is Distance.HAMMING:
        codes, index = pack(queries), scan_index(np.arange(len(gallery)), pack(gallery))
        return lambda number: index.search(codes[number : number + 1], depth)
    vectors = queries.astype(np.float32)
    distances = distances_from(distance, np.ascontiguousarray(gallery, dtype=np.float32))
    return lambda number: nearest(distances(vectors[number]), depth)
