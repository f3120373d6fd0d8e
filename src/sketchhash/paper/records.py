"""Finished runs on disk: one compact file for a whole comparison.

comparison.jsonl        one JSON document a line: the experiment, the recipes, and one for each finished run
rankings/<run>.npz      tie groups of the run's rankings, from which any metric can be computed; not needed again
<run>.failed.txt        the traceback of a run that failed

Several processes may fill one folder (`sketchhash.paper.lines`). Of several runs of one entry the last counts.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming
from sketchhash.errors import BadArgument, DamagedState
from sketchhash.evaluation import BallScore, RadiusCurve, TieGroups, score
from sketchhash.files import replacing
from sketchhash.paper.entries import Entry
from sketchhash.paper.experiment import Experiment
from sketchhash.paper.lines import DIGITS, append_line, damaged, read_lines
from sketchhash.results import json_line

T = TypeVar("T")

FILE = "comparison.jsonl"

_FORMAT = 2
_RANKINGS = "rankings"
_PACKAGES = (
    "numpy",
    "opencv-python-headless",
    "pillow",
    "scikit-image",
    "scikit-learn",
    "scipy",
    "sketchhash",
    "torch",
)
_SAMPLED_CATEGORIES, _SAMPLED_PHOTOS = 10, 100  # of Figure 7; the paper shows ten categories too
_EXAMPLE_QUERIES, _EXAMPLE_PHOTOS = 8, 20  # of Figure 6


@dataclass(frozen=True)
class RunScores:
    """The numbers of a run; see `sketchhash.evaluation.Scores` for what they mean.

    Attributes:
        rank_curve: Precision at recalls 0, 0.05 ... 1.
        by_category: mAP by label; None for labels without a query.
        ball: Precision within Hamming radius 2; None for real values.
        radius_curve: Pooled precision and recall by Hamming radius; None for real values.
    """

    mean_average_precision: float
    seeded: float
    optimistic: float
    pessimistic: float
    precision_at_200: float
    map_at_200: float
    queries: int
    skipped: int
    rank_curve: tuple[float, ...]
    by_category: tuple[float | None, ...]
    ball: BallScore | None
    radius_curve: RadiusCurve | None

    @classmethod
    def of(cls, groups: TieGroups, seed: int) -> RunScores:
        """Compute the numbers of a ranking; ``seed`` draws the order behind `seeded`."""
        scores = score(groups, seed)
        found = {category.label: category.value for category in scores.categories}
        return cls(
            mean_average_precision=scores.mean_average_precision.value,
            seeded=scores.seeded.value,
            optimistic=scores.optimistic.value,
            pessimistic=scores.pessimistic.value,
            precision_at_200=scores.precision_at_200.value,
            map_at_200=scores.map_at_200.value,
            queries=scores.mean_average_precision.queries,
            skipped=scores.mean_average_precision.skipped,
            rank_curve=scores.rank_curve.precision,
            by_category=tuple(found.get(label) for label in range(max(found) + 1)),
            ball=scores.radius.precision_within_2 if scores.radius else None,
            radius_curve=scores.radius.pooled_curve if scores.radius else None,
        )

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> RunScores:
        """Parse a part of a record."""
        ball, curve = document["ball"], document["radius_curve"]
        return cls(
            **{
                **document,
                "rank_curve": tuple(document["rank_curve"]),
                "by_category": tuple(document["by_category"]),
                "ball": BallScore(**ball) if ball else None,
                "radius_curve": RadiusCurve(*(tuple(curve[name]) for name in ("radii", "precision", "recall")))
                if curve
                else None,
            }
        )


@dataclass(frozen=True, eq=False)
class Codes:
    """Packed codes, ``(queries, bits // 8)`` and ``(photos, bits // 8)``."""

    queries: NDArray[np.uint8]
    gallery: NDArray[np.uint8]


@dataclass(frozen=True)
class CodeSample:
    """Codes of the categories with the most photos, for Figure 7: photos first, then queries.

    Attributes:
        labels: Of photos and queries.
        photos: How many of them are photos.
        bits: The length of the codes.
        codes: All packed codes, in base64.
    """

    labels: tuple[int, ...]
    photos: int
    bits: int
    codes: str

    @classmethod
    def draw(cls, codes: Codes, query_labels: NDArray[np.int64], gallery_labels: NDArray[np.int64]) -> CodeSample:
        """Take ten categories, at most 100 photos of each, spread evenly, and all their queries."""
        asked = np.unique(query_labels)
        counts = (gallery_labels[:, None] == asked).sum(axis=0)
        chosen = np.sort(asked[np.argsort(-counts, kind="stable")][:_SAMPLED_CATEGORIES])
        photos = np.concatenate([_evenly(np.flatnonzero(gallery_labels == label)) for label in chosen])
        queries = np.flatnonzero(np.isin(query_labels, chosen))
        drawn = np.concatenate([codes.gallery[photos], codes.queries[queries]])
        labels = np.concatenate([gallery_labels[photos], query_labels[queries]])
        return cls(tuple(labels.tolist()), len(photos), drawn.shape[1] * 8, b64encode(drawn.tobytes()).decode())

    @property
    def packed(self) -> NDArray[np.uint8]:
        """The packed codes ``(photos + queries, bits // 8)``."""
        return np.frombuffer(b64decode(self.codes), dtype=np.uint8).reshape(len(self.labels), self.bits // 8)


@dataclass(frozen=True)
class Example:
    """A query and the photos nearest to it, for Figure 6."""

    query: str
    label: int
    photos: tuple[str, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class RunRecord:
    """A finished run.

    Attributes:
        method: The name in the catalogue, ``dsh``, an ablation or a plain method on DSH's trunks.
        size: Bits or dimensions asked for.
        repeat: See `Entry`.
        recipe: The hash of all that decides the result.
        versions: Of the packages that took part.
        columns: Of an encoding: bits for codes, else real values.
        seconds: Of the whole run, with what it had to extract for others too.
        fit_seconds: To learn.
        photo_seconds: To encode the gallery.
        sketch_seconds: To encode all queries.
        query_seconds: To find the nearest 200 photos of one query, the median.
        timed_queries: How many queries that median is of; seconds other than of the whole run are 0 if it is 0.
        gallery_bytes: Memory of the gallery's encodings.
        scores: What it scored.
        accuracy: The share of queries whose category it tells as a classifier; of Sketch-a-Net only.
        sample: Codes for Figure 7; of DSH only.
        examples: What eight queries find, for Figure 6; of DSH only.
    """

    method: str
    size: int
    repeat: int
    recipe: str
    versions: Mapping[str, str]
    columns: int
    seconds: float
    fit_seconds: float
    photo_seconds: float
    sketch_seconds: float
    query_seconds: float
    timed_queries: int
    gallery_bytes: int
    scores: RunScores
    accuracy: float | None = None
    sample: CodeSample | None = None
    examples: tuple[Example, ...] = ()

    @property
    def entry(self) -> Entry:
        """What was run."""
        return Entry(self.method, self.size, self.repeat)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> RunRecord:
        """Parse a line of a record."""
        sample = document["sample"]
        return cls(
            **{
                **document,
                "scores": RunScores.from_json(document["scores"]),
                "sample": CodeSample(**{**sample, "labels": tuple(sample["labels"])}) if sample else None,
                "examples": tuple(
                    Example(each["query"], each["label"], tuple(each["photos"]), tuple(each["labels"]))
                    for each in document["examples"]
                ),
            }
        )


class Records:
    """The finished runs in a folder."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is read yet."""
        self.folder = folder
        self.path = folder / FILE

    def begin(self, experiment: Experiment) -> None:
        """Write the experiment into a new folder, or raise if the folder holds another one."""
        if self.path.exists():
            there = self.experiment()
            if (there.split_hash, there.protocol) != (experiment.split_hash, experiment.protocol):
                raise BadArgument(
                    f"{self.folder} holds a comparison on {there.dataset} ({there.protocol} photos, seed {there.seed}) "
                    f"and not on this split of {experiment.dataset}. Give another --out."
                )
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._append("experiment", {"format": _FORMAT, **experiment.to_json()})

    def experiment(self) -> Experiment:
        """Read the experiment of this folder."""
        if not self.path.exists():
            raise BadArgument(f"{self.folder} holds no comparison. Make one with: sketchhash paper run")
        for kind, document in self._lines():
            if kind == "experiment" and document.pop("format", None) == _FORMAT:
                return self._parsed(Experiment.from_json, document)
        raise DamagedState(f"{self.path} names no experiment. Remove it and run again.")

    def runs(self) -> list[RunRecord]:
        """Read the finished runs, of each entry the last one."""
        found = (self._parsed(RunRecord.from_json, document) for kind, document in self._lines() if kind == "run")
        return list({record.entry: record for record in found}.values())

    def changed_settings(self) -> dict[str, Mapping[str, object]]:
        """Read which settings of finished runs differ from those on their cards, by the hash of the recipe."""
        return {name: recipe["changed"] for name, recipe in self.recipes().items() if "changed" in recipe}

    def recipes(self) -> dict[str, Mapping[str, Any]]:
        """Read what decided the results of finished runs, by the hash that runs name."""
        return {document["hash"]: document for kind, document in self._lines() if kind == "recipe"}

    def find(self, entry: Entry, recipe_hash: object) -> RunRecord | None:
        """Return a finished run of this entry by this recipe, or None."""
        if not self.path.exists():
            return None
        return next((run for run in self.runs() if run.entry == entry and run.recipe == recipe_hash), None)

    def add(self, record: RunRecord, recipe: Mapping[str, object], groups: TieGroups) -> RunRecord:
        """Keep a finished run, and its rankings beside it; return the run as it will be read again, rounded."""
        rankings = self.folder / _RANKINGS
        rankings.mkdir(exist_ok=True)
        groups.save(rankings / f"{record.entry.slug}.npz")
        known = (document["hash"] for kind, document in self._lines() if kind == "recipe")
        if record.recipe not in known:
            self._append("recipe", recipe)
        self._append("run", asdict(record))
        self._failure(record.entry).unlink(missing_ok=True)
        return RunRecord.from_json(json.loads(json_line(asdict(record), DIGITS)))

    def rankings(self, entry: Entry) -> TieGroups:
        """Read the tie groups of a run that was made in this folder."""
        return TieGroups.load(self.folder / _RANKINGS / f"{entry.slug}.npz")

    def write_failure(self, entry: Entry, text: str) -> Path:
        """Keep the traceback of a run that failed, and return its file."""
        path = self._failure(entry)
        with replacing(path) as file:
            file.write(text.encode())
        return path

    def failures(self) -> list[Path]:
        """Find the tracebacks of runs that failed."""
        return sorted(self.folder.glob("*.failed.txt"))

    def _failure(self, entry: Entry) -> Path:
        return self.folder / f"{entry.slug}.failed.txt"

    def _append(self, kind: Literal["experiment", "recipe", "run"], document: Mapping[str, object]) -> None:
        append_line(self.path, kind, document)

    def _lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return read_lines(self.path)

    def _parsed(self, parse: Callable[[dict[str, Any]], T], document: dict[str, Any]) -> T:
        try:
            return parse(document)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise damaged(self.path, str(problem)) from problem


def examples(
    codes: Codes,
    queries: Sequence[tuple[str, int]],
    gallery: Sequence[tuple[str, int]],
) -> tuple[Example, ...]:
    """Return what the first query of eight categories finds, given the id and label of every query and photo.

    Nothing is picked by hand: the categories are spread evenly over all.
    """
    chosen = choose_queries(np.array([label for _, label in queries]))
    found = []
    for query in chosen:
        rows = nearest_photos(codes, query)
        photos = [gallery[row] for row in rows]
        name, label = queries[query]
        found.append(Example(name, label, tuple(photo for photo, _ in photos), tuple(each for _, each in photos)))
    return tuple(found)


def choose_queries(labels: NDArray[np.int64], count: int = _EXAMPLE_QUERIES) -> list[int]:
    """Return the rows of the first query of some categories, spread evenly."""
    found, first = np.unique(labels, return_index=True)
    places = np.arange(min(count, len(found))) * len(found) // min(count, len(found))
    return [int(row) for row in first[places]]


def nearest_photos(codes: Codes, query: int, seed: int = 0) -> list[int]:
    """Return the first 20 rows of the gallery for one query; tied photos are in a random order.

    The order of storage, by category, would hide or invent mistakes.
    """
    distances = hamming(codes.queries[query : query + 1], codes.gallery)[0]
    shuffled = np.random.default_rng([seed, query]).permutation(len(distances))
    rows: list[int] = shuffled[np.argsort(distances[shuffled], kind="stable")][:_EXAMPLE_PHOTOS].tolist()
    return rows


def versions() -> dict[str, str]:
    """Return the versions of the packages that may take part, if they are installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _evenly(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    kept = min(_SAMPLED_PHOTOS, len(rows))
    return rows[np.arange(kept) * len(rows) // kept]
