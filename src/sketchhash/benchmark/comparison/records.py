"""Finished runs on disk: a JSON document each, with tie groups, and codes where there are any, beside it.

<run>.json          what was run, on what, by which versions, what it cost and what it scored
<run>.npz           the tie groups of its rankings, from which every metric can be computed again
<run>.codes.npz     packed codes of queries and gallery, in the order of task.json; of binary codes only
<run>.failed.txt    instead of these: the traceback of a run that failed
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.comparison.entries import Entry
from sketchhash.errors import DamagedState
from sketchhash.evaluation.metrics import Scores, score
from sketchhash.evaluation.ties import TieGroups
from sketchhash.files import replacing

_FORMAT = 1
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


@dataclass(frozen=True)
class Record:
    """A finished run.

    Attributes:
        method: The name in the catalogue, ``dsh`` or an ablation.
        size: Bits or dimensions asked for.
        recipe: All that decides the result, with its hash.
        seed: Of split and method.
        dataset: Its name.
        data_hash: Of what is in it.
        split_hash: Of who trains, asks and is found.
        versions: Of the packages that took part.
        columns: Of an encoding: bits for codes, else real values.
        seconds: Of the whole run, with what it had to extract for others too.
        fit_seconds: To learn.
        photo_seconds: To encode the gallery.
        sketch_seconds: To encode all queries.
        query_seconds: To find the nearest 200 photos of one query, the median.
        timed_queries: How many queries that median is of.
        gallery_bytes: Memory of the gallery's encodings.
    """

    method: str
    size: int
    recipe: Mapping[str, object]
    seed: int
    dataset: str
    data_hash: str
    split_hash: str
    versions: Mapping[str, str]
    columns: int
    seconds: float
    fit_seconds: float
    photo_seconds: float
    sketch_seconds: float
    query_seconds: float
    timed_queries: int
    gallery_bytes: int

    @property
    def entry(self) -> Entry:
        """What was run."""
        return Entry(self.method, self.size)


@dataclass(frozen=True, eq=False)
class Codes:
    """Packed codes, ``(queries, bits // 8)`` and ``(photos, bits // 8)``."""

    queries: NDArray[np.uint8]
    gallery: NDArray[np.uint8]


class Records:
    """The runs in a folder."""

    def __init__(self, folder: Path) -> None:
        """Name the folder."""
        self.folder = folder

    def write(self, record: Record, groups: TieGroups, codes: Codes | None) -> Scores:
        """Keep a run, the document last: what lies beside it is whole when it is there."""
        slug, scores = record.entry.slug, score(groups, record.seed)
        groups.save(self._path(slug, "npz"))
        if codes:
            with replacing(self._path(slug, "codes.npz")) as file:
                np.savez_compressed(file, queries=codes.queries, gallery=codes.gallery)
        document = {"format": _FORMAT, **asdict(record), "scores": json.loads(scores.to_json())}
        with replacing(self._path(slug, "json")) as file:
            file.write((json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
        self._path(slug, "failed.txt").unlink(missing_ok=True)
        return scores

    def write_failure(self, entry: Entry, text: str) -> Path:
        """Keep the traceback of a run that failed, and give its file."""
        path = self._path(entry.slug, "failed.txt")
        with replacing(path) as file:
            file.write(text.encode())
        return path

    def find(self, entry: Entry, recipe_hash: object, split_hash: str) -> Record | None:
        """Give a finished run of this recipe on this split, if there is one."""
        path = self._path(entry.slug, "json")
        if not path.exists() or not self._path(entry.slug, "npz").exists():
            return None
        record = self.read(entry.slug)
        is_same = (record.recipe.get("hash"), record.split_hash) == (recipe_hash, split_hash)
        return record if is_same else None

    def read(self, slug: str) -> Record:
        """Read a run's document."""
        path = self._path(slug, "json")
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            return Record(**{name: document[name] for name in Record.__dataclass_fields__})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise DamagedState(f"{path} cannot be read: {problem}. Remove it and run again.") from problem

    def scores(self, record: Record) -> Scores:
        """Compute every metric of a run from its tie groups, by the definitions of this version."""
        return score(TieGroups.load(self._path(record.entry.slug, "npz")), record.seed)

    def codes(self, record: Record) -> Codes:
        """Read the codes of a run."""
        path = self._path(record.entry.slug, "codes.npz")
        try:
            with np.load(path, allow_pickle=False) as stored:
                return Codes(stored["queries"], stored["gallery"])
        except (OSError, ValueError, KeyError) as problem:
            raise DamagedState(f"{path} cannot be read: {problem}. Remove {path.stem} and run again.") from problem

    def slugs(self) -> list[str]:
        """Name the finished runs."""
        return sorted(path.stem for path in self.folder.glob("*.json") if path.name != "task.json")

    def failures(self) -> list[Path]:
        """Find the tracebacks of runs that failed."""
        return sorted(self.folder.glob("*.failed.txt"))

    def _path(self, slug: str, kind: str) -> Path:
        return self.folder / f"{slug}.{kind}"


def versions() -> dict[str, str]:
    """Give the versions of the packages that may take part, as far as they are installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
