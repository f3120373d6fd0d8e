"""Divide a dataset into training items, queries and gallery: the paper's protocol (section 4.1) and two stricter ones.

- *paper*: q query sketches a category; all other sketches and **all** photos train; all photos are the
  gallery.
- *unseen photos*: a share of each category's photos is kept out of training, and is the whole gallery.
- *zero-shot*: whole categories are kept out of training; their sketches are the queries, their photos the gallery.

Each may also have a *validation* part, for choices made before anything is reported: sketches and photos of the
trained categories that are neither trained on, nor among the queries, nor in the gallery. It is drawn from what the
queries and the held-out photos leave over, so the same queries are reported with and without it.

A split is a small value written to a file with two hashes: of the dataset it was drawn from, and of itself.
Only `Split.apply` makes a `Partition`, and it trains on what the split does not name, so a query sketch in the
training set cannot be expressed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from sketchhash.datasets.dataset import Dataset, Item, join, joined_id, named_apart
from sketchhash.datasets.names import fold, meaning
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.files import replacing

# Splits without a validation part are still written in format 1, so their files and hashes stay what they were.
_PLAIN_FORMAT, _VALIDATION_FORMAT = 1, 2
_VALIDATION_FIELDS = ("validation_per_category", "validation_sketches", "validation_photos")

# At most one in so many of the items that would train is set aside for validation: thin categories keep theirs.
_ITEMS_PER_VALIDATION_ITEM = 5


@dataclass(frozen=True)
class Partition:
    """A dataset divided by a split; the parts used for validation are empty unless the split has them."""

    categories: tuple[str, ...]
    training_sketches: tuple[Item, ...]
    training_photos: tuple[Item, ...]
    queries: tuple[Item, ...]
    gallery: tuple[Item, ...]
    validation_queries: tuple[Item, ...] = ()
    validation_gallery: tuple[Item, ...] = ()


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
    validation_per_category: int = 0
    validation_sketches: tuple[str, ...] = ()
    validation_photos: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """Identify this split: two runs are comparable when their splits' hashes are equal."""
        return hashlib.sha256(json.dumps(self._fields(), sort_keys=True).encode()).hexdigest()

    @property
    def has_validation(self) -> bool:
        """Return whether anything is set aside for validation."""
        return any(getattr(self, name) for name in _VALIDATION_FIELDS)

    def apply(self, dataset: Dataset) -> Partition:
        """Divide the dataset that this split was drawn from.

        Query sketches of categories without a photo in the gallery are kept out of training but are not queries:
        nothing could be found for them. The same holds for validation.
        """
        if inventory_hash(dataset) != self.inventory:
            raise SplitProblem(
                f"This split was drawn from another state of {self.dataset}: files were added, removed or "
                f"renamed in {dataset.name}. Draw a new one with: sketchhash data split"
            )
        queries, held_out = set(self.query_sketches), set(self.held_out_photos)
        aside_sketches, aside_photos = set(self.validation_sketches), set(self.validation_photos)
        unseen = {dataset.categories.index(category) for category in self.unseen_categories}
        restricted = bool(held_out or unseen)
        gallery = tuple(
            photo
            for photo in dataset.photos
            if photo.id not in aside_photos and (not restricted or photo.id in held_out or photo.label in unseen)
        )
        validation_gallery = tuple(photo for photo in dataset.photos if photo.id in aside_photos)
        return Partition(
            categories=dataset.categories,
            training_sketches=_remaining(dataset.sketches, queries | aside_sketches, unseen),
            training_photos=_remaining(dataset.photos, held_out | aside_photos, unseen),
            queries=_findable(dataset.sketches, queries, gallery),
            gallery=gallery,
            validation_queries=_findable(dataset.sketches, aside_sketches, validation_gallery),
            validation_gallery=validation_gallery,
        )

    def write(self, path: Path) -> None:
        """Write the split and its hash as JSON; an existing file is replaced at once or not at all."""
        format_ = _VALIDATION_FORMAT if self.has_validation else _PLAIN_FORMAT
        document = {"format": format_, "hash": self.hash, **self._fields()}
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
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
            raise SplitProblem(f"{path} is not a split file. Draw one with: sketchhash data split") from problem
        if format_ not in (_PLAIN_FORMAT, _VALIDATION_FORMAT):
            raise SplitProblem(f"{path} has format {format_}; this version reads up to format {_VALIDATION_FORMAT}.")
        if split.hash != stored:
            raise SplitProblem(f"{path} was changed after it was written: its hash does not fit its content.")
        return split

    def _fields(self) -> dict[str, Any]:
        fields = asdict(self)
        return {name: fields[name] for name in fields if self.has_validation or name not in _VALIDATION_FIELDS}


