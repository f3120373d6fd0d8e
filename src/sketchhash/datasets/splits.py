"""Who trains, who asks and who is searched: the paper's protocol (section 4.1) and two stricter ones.

- *paper*: q query sketches a category; all other sketches and **all** photos train; all photos are the
  gallery.
- *unseen photos*: a share of each category's photos is kept out of training, and is the whole gallery.
- *zero-shot*: whole categories are kept out of training; their sketches ask, their photos are the gallery.

A split is a small value written to a file with two hashes: of the dataset it was drawn from, and of itself.
Only `Split.apply` makes a `Partition`, and it trains on what the split does not name, so a query sketch in the
training set cannot be expressed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from sketchhash.datasets.items import Dataset, Item
from sketchhash.datasets.names import fold
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.files import replacing

_FORMAT = 1


@dataclass(frozen=True)
class Partition:
    """A dataset divided by a split."""

    categories: tuple[str, ...]
    training_sketches: tuple[Item, ...]
    training_photos: tuple[Item, ...]
    queries: tuple[Item, ...]
    gallery: tuple[Item, ...]


@dataclass(frozen=True)
class Split:
    """What is kept out of training, by id; everything not named here trains."""

    dataset: str
    inventory: str
    seed: int
    queries_per_category: int
    unseen_photos: float
    query_sketches: tuple[str, ...]
    held_out_photos: tuple[str, ...] = ()
    unseen_categories: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """Identify this split: two runs are comparable when their splits' hashes are equal."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def apply(self, dataset: Dataset) -> Partition:
        """Divide the dataset that this split was drawn from.

        Query sketches of categories without a photo in the gallery are kept out of training but do not ask:
        nothing could be found for them.
        """
        if inventory_hash(dataset) != self.inventory:
            raise SplitProblem(
                f"This split was drawn from another state of {self.dataset}: files were added, removed or "
                f"renamed in {dataset.name}. Draw a new one with: sketchhash data split"
            )
        asking, held_out = set(self.query_sketches), set(self.held_out_photos)
        unseen = {dataset.categories.index(category) for category in self.unseen_categories}
        restricted = bool(held_out or unseen)
        gallery = tuple(p for p in dataset.photos if not restricted or p.id in held_out or p.label in unseen)
        searchable = {photo.label for photo in gallery}
        return Partition(
            categories=dataset.categories,
            training_sketches=tuple(s for s in dataset.sketches if s.id not in asking and s.label not in unseen),
            training_photos=tuple(p for p in dataset.photos if p.id not in held_out and p.label not in unseen),
            queries=tuple(s for s in dataset.sketches if s.id in asking and s.label in searchable),
            gallery=gallery,
        )

    def write(self, path: Path) -> None:
        """Write the split and its hash as JSON; an existing file is replaced at once or not at all."""
        document = {"format": _FORMAT, "hash": self.hash, **asdict(self)}
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        try:
            with replacing(path) as file:
                file.write(text.encode())
        except OSError as problem:
            raise SplitProblem(f"{path} cannot be written: {problem.strerror}.") from problem

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a split file, refusing one that was changed after it was written."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            format_, stored = document.pop("format"), document.pop("hash")
            split = cls(**{key: _frozen(value) for key, value in document.items()})
        except OSError as problem:
            raise SplitProblem(f"{path} cannot be read: {problem.strerror}.") from problem
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise SplitProblem(f"{path} is not a split file. Draw one with: sketchhash data split") from problem
        if format_ != _FORMAT:
            raise SplitProblem(f"{path} has format {format_}; this version reads format {_FORMAT}.")
        if split.hash != stored:
            raise SplitProblem(f"{path} was changed after it was written: its hash does not fit its content.")
        return split


def draw_split(dataset: Dataset, queries: int = 10, seed: int = 0, unseen_photos: float = 0.0) -> Split:
    """Draw the paper's split; ``unseen_photos`` > 0 also keeps that share of each category's photos out.

    The photos kept out do not change which sketches ask: both kinds of run have the same queries.
    """
    if queries < 1:
        raise BadArgument(f"A category needs at least 1 query sketch, not {queries}.")
    if not 0 <= unseen_photos < 1:
        raise BadArgument(f"The share of unseen photos lies between 0 and 1, not {unseen_photos}.")
    sketches = _by_category(dataset.sketches, len(dataset.categories))
    poor = [dataset.categories[label] for label, items in enumerate(sketches) if 0 < len(items) <= queries]
    if poor:
        raise SplitProblem(
            f"{queries} queries leave no sketch to train on in: {', '.join(poor)}. Ask fewer with --queries."
        )
    asking = _draw(sketches, [queries if items else 0 for items in sketches], np.random.default_rng([seed, 0]))
    photos = _by_category(dataset.photos, len(dataset.categories))
    shares = [round(unseen_photos * len(items)) for items in photos]
    held_out = _draw(photos, shares, np.random.default_rng([seed, 1]))
    return Split(dataset.name, inventory_hash(dataset), seed, queries, unseen_photos, asking, held_out)


def draw_zero_shot_split(dataset: Dataset, unseen_categories: Iterable[str]) -> Split:
    """Keep whole categories out of training: all their sketches ask, and their photos are the gallery."""
    spelling = {fold(category): category for category in dataset.categories}
    wanted = list(unseen_categories)
    strangers = [category for category in wanted if fold(category) not in spelling]
    if strangers:
        raise SplitProblem(f"{dataset.name} has no category {', '.join(map(repr, strangers))}.")
    unseen = tuple(sorted({spelling[fold(category)] for category in wanted}))
    if not unseen or len(unseen) == len(dataset.categories):
        raise SplitProblem("A zero-shot split needs at least one unseen category and one seen category.")
    labels = {dataset.categories.index(category) for category in unseen}
    asking = tuple(sketch.id for sketch in dataset.sketches if sketch.label in labels)
    return replace(Split(dataset.name, inventory_hash(dataset), 0, 0, 0.0, asking), unseen_categories=unseen)


def inventory_hash(dataset: Dataset) -> str:
    """Hash the names of everything in a dataset: categories, and ids with their categories."""
    digest = hashlib.sha256()
    for kind in (dataset.categories, _lines(dataset.sketches), _lines(dataset.photos)):
        digest.update("\n".join(kind).encode() + b"\0")
    return digest.hexdigest()


def _frozen(value: Any) -> Any:  # noqa: ANN401 - whatever JSON held; the hash proves it is what was written
    return tuple(value) if isinstance(value, list) else value


def _lines(items: Sequence[Item]) -> Iterable[str]:
    return (f"{item.label}\t{item.id}" for item in items)


def _by_category(items: Sequence[Item], categories: int) -> list[list[Item]]:
    groups: list[list[Item]] = [[] for _ in range(categories)]
    for item in items:
        groups[item.label].append(item)
    return groups


def _draw(groups: list[list[Item]], sizes: list[int], rng: np.random.Generator) -> tuple[str, ...]:
    drawn = (
        items[row].id for items, size in zip(groups, sizes, strict=True) for row in rng.permutation(len(items))[:size]
    )
    return tuple(sorted(drawn))
