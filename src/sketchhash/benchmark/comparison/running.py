"""Runs entries one by one: what is finished is not repeated, and what fails does not stop the others."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from sketchhash.baselines import Distance
from sketchhash.benchmark.comparison.contenders import Encoded, contender
from sketchhash.benchmark.comparison.costs import gallery_bytes, time_queries
from sketchhash.benchmark.comparison.entries import Entry
from sketchhash.benchmark.comparison.records import Codes, Record, Records, versions
from sketchhash.benchmark.comparison.settings import Settings
from sketchhash.benchmark.comparison.workbench import Workbench
from sketchhash.benchmark.encoded import rank_encodings
from sketchhash.codes import pack
from sketchhash.evaluation.metrics import Scores


@dataclass(frozen=True)
class Finished:
    """A run that is done, in this comparison or ``before`` it."""

    record: Record
    scores: Scores
    before: bool


@dataclass(frozen=True)
class Failed:
    """A run that did not come to an end, and the file that tells why."""

    entry: Entry
    problem: str
    path: Path


class Comparison:
    """Compares methods on one workbench, and keeps the runs in a folder."""

    def __init__(self, bench: Workbench, folder: Path) -> None:
        """Begin in a folder, or go on with the comparison that is there."""
        self.bench, self.records = bench, Records(folder)
        bench.task.begin(folder)

    def run(self, entry: Entry) -> Finished | Failed:
        """Run an entry, if it is not finished yet."""
        try:
            this = contender(entry, self.bench)
            record = self.records.find(entry, this.recipe["hash"], self.bench.split.hash)
            if record:
                return Finished(record, self.records.scores(record), before=True)
            started = perf_counter()
            return self._keep(entry, this.recipe, this.encode(), started)
        except Exception as problem:  # whatever a method does wrong, the others shall go on
            path = self.records.write_failure(entry, traceback.format_exc())
            return Failed(entry, " ".join(f"{type(problem).__name__}: {problem}".split()), path)

    def _keep(self, entry: Entry, recipe: Settings, encoded: Encoded, started: float) -> Finished:
        task, distance = self.bench.task, encoded.distance
        queries, gallery = encoded.queries, encoded.gallery
        groups = rank_encodings(distance, queries, gallery, task.queries.label_array, task.gallery.label_array)
        timing = time_queries(distance, queries, gallery)
        record = Record(
            method=entry.method,
            size=entry.size,
            recipe=recipe,
            seed=task.seed,
            dataset=task.dataset,
            data_hash=task.data_hash,
            split_hash=task.split_hash,
            versions=versions(),
            columns=gallery.shape[1],
            seconds=perf_counter() - started,
            fit_seconds=encoded.seconds.fit,
            photo_seconds=encoded.seconds.photos,
            sketch_seconds=encoded.seconds.sketches,
            query_seconds=timing.p50,
            timed_queries=timing.calls,
            gallery_bytes=gallery_bytes(distance, gallery),
        )
        codes = Codes(pack(queries), pack(gallery)) if distance is Distance.HAMMING else None
        return Finished(record, self.records.write(record, groups, codes), before=False)
