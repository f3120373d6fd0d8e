"""Chooses settings on validation, then runs every method on the test queries, once for each size and seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from sketchhash.baselines import Distance, Views
from sketchhash.datasets import Item
from sketchhash.dsh.sources import weights_hash
from sketchhash.errors import BadArgument
from sketchhash.evaluation import labels, rank_cosine
from sketchhash.paper.heads.bench import HeadBench, Task
from sketchhash.paper.heads.methods import CANDIDATES, Head, distance_of, fit_head, sizes_of
from sketchhash.paper.heads.records import Choice, HeadExperiment, HeadRecords, HeadRun, HeadScores
from sketchhash.paper.methods import rank_encodings
from sketchhash.paper.records import versions

CHOOSING_BITS = 64


def run_heads(
    bench: HeadBench,
    tasks: Sequence[Task],
    methods: Sequence[str],
    bits: Sequence[int],
    out: Path,
    given: Mapping[str, Choice] | None = None,
    untuned: Sequence[str] = (),
) -> Iterator[Choice | HeadRun]:
    """Choose settings by the first task, then run on every task; what is finished is not repeated.

    Args:
        bench: The features.
        tasks: One for each seed.
        methods: Their names.
        bits: Lengths of codes.
        out: The folder of results.
        given: Choices made elsewhere, for tasks without a validation part.
        untuned: Methods that keep the settings they come with.
    """
    records = HeadRecords(out)
    records.begin(_experiment(bench, tasks))
    chosen = {**records.choices(), **(given or {})}
    views = bench.views(tasks[0])
    for method in methods:
        if method not in chosen:
            is_kept = method in untuned
            chosen[method] = Choice(method, 0, (), ()) if is_kept else choose(method, bench, tasks[0], views)
            records.add_choice(chosen[method])
            yield chosen[method]
    done = {run.key: run for run in records.runs()}
    for seed, task in enumerate(tasks):
        if seed:
            views = bench.views(task)
        # Finished seeds are whole comparisons, so an interrupted one can be read.
        for method in methods:
            for size in sizes_of(method, bits):
                settings = chosen[method].chosen
                run = done.get((method, size, seed))
                if run is None or dict(run.settings) != dict(settings):
                    run = _run(method, size, seed, settings, bench, task, views)
                    records.add_run(run)
                yield run


def choose(method: str, bench: HeadBench, task: Task, views: Views) -> Choice:
    """Score a method by each of its settings on the validation part."""
    if not task.validation_sketches or not task.validation_photos:
        raise BadArgument(f"The split has no validation part to choose the settings of {method} by.")
    settings = CANDIDATES[method]
    (size, *_) = sizes_of(method, (CHOOSING_BITS,))
    scores = []
    for some in settings:
        head = fit_head(method, size, 0, some, bench, task, views)
        scores.append(_score(head, method, task.validation_sketches, task.validation_photos).mean_average_precision)
    return Choice(method, size, tuple(settings), tuple(scores))


def _run(
    method: str, size: int, seed: int, settings: Mapping[str, Any], bench: HeadBench, task: Task, views: Views
) -> HeadRun:
    started = perf_counter()
    head = fit_head(method, size, seed, settings, bench, task, views)
    seconds = perf_counter() - started
    scores = {name: _score(head, method, task.queries, photos) for name, photos in task.galleries.items()}
    columns = head.sketches(task.queries[:1]).shape[1]
    return HeadRun(method, size, seed, dict(settings), distance_of(method), columns, seconds, scores)


def _score(head: Head, method: str, queries: Sequence[Item], photos: Sequence[Item]) -> HeadScores:
    encodings, sides = (head.sketches(queries), head.photos(photos)), (labels(queries), labels(photos))
    distance = distance_of(method)
    groups = rank_encodings(distance, *encodings, *sides)
    return HeadScores.of(groups, rank_cosine(*encodings, *sides) if distance is Distance.HAMMING else None)


def _experiment(bench: HeadBench, tasks: Sequence[Task]) -> HeadExperiment:
    first = tasks[0]
    return HeadExperiment(
        dataset=bench.dataset.name,
        data_hash=first.split.inventory,
        splits=tuple(task.split.hash for task in tasks),
        trunks={"c2": weights_hash(bench.trunks.c2.trunk), "model": bench.start or ""},
        recipe={"name": bench.recipe.name, "hash": bench.recipe.hash},
        categories=len({query.label for query in first.queries}),
        training_photos=len(first.training_photos),
        training_sketches=len(first.training_sketches),
        queries=len(first.queries),
        galleries={name: len(photos) for name, photos in first.galleries.items()},
        validation=(len(first.validation_sketches), len(first.validation_photos)),
        unseen_categories=first.split.unseen_categories,
        versions=versions(),
    )
