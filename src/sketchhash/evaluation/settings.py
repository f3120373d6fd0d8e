"""Settings in which a model is evaluated: which sketches search which photos.

With the split of its training, no query sketch was trained on, and

- *seen photos* were trained on, as in the paper;
- *unseen photos* are of trained categories, and were kept out;
- *unseen categories* were kept out with all their sketches and photos;
- *another collection* was not part of the data at all.

The sketches of each collection search the photos of each collection separately: collections differ in how people draw
and photograph, and a mean over all would hide it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sketchhash.datasets import Dataset, Item, Split, collection, join
from sketchhash.datasets.names import meaning
from sketchhash.errors import BadArgument


class SettingKind(StrEnum):
    """Which photos a setting searches, and whether the model was trained on them."""

    SEEN_PHOTOS = "seen photos"
    UNSEEN_PHOTOS = "unseen photos"
    UNSEEN_CATEGORIES = "unseen categories"
    ALL_PHOTOS = "all photos"
    OTHER_COLLECTION = "another collection"


@dataclass(frozen=True)
class Setting:
    """Sketches of one collection that search photos of one collection; ids are unique across all settings.

    Every query has a photo of its category in the gallery: for others nothing could be found.
    """

    kind: SettingKind
    sketches: str
    photos: str
    queries: tuple[Item, ...]
    gallery: tuple[Item, ...]

    @property
    def title(self) -> str:
        """The name of the setting in tables."""
        return f"{self.sketches} → {self.photos}, {self.kind}"


@dataclass(frozen=True)
class PhotoLimit:
    """The largest number of photos a category to search, and the seed that draws them."""

    photos: int
    seed: int = 0


class EvaluationData:
    """The datasets a model is evaluated on, joined, and the split that says what it was trained on."""

    def __init__(self, collections: Sequence[Dataset], split: Split | None, limit: PhotoLimit | None = None) -> None:
        """Join the collections; raise if the split was drawn from other data."""
        self.whole, self._split, self._limit = join(collections), split, limit
        self._names = [dataset.name for dataset in collections]
        if split is not None:
            split.apply(self.whole)

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the categories by label."""
        return self.whole.categories

    def settings(self, searched: Iterable[Dataset] = ()) -> list[Setting]:
        """List the settings that have sketches and photos, also those that search the photos of other datasets."""
        others = list(searched)
        names = [*self._names, *(dataset.name for dataset in others)]
        if twice := {name for name in names if names.count(name) > 1}:
            raise BadArgument(f"{', '.join(sorted(twice))} is given twice. Leave one out, or rename its folder.")
        own = (setting for pool in self._pools() for setting in self._crossed(*pool))
        return [*own, *(setting for dataset in others for setting in self._across(dataset))]

    def _pools(self) -> Iterator[tuple[SettingKind, list[Item], list[Item]]]:
        """Yield query sketches and the photos they search, of all collections together."""
        queries, photos = self._queries(), list(self.whole.photos)
        if self._split is None:
            yield SettingKind.ALL_PHOTOS, queries, photos
            return
        unseen = {self.whole.categories.index(category) for category in self._split.unseen_categories}
        held_out = set(self._split.held_out_photos)
        unseen_sketches, unseen_photos = ([i for i in items if i.label in unseen] for items in (queries, photos))
        sketches, trained = ([i for i in items if i.label not in unseen] for items in (queries, photos))
        yield SettingKind.SEEN_PHOTOS, sketches, [photo for photo in trained if photo.id not in held_out]
        yield SettingKind.UNSEEN_PHOTOS, sketches, [photo for photo in trained if photo.id in held_out]
        yield SettingKind.UNSEEN_CATEGORIES, unseen_sketches, unseen_photos

    def _queries(self) -> list[Item]:
        if self._split is None:
            return list(self.whole.sketches)
        queries = set(self._split.query_sketches)
        return [sketch for sketch in self.whole.sketches if sketch.id in queries]

    def _crossed(self, kind: SettingKind, queries: Iterable[Item], photos: Iterable[Item]) -> Iterator[Setting]:
        galleries = {name: self._limited(some) for name, some in self._by_collection(photos).items()}
        for sketches, asking in self._by_collection(queries).items():
            for searched, gallery in galleries.items():
                yield from _setting(kind, sketches, searched, asking, gallery)

    def _across(self, searched: Dataset) -> Iterator[Setting]:
        """Yield settings in which the query sketches of each collection search another one, over common categories."""
        labels = {meaning(category): label for label, category in enumerate(self.whole.categories)}
        photos = [
            replace(photo, label=labels[meaning(searched.categories[photo.label])])
            for photo in searched.photos
            if meaning(searched.categories[photo.label]) in labels
        ]
        gallery = self._limited(_named(searched.name, photos))
        for sketches, queries in self._by_collection(self._queries()).items():
            drawn = {query.label for query in queries}
            both = [photo for photo in gallery if photo.label in drawn]
            yield from _setting(SettingKind.OTHER_COLLECTION, sketches, searched.name, queries, both)

    def _by_collection(self, items: Iterable[Item]) -> Mapping[str, list[Item]]:
        """Divide items by collection, and put its name into their ids."""
        if len(self._names) == 1:
            return {self.whole.name: _named(self.whole.name, items)}
        found: dict[str, list[Item]] = {name: [] for name in self._names}
        for item in items:
            found[collection(self.whole, item)].append(item)
        return found

    def _limited(self, photos: Sequence[Item]) -> list[Item]:
        """Draw as many photos of each category as the limit allows."""
        if self._limit is None:
            return list(photos)
        by_label: dict[int, list[Item]] = defaultdict(list)
        for photo in photos:
            by_label[photo.label].append(photo)
        rng = np.random.default_rng(self._limit.seed)
        return [
            members[row]
            for _, members in sorted(by_label.items())
            for row in sorted(rng.permutation(len(members))[: self._limit.photos].tolist())
        ]


def _named(name: str, items: Iterable[Item]) -> list[Item]:
    return [replace(item, id=f"{name}: {item.id}") for item in items]


def _setting(
    kind: SettingKind, sketches: str, photos: str, asking: Iterable[Item], gallery: Sequence[Item]
) -> Iterator[Setting]:
    searchable = {photo.label for photo in gallery}
    queries = tuple(sketch for sketch in asking if sketch.label in searchable)
    if queries:
        yield Setting(kind, sketches, photos, queries, tuple(gallery))