def draw_split(
    dataset: Dataset, queries: int = 10, seed: int = 0, unseen_photos: float = 0.0, validation: int = 0
) -> Split:
    """Draw the paper's split, or one of unseen photos; neither setting changes which sketches are queries.

    Args:
        dataset: What to divide.
        queries: Query sketches a category.
        seed: Seed of the draw.
        unseen_photos: Share of each category's photos to keep out of training and to search alone.
        validation: Sketches and photos a category to set aside for validation, but at most a fifth of those that
            would train.
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
    drawn = _draw(sketches, [queries if items else 0 for items in sketches], np.random.default_rng([seed, 0]))
    photos = _by_category(dataset.photos, len(dataset.categories))
    shares = [round(unseen_photos * len(items)) for items in photos]
    held_out = _draw(photos, shares, np.random.default_rng([seed, 1]))
    split = Split(dataset.name, inventory_hash(dataset), seed, queries, unseen_photos, drawn, held_out)
    return with_validation(split, dataset, validation)


def draw_zero_shot_split(
    dataset: Dataset, unseen_categories: Iterable[str], seed: int = 0, validation: int = 0
) -> Split:
    """Keep whole categories out of training: all their sketches are queries, and their photos are the gallery.

    The seed matters to validation alone, which is drawn from the other categories as `draw_split` does.
    """
    spelling = {fold(category): category for category in dataset.categories}
    wanted = list(unseen_categories)
    unknown = [category for category in wanted if fold(category) not in spelling]
    if unknown:
        raise SplitProblem(f"{dataset.name} has no category {', '.join(map(repr, unknown))}.")
    unseen = tuple(sorted({spelling[fold(category)] for category in wanted}))
    if not unseen or len(unseen) == len(dataset.categories):
        raise SplitProblem("A zero-shot split needs at least one unseen category and one seen category.")
    labels = {dataset.categories.index(category) for category in unseen}
    queries = tuple(sketch.id for sketch in dataset.sketches if sketch.label in labels)
    split = Split(dataset.name, inventory_hash(dataset), seed if validation else 0, 0, 0.0, queries, (), unseen)
    return with_validation(split, dataset, validation)


def draw_joined_split(
    datasets: Sequence[Dataset],
    queries: int = 10,
    seed: int = 0,
    unseen_photos: float = 0.0,
    unseen_categories: Iterable[str] = (),
    validation: int = 0,
) -> Split:
    """Draw a split of joined datasets: within each as `draw_split` does, keeping some categories out in all.

    A category that has too few sketches in one of several datasets gives no queries there: all of them train.
    """
    datasets = named_apart(datasets)
    whole = join(datasets)
    rich = datasets if len(datasets) == 1 else [_without_poor(dataset, queries) for dataset in datasets]
    own = [draw_split(dataset, queries, seed, unseen_photos, validation) for dataset in rich]

    def named(kind: str) -> tuple[str, ...]:
        if len(datasets) == 1:
            return tuple(getattr(own[0], kind))
        pairs = zip(datasets, own, strict=True)
        return tuple(sorted(joined_id(dataset, name) for dataset, split in pairs for name in getattr(split, kind)))

    spelling = {meaning(category): category for category in whole.categories}
    wanted = list(unseen_categories)
    if unknown := [category for category in wanted if meaning(category) not in spelling]:
        raise SplitProblem(f"{whole.name} has no category {', '.join(map(repr, unknown))}.")
    unseen = tuple(sorted({spelling[meaning(category)] for category in wanted}))
    labels = {whole.categories.index(category) for category in unseen}
    seen = {
        kind: {item.id for item in items if item.label not in labels}
        for kind, items in (("validation_sketches", whole.sketches), ("validation_photos", whole.photos))
    }
    return Split(
        whole.name,
        inventory_hash(whole),
        seed,
        queries,
        unseen_photos,
        named("query_sketches"),
        named("held_out_photos"),
        unseen,
        validation,
        tuple(name for name in named("validation_sketches") if name in seen["validation_sketches"]),
        tuple(name for name in named("validation_photos") if name in seen["validation_photos"]),
    )


def halve_queries(split: Split) -> tuple[Split, Split]:
    """Return two splits that keep the same out of training: each asks with one half of the query sketches.

    Choices are made with the second, and the first is reported. Sketches are divided by a hash of their ids, so the
    choice does not depend on other sketches.
    """
    if split.has_validation:
        raise BadArgument("The queries of a split with a validation part are not divided: that part is for choices.")

    def is_reported(name: str) -> bool:
        return hashlib.sha256(name.encode()).digest()[0] % 2 == 1

    reported = tuple(name for name in split.query_sketches if is_reported(name))
    chosen_on = tuple(name for name in split.query_sketches if not is_reported(name))
    return (
        replace(split, query_sketches=reported, validation_sketches=chosen_on),
        replace(split, query_sketches=chosen_on, validation_sketches=reported),
    )


def keep_nothing_out(dataset: Dataset) -> Split:
    """Return the split by which everything trains and nothing is a query: for a model to be used, not measured."""
    return Split(dataset.name, inventory_hash(dataset), 0, 0, 0.0, ())


def with_validation(split: Split, dataset: Dataset, validation: int) -> Split:
    """Set aside some of the sketches and photos that would train, as described in `draw_split`.

    Items are taken in the order of a hash of the seed and their ids, so the choice does not depend on other
    categories or on the order of items.
    """
    if validation < 0:
        raise BadArgument(f"The items set aside for validation cannot be {validation} a category.")
    if not validation:
        return split
    parts = split.apply(dataset)
    sketches = _by_category(parts.training_sketches, len(dataset.categories))
    photos = _by_category(parts.training_photos, len(dataset.categories))
    return replace(
        split,
        validation_per_category=validation,
        validation_sketches=_first_by_hash(sketches, validation, split.seed),
        validation_photos=_first_by_hash(photos, validation, split.seed),
    )


def inventory_hash(dataset: Dataset) -> str:
    """Hash the names of everything in a dataset: categories, and ids with their categories."""
    digest = hashlib.sha256()
    for kind in (dataset.categories, _lines(dataset.sketches), _lines(dataset.photos)):
        digest.update("\n".join(kind).encode() + b"\0")
    return digest.hexdigest()


def _frozen(value: Any) -> Any:  # noqa: ANN401 - whatever JSON held; the hash proves it is what was written
    return tuple(value) if isinstance(value, list) else value


def _remaining(items: Sequence[Item], named: set[str], unseen: set[int]) -> tuple[Item, ...]:
    return tuple(item for item in items if item.id not in named and item.label not in unseen)


def _findable(sketches: Sequence[Item], named: set[str], gallery: Sequence[Item]) -> tuple[Item, ...]:
    labels = {photo.label for photo in gallery}
    return tuple(sketch for sketch in sketches if sketch.id in named and sketch.label in labels)


def _without_poor(dataset: Dataset, count: int) -> Dataset:
    """Leave out the sketches of categories that have no more than ``count``."""
    sizes = Counter(sketch.label for sketch in dataset.sketches)
    return replace(dataset, sketches=tuple(sketch for sketch in dataset.sketches if sizes[sketch.label] > count))


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


def _first_by_hash(groups: list[list[Item]], most: int, seed: int) -> tuple[str, ...]:
    def key(item: Item) -> bytes:
        return hashlib.sha256(f"{seed}\t{item.id}".encode()).digest()

    sizes = [min(most, len(items) // _ITEMS_PER_VALIDATION_ITEM) for items in groups]
    drawn = (item.id for items, size in zip(groups, sizes, strict=True) for item in sorted(items, key=key)[:size])
    return tuple(sorted(drawn))
