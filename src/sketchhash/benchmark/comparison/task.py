"""What every method of a comparison is asked: the same queries and the same gallery, by id and label."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Dataset, Item, Partition, Split
from sketchhash.errors import BadArgument, DamagedState
from sketchhash.files import replacing

_FILE = "task.json"
_FORMAT = 1


@dataclass(frozen=True)
class Shown:
    """Queries or the gallery, in the order in which they are encoded."""

    ids: tuple[str, ...]
    labels: tuple[int, ...]

    @classmethod
    def of(cls, items: Sequence[Item]) -> Shown:
        """Name items."""
        return cls(tuple(item.id for item in items), tuple(item.label for item in items))

    @property
    def label_array(self) -> NDArray[np.int64]:
        """The labels ``(n,)``."""
        return np.array(self.labels, dtype=np.int64)


@dataclass(frozen=True)
class Task:
    """The terms of a comparison; two comparisons are comparable when their hashes are equal."""

    dataset: str
    protocol: str
    seed: int
    data_hash: str
    split_hash: str
    categories: tuple[str, ...]
    training_photos: int
    training_sketches: int
    queries: Shown
    gallery: Shown

    @classmethod
    def of(cls, split: Split, protocol: str, parts: Partition) -> Task:
        """Describe a split dataset."""
        return cls(
            split.dataset,
            protocol,
            split.seed,
            split.inventory,
            split.hash,
            parts.categories,
            len(parts.training_photos),
            len(parts.training_sketches),
            Shown.of(parts.queries),
            Shown.of(parts.gallery),
        )

    def begin(self, folder: Path) -> None:
        """Write the terms into a folder, or make sure that it already holds these and no others."""
        path = folder / _FILE
        if path.exists():
            there = Task.read(folder)
            if (there.split_hash, there.protocol) != (self.split_hash, self.protocol):
                raise BadArgument(
                    f"{folder} holds a comparison on {there.dataset} ({there.protocol} photos, seed {there.seed}) and "
                    f"not on this split of {self.dataset}. Give another --out."
                )
            return
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write((json.dumps({"format": _FORMAT, **asdict(self)}, ensure_ascii=False) + "\n").encode())

    @classmethod
    def read(cls, folder: Path) -> Task:
        """Read what `begin` wrote."""
        path = folder / _FILE
        if not path.exists():
            raise BadArgument(f"{folder} holds no comparison. Make one with: sketchhash benchmark run")
        try:
            document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if document.pop("format") != _FORMAT:
                raise ValueError("it was written by another version")
            shown = {name: _shown(document.pop(name)) for name in ("queries", "gallery")}
            return cls(**{**document, **shown, "categories": tuple(document["categories"])})
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise DamagedState(f"{path} cannot be read: {problem}. Remove it and run again.") from problem


def with_at_most(dataset: Dataset, photos: int | None) -> Dataset:
    """Keep so many photos of a category, spread evenly over its list; None keeps all."""
    if photos is None:
        return dataset
    if photos < 1:
        raise BadArgument(f"A category needs a photo at least, not at most {photos}.")
    by_label: dict[int, list[Item]] = {}
    for photo in dataset.photos:
        by_label.setdefault(photo.label, []).append(photo)
    kept = tuple(
        items[place * len(items) // min(photos, len(items))]
        for items in by_label.values()
        for place in range(min(photos, len(items)))
    )
    return replace(dataset, name=f"{dataset.name}, at most {photos:,} photos a category", photos=kept)


def _shown(document: dict[str, Any]) -> Shown:
    return Shown(tuple(document["ids"]), tuple(document["labels"]))
