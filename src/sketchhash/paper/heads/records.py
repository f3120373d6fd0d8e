"""Choices and runs of a comparison of heads, in one compact file.

heads.jsonl    one JSON document a line: the experiment, what each method chose on validation, and every run
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines import Distance
from sketchhash.errors import BadArgument, DamagedState
from sketchhash.evaluation import TieGroups, map_at, mean_average_precision, precision_at, precision_within
from sketchhash.evaluation.metrics import average_precisions
from sketchhash.paper.lines import append_line, damaged, read_lines

T = TypeVar("T")

FILE = "heads.jsonl"

_FORMAT = 1
_FINEST = 65_535  # average precisions are kept in 16 bits


@dataclass(frozen=True)
class HeadExperiment:
    """The terms of a comparison of heads.

    Attributes:
        dataset: Its name.
        data_hash: Identifies the dataset's content.
        splits: The hash of the split of each seed, from 0 on.
        trunks: The hash of C2's trunk, and the fingerprint of the model it comes from.
        recipe: DSH's: its name and hash.
        categories: That are asked for.
        training_photos: How many, by seed.
        training_sketches: How many.
        queries: How many.
        galleries: Number of photos of each gallery, with the first seed.
        validation: Number of validation queries and photos.
        unseen_categories: Kept out of all training here; none if queries are of trained categories.
        versions: Of the packages that took part.
    """

    dataset: str
    data_hash: str
    splits: tuple[str, ...]
    trunks: Mapping[str, str]
    recipe: Mapping[str, str]
    categories: int
    training_photos: int
    training_sketches: int
    queries: int
    galleries: Mapping[str, int]
    validation: tuple[int, int]
    unseen_categories: tuple[str, ...]
    versions: Mapping[str, str]

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> HeadExperiment:
        """Parse a line."""
        lists = {name: tuple(document[name]) for name in ("splits", "validation", "unseen_categories")}
        return cls(**{**document, **lists})


@dataclass(frozen=True)
class Choice:
    """What a method scored on validation by each of its settings, and which it takes: the best, the first of equals.

    A method that is not tuned has tried nothing, and keeps the settings it comes with.
    """

    method: str
    bits: int
    settings: tuple[Mapping[str, Any], ...]
    scores: tuple[float, ...]

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The best settings."""
        return self.settings[int(np.argmax(self.scores))] if self.scores else {}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Choice:
        """Parse a line."""
        return cls(document["method"], document["bits"], tuple(document["settings"]), tuple(document["scores"]))


@dataclass(frozen=True)
class HeadScores:
    """What a run scored on one gallery; all tie-aware.

    Attributes:
        mean_average_precision: mAP@all.
        map_at_200: Divided by min(relevant photos, 200).
        precision_at_100: Hits among the first 100 ranks / 100.
        precision_at_200: Hits among the first 200 ranks / 200.
        ball: Precision within Hamming radius 2, an empty ball counting 0; None for real values.
        by_values: mAP@all by the cosine of the values before their signs; None for real values.
        queries: The average precision of each query, 16 bits each, in base64.
    """

    mean_average_precision: float
    map_at_200: float
    precision_at_100: float
    precision_at_200: float
    ball: float | None
    by_values: float | None
    queries: str

    @classmethod
    def of(cls, groups: TieGroups, by_values: TieGroups | None) -> HeadScores:
        """Compute the numbers of a ranking; ``by_values`` is the ranking of codes by their real values."""
        each = np.round(average_precisions(groups) * _FINEST).astype("<u2")
        return cls(
            mean_average_precision=mean_average_precision(groups).value,
            map_at_200=map_at(groups, 200).value,
            precision_at_100=precision_at(groups, 100).value,
            precision_at_200=precision_at(groups, 200).value,
            ball=None if groups.bits is None else precision_within(groups, 2).value,
            by_values=None if by_values is None else mean_average_precision(by_values).value,
            queries=b64encode(each.tobytes()).decode(),
        )

    @property
    def average_precisions(self) -> NDArray[np.float64]:
        """The average precision of each query ``(queries,)``."""
        each: NDArray[np.float64] = np.frombuffer(b64decode(self.queries), dtype="<u2") / _FINEST
        return each


@dataclass(frozen=True)
class HeadRun:
    """A method at one size with one seed, on every gallery."""

    method: str
    size: int
    seed: int
    settings: Mapping[str, Any]
    distance: Distance
    columns: int
    fit_seconds: float
    scores: Mapping[str, HeadScores]

    @property
    def key(self) -> tuple[str, int, int]:
        """What names the run."""
        return self.method, self.size, self.seed

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> HeadRun:
        """Parse a line."""
        scores = {name: HeadScores(**each) for name, each in document["scores"].items()}
        return cls(**{**document, "distance": Distance(document["distance"]), "scores": scores})


class HeadRecords:
    """The file of a comparison."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is read yet."""
        self.path = folder / FILE

    def begin(self, experiment: HeadExperiment) -> None:
        """Write the experiment into a new folder, or into one that holds it with fewer seeds.

        Raises:
            BadArgument: If the folder holds another one.
        """
        if self.path.exists():
            there = self.experiment()
            shared = min(len(there.splits), len(experiment.splits))
            if _terms(there, shared) != _terms(experiment, shared):
                raise BadArgument(f"{self.path} is of other splits, trunks or another recipe. Give another --out.")
            if shared == len(experiment.splits):
                return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_line(self.path, "experiment", {"format": _FORMAT, **asdict(experiment)})

    def experiment(self) -> HeadExperiment:
        """Read the terms; the last have the most seeds."""
        if not self.path.exists():
            raise BadArgument(f"{self.path.parent} holds no comparison of heads. Make one with: sketchhash paper heads")
        found = [document for kind, document in read_lines(self.path) if kind == "experiment"]
        if not found or found[-1].pop("format", None) != _FORMAT:
            raise DamagedState(f"{self.path} names no experiment. Remove it and run again.")
        return self._parsed(HeadExperiment.from_json, found[-1])

    def choices(self) -> dict[str, Choice]:
        """Read what was chosen, by method."""
        found = self._of_kind("choice", Choice.from_json)
        return {choice.method: choice for choice in found}

    def runs(self) -> list[HeadRun]:
        """Read the runs, of several of one name the last."""
        found = self._of_kind("run", HeadRun.from_json)
        return list({run.key: run for run in found}.values())

    def add_choice(self, choice: Choice) -> None:
        """Keep a choice."""
        append_line(self.path, "choice", asdict(choice))

    def add_run(self, run: HeadRun) -> None:
        """Keep a run."""
        append_line(self.path, "run", asdict(run))

    def _of_kind(self, wanted: str, parse: Callable[[dict[str, Any]], T]) -> list[T]:
        return [self._parsed(parse, document) for kind, document in read_lines(self.path) if kind == wanted]

    def _parsed(self, parse: Callable[[dict[str, Any]], T], document: dict[str, Any]) -> T:
        try:
            return parse(document)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise damaged(self.path, str(problem)) from problem


def _terms(experiment: HeadExperiment, seeds: int) -> tuple[object, ...]:
    return experiment.splits[:seeds], dict(experiment.trunks), experiment.recipe["hash"]
