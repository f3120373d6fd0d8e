"""A study of Deep Sketch Hashing: code lengths, the ablations of Table 4, and what plain methods reach.

Every result is a JSON file of its own, with the tie groups of its rankings beside it, so that a finished run
is not repeated and a new metric needs no new run. Two protocols are scored with the same queries: the paper's
(*seen*: all photos train and are the gallery) and *unseen* (a fifth of the photos is kept out of training and
is the gallery).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from sketchhash.benchmark.references import CCA, RIDGE, reference
from sketchhash.datasets import Dataset, draw_split
from sketchhash.dsh.checkpoints import write_text
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.training import prepare, train
from sketchhash.evaluation.metrics import score
from sketchhash.evaluation.ranking import rank_partition
from sketchhash.paper import published as paper

PROTOCOLS = {"seen": 0.0, "unseen": 0.2}
ABLATIONS = tuple(component.name for component in paper.ABLATIONS)
REFERENCES = (RIDGE, CCA)


@dataclass(frozen=True)
class Entry:
    """One line of a study: a recipe of DSH, or a reference method on the features that recipe freezes."""

    method: str
    recipe: str
    bits: int
    repeat: int = 0

    @property
    def slug(self) -> str:
        """Name this entry's files."""
        again = f"-repeat-{self.repeat}" if self.repeat else ""
        return f"{self.method.replace(' ', '-').lower()}-{self.bits}{again}"


@dataclass(frozen=True)
class Result:
    """What an entry came to under one protocol: tie-aware mAP@all and precision at 200."""

    method: str
    bits: int
    protocol: str
    mean_average_precision: float
    precision_at_200: float


class Study:
    """Runs entries on one dataset and keeps their results in a folder."""

    def __init__(
        self, dataset: Dataset, folder: Path, cache: Path, seed: int, queries: int, progress: Progress
    ) -> None:
        """Nothing is run yet."""
        self.dataset, self.folder, self.cache = dataset, folder, cache
        self.seed, self.queries, self.progress = seed, queries, progress

    def run(self, entries: Sequence[Entry]) -> Iterator[Result]:
        """Run what is not finished, and give every result."""
        for protocol in PROTOCOLS:
            for entry in entries:
                path = self.folder / f"{entry.slug}-{protocol}.json"
                if not _is_finished(path, entry):
                    self._run(entry, protocol, path)
                yield _read(path)

    def job(self, entry: Entry, protocol: str) -> Job:
        """Say what an entry of DSH trains, and on what."""
        split = draw_split(self.dataset, self.queries, self.seed, PROTOCOLS[protocol])
        return Job(self.dataset, split, load_recipe(entry.recipe), entry.bits, self.seed, entry.repeat)

    def trained(self, entry: Entry, protocol: str) -> NetworkInputs:
        """Train an entry of DSH, or go on with its training, and give the inputs with the trained network on it."""
        job = self.job(entry, protocol)
        run = self._run_folder(entry, protocol, job)
        return train(job, run, self.cache, self.progress, Processes(), resume=(run / "run.json").exists())

    def _run_folder(self, entry: Entry, protocol: str, job: Job) -> Path:
        return self.cache / "runs" / f"{entry.slug}-{protocol}-{job.recipe.hash[:8]}-{job.split.hash[:8]}"

    def _run(self, entry: Entry, protocol: str, path: Path) -> None:
        job = self.job(entry, protocol)
        parts = job.split.apply(self.dataset)
        started = perf_counter()
        if entry.method in REFERENCES:
            inputs = prepare(job, job.network(), self.cache, self.progress, Processes())
            plain = reference(entry.method, inputs, parts, entry.bits, job.hashing_seed)
            groups, log = rank_partition(plain, parts), []
        else:
            groups = rank_partition(self.trained(entry, protocol), parts)
            lines = (self._run_folder(entry, protocol, job) / "log.jsonl").read_text(encoding="utf-8").splitlines()
            log = [json.loads(line) for line in lines]
        document = {
            "method": entry.method,
            "protocol": protocol,
            "bits": entry.bits,
            "job": job.facts(),
            "seconds": perf_counter() - started,
            "scores": json.loads(score(groups, self.seed).to_json()),
            "log": log,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        groups.save(path.with_suffix(".npz"))
        write_text(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def _is_finished(path: Path, entry: Entry) -> bool:
    """Tell whether a result is there that the recipe as it is now gave."""
    if not path.exists():
        return False
    made_with = json.loads(path.read_text(encoding="utf-8"))["job"]["recipe"]["hash"]
    return bool(made_with == load_recipe(entry.recipe).hash)


def _read(path: Path) -> Result:
    document = json.loads(path.read_text(encoding="utf-8"))
    scores = document["scores"]
    return Result(
        document["method"],
        document["bits"],
        document["protocol"],
        scores["mean_average_precision"]["value"],
        scores["precision_at_200"]["value"],
    )


def _numbers(repeats: Sequence[Result]) -> tuple[str, str]:
    """Set the mean over repeats, and how far the worst is from the best."""
    return (
        _mean([result.mean_average_precision for result in repeats]),
        _mean([result.precision_at_200 for result in repeats]),
    )


def _mean(values: Sequence[float]) -> str:
    if not values:
        return "–"
    spread = f" ±{(max(values) - min(values)) / 2:.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"


def ablation_entries(bits: int, repeats: int = 1) -> list[Entry]:
    """List the five lines of Table 4, each so many times."""
    lines = [*((name, name) for name in ABLATIONS), ("full", "tuned")]
    return [Entry(method, recipe, bits, repeat) for method, recipe in lines for repeat in range(repeats)]


def study_entries(lengths: Sequence[int], ablation_bits: int, repeats: int = 1) -> list[Entry]:
    """List everything: all code lengths, the plain methods at each, and the ablations at one, repeated."""
    compared = [Entry(method, "tuned", bits) for bits in lengths for method in (*REFERENCES, "full")]
    return list(dict.fromkeys([*compared, *ablation_entries(ablation_bits, repeats)]))


def table(results: Sequence[Result]) -> str:
    """Set results as a Markdown table, one line a method and code length, beside the paper's Table 4.

    Repeats of a line become their mean, with half the distance from the worst to the best.
    """
    lines = [
        "| method | bits | mAP seen | P@200 seen | mAP unseen | P@200 unseen | paper (128) |",
        "|---|---|---|---|---|---|---|",
    ]
    reported = {line.name: line.mean_average_precision for line in (*paper.ABLATIONS, paper.FULL)}
    cells: dict[tuple[str, int, str], list[Result]] = defaultdict(list)
    for result in results:
        cells[result.method, result.bits, result.protocol].append(result)
    for method, bits in dict.fromkeys((result.method, result.bits) for result in results):
        numbers = [number for protocol in PROTOCOLS for number in _numbers(cells[method, bits, protocol])]
        published = " / ".join(f"{value:.3f}" for value in reported.get(method, ()))
        lines.append(f"| {method} | {bits} | {' | '.join(numbers)} | {published} |")
    return "\n".join(lines)
