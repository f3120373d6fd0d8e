"""DSH and its ablations under both protocols (Table 4), beside plain methods on the same features.

    <out>/seen/comparison.jsonl, <out>/unseen/comparison.jsonl

Both protocols have the same queries. *Seen*: all photos train and are the gallery, as in the paper. *Unseen*: a fifth
of the photos is kept out of training and is the gallery.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sketchhash.errors import SketchHashError
from sketchhash.paper import published
from sketchhash.paper.entries import DSH, TRUNK_METHODS, Entry
from sketchhash.paper.experiment import PROTOCOLS
from sketchhash.paper.records import Records, RunRecord
from sketchhash.results import NO_VALUE, markdown_table

if TYPE_CHECKING:
    from sketchhash.datasets import Dataset
    from sketchhash.dsh.progress import Progress


@dataclass(frozen=True)
class AblationResult:
    """What a run scored under one protocol: tie-aware mAP@all and precision at 200."""

    method: str
    bits: int
    protocol: str
    mean_average_precision: float
    precision_at_200: float


def run_ablations(
    dataset: Dataset,
    out: Path,
    entries: Sequence[Entry],
    *,
    recipe: str,
    seed: int,
    queries: int,
    cache: Path,
    progress: Progress,
    keep_pixels: bool = False,
) -> Iterator[AblationResult]:
    """Run entries under both protocols, unless they are finished, and yield every result.

    Raises:
        SketchHashError: If a run fails; its traceback is kept in the folder of results.
    """
    from sketchhash.paper.runner import Failed, run_entries
    from sketchhash.paper.workbench import Workbench

    for protocol in PROTOCOLS:
        bench = Workbench(dataset, protocol, recipe, seed, queries, cache, progress, keep_pixels)
        for outcome in run_entries(bench, out / protocol, entries):
            if isinstance(outcome, Failed):
                raise SketchHashError(f"{outcome.entry.slug} failed: {outcome.problem} (see {outcome.path})")
            yield _result(outcome.record, protocol)


def read_ablations(folder: Path) -> list[AblationResult]:
    """Read the results of both protocols that are in a folder."""
    return [_result(run, protocol) for protocol in PROTOCOLS for run in Records(folder / protocol).runs()]


def ablation_table(results: Sequence[AblationResult]) -> str:
    """Return one row for each method and code length, beside the paper's Table 4.

    Repeats of a line become their mean, with half the distance from the worst to the best.
    """
    reported = {line.name: line.mean_average_precision for line in published.ABLATIONS}
    reported[DSH] = published.FULL.mean_average_precision
    cells: dict[tuple[str, int, str], list[AblationResult]] = defaultdict(list)
    for result in results:
        cells[result.method, result.bits, result.protocol].append(result)
    rows = []
    for method, bits in dict.fromkeys((result.method, result.bits) for result in results):
        numbers = [number for protocol in PROTOCOLS for number in _numbers(cells[method, bits, protocol])]
        paper = " / ".join(f"{value:.3f}" for value in reported.get(method, ()))
        rows.append((_TITLES.get(method, method), bits, *numbers, paper))
    heading = ("method", "bits", "mAP seen", "P@200 seen", "mAP unseen", "P@200 unseen", "paper (128)")
    return markdown_table(heading, rows)


_TITLES = {**TRUNK_METHODS, DSH: published.FULL.name}


def _result(run: RunRecord, protocol: str) -> AblationResult:
    scores = run.scores
    return AblationResult(run.method, run.size, protocol, scores.mean_average_precision, scores.precision_at_200)


def _numbers(repeats: Sequence[AblationResult]) -> tuple[str, str]:
    return (
        _mean([result.mean_average_precision for result in repeats]),
        _mean([result.precision_at_200 for result in repeats]),
    )


def _mean(values: Sequence[float]) -> str:
    if not values:
        return NO_VALUE
    spread = f" ±{(max(values) - min(values)) / 2:.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"
