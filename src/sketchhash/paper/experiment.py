"""The terms of a comparison: one dataset and one split, the same for every method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Dataset, Item, Partition, Split
from sketchhash.errors import BadArgument
from sketchhash.evaluation import labels

PROTOCOLS = {"seen": 0.0, "unseen": 0.2}
"""The share of photos that is kept out of training and is the gallery; 0: all photos train and are the gallery."""


@dataclass(frozen=True)
class Experiment:
    """Identifies data and split; two comparisons are comparable when their split hashes are equal.

    Attributes:
        dataset: Its name.
        protocol: *seen* as in the paper, or *unseen*.
        seed: Of the split and of every method.
        data_hash: Identifies the dataset's content.
        split_hash: Identifies which items train, are queries, and are searched.
        categories: Names by label.
        training_photos: How many.
        training_sketches: How many.
        queries: Number of query sketches by label.
        gallery: Number of photos to find by label.
    """

    dataset: str
    protocol: str
    seed: int
    data_hash: str
    split_hash: str
    categories: tuple[str, ...]
    training_photos: int
    training_sketches: int
    queries: tuple[int, ...]
    gallery: tuple[int, ...]

    @classmethod
    def of(cls, split: Split, protocol: str, parts: Partition) -> Experiment:
        """Describe a split dataset."""
        return cls(
            dataset=split.dataset,
            protocol=protocol,
            seed=split.seed,
            data_hash=split.inventory,
            split_hash=split.hash,
            categories=tuple(parts.categories),
            training_photos=len(parts.training_photos),
            training_sketches=len(parts.training_sketches),
            queries=_counts(parts.queries, len(parts.categories)),
            gallery=_counts(parts.gallery, len(parts.categories)),
        )

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Experiment:
        """Parse what `to_json` returned."""
        lists = {name: tuple(document[name]) for name in ("categories", "queries", "gallery")}
        return cls(**{**document, **lists})

    def to_json(self) -> dict[str, object]:
        """Return the experiment as JSON values."""
        return asdict(self)

    @property
    def relevant(self) -> NDArray[np.int64]:
        """The number of relevant photos of each query ``(queries,)``."""
        return np.repeat(np.array(self.gallery, dtype=np.int64), self.queries)


def limit_photos(dataset: Dataset, most: int | None) -> Dataset:
    """Keep at most so many photos of a category, spread evenly over its list; None keeps all."""
    if most is None:
        return dataset
    if most < 1:
        raise BadArgument(f"A category needs a photo at least, not at most {most}.")
    by_label: dict[int, list[Item]] = {}
    for photo in dataset.photos:
        by_label.setdefault(photo.label, []).append(photo)
    kept = tuple(
        items[place * len(items) // min(most, len(items))]
        for items in by_label.values()
        for place in range(min(most, len(items)))
    )
    return replace(dataset, name=f"{dataset.name}, at most {most:,} photos a category", photos=kept)


def _counts(items: Sequence[Item], categories: int) -> tuple[int, ...]:
    return tuple(np.bincount(labels(items), minlength=categories).tolist())
