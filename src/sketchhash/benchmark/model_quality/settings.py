"""Who asks and what is searched: the settings that a model is judged in.

With the split of its training, the sketches that ask were never trained on, and

- *seen photos* were trained on, as in the paper;
- *unseen photos* are of trained categories, and were kept out;
- *unseen categories* were kept out with all their sketches and photos;
- *another collection* was not part of the data at all.

Sketches of each collection search the photos of each collection apart: people who draw and photograph differently make
the difference that a mean would hide.
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


class Kind(StrEnum):
    """What the photos of a setting are to the model."""

    SEEN_PHOTOS = "seen photos"
    UNSEEN_PHOTOS = "unseen photos"
    UNSEEN_CATEGORIES = "unseen categories"
    ALL_PHOTOS = "all photos"
    OTHER_COLLECTION = "another collection"


@dataclass(frozen=True)
class Setting:
    """Sketches of one collection that search photos of one; ids are unique across all settings.

    Every query has a photo of its category in the gallery: for others nothing could be found.
    """

    kind: Kind
    sketches: str
    photos: str
    queries: tuple[Item, ...]
    gallery: tuple[Item, ...]

    @property
    def title(self) -> str:
        """Name the setting as tables do."""
        return f"{self.sketches} → {self.photos}, {self.kind}"


@dataclass(frozen=True)
class Most:
    """The most photos a category to search, and the seed that draws them."""

    photos: int
    seed: int = 0


class Material:
    """The data of a model's training as one dataset, and the split that says what was trained on."""

    def __init__(self, collections: Sequence[Dataset], split: Split | None, most: Most | None = None) -> None:
        """Join the collections; a split that was drawn from other data is refused."""
        self.whole, self._split, self._most = join(collections), split, most
        self._names = [dataset.name for dataset in collections]
        if split is not None:
            split.apply(self.whole)

    @property
    def categories(self) -> tuple[str, ...]:
        """Name the categories by label, also those of other collections' settings."""
        return self.whole.categories

    def settings(self, searched: Iterable[Dataset] = ()) -> list[Setting]:
        """List the settings that have sketches and photos, and those of other collections to be ``searched``."""
        others = list(searched)
        names = [*self._names, *(dataset.name for dataset in others)]
        if twice := {name for name in names if names.count(name) > 1}:
            raise BadArgument(f"{', '.join(sorted(twice))} is given twice. Leave one out, or rename its folder.")
        own = (setting for pool in self._pools() for setting in self._crossed(*pool))
        return [*own, *(setting for dataset in others for setting in self._across(dataset))]

    def _pools(self) -> Iterator[tuple[Kind, list[Item], list[Item]]]:
        """Give who asks for whom, of all collections together."""
        asking, photos = self._asking(), list(self.whole.photos)
        if self._split is None:
            yield Kind.ALL_PHOTOS, asking, photos
            return
        unseen = {self.whole.categories.index(category) for category in self._split.unseen_categories}
        held_out = set(self._split.held_out_photos)
        strange_sketches, strange_photos = ([i for i in items if i.label in unseen] for items in (asking, photos))
        known_sketches, known_photos = ([i for i in items if i.label not in unseen] for items in (asking, photos))
        yield Kind.SEEN_PHOTOS, known_sketches, [photo for photo in known_photos if photo.id not in held_out]
        yield Kind.UNSEEN_PHOTOS, known_sketches, [photo for photo in known_photos if photo.id in held_out]
        yield Kind.UNSEEN_CATEGORIES, strange_sketches, strange_photos

    def _asking(self) -> list[Item]:
        if self._split is None:
            return list(self.whole.sketches)
        asking = set(self._split.query_sketches)
        return [sketch for sketch in self.whole.sketches if sketch.id in asking]

    def _crossed(self, kind: Kind, asking: Iterable[Item], shown: Iterable[Item]) -> Iterator[Setting]:
        galleries = {name: self._drawn(photos) for name, photos in self._by_collection(shown).items()}
        for sketches, queries in self._by_collection(asking).items():
            for photos, gallery in galleries.items():
                yield from _setting(kind, sketches, photos, queries, gallery)

    def _across(self, searched: Dataset) -> Iterator[Setting]:
        """Let the query sketches of each collection search another one, over the categories both have."""
        labels = {meaning(category): label for label, category in enumerate(self.whole.categories)}
        photos = [
            replace(photo, label=labels[meaning(searched.categories[photo.label])])
            for photo in searched.photos
            if meaning(searched.categories[photo.label]) in labels
        ]
        gallery = self._drawn(_named(searched.name, photos))
        for sketches, queries in self._by_collection(self._asking()).items():
            drawn = {query.label for query in queries}
            both = [photo for photo in gallery if photo.label in drawn]
            yield from _setting(Kind.OTHER_COLLECTION, sketches, searched.name, queries, both)

    def _by_collection(self, items: Iterable[Item]) -> Mapping[str, list[Item]]:
        """Divide items by where they come from, and put that into their ids."""
        if len(self._names) == 1:
            return {self.whole.name: _named(self.whole.name, items)}
        found: dict[str, list[Item]] = {name: [] for name in self._names}
        for item in items:
            found[collection(self.whole, item)].append(item)
        return found

    def _drawn(self, photos: Sequence[Item]) -> list[Item]:
        """Draw the most photos of each category that are wanted."""
        if self._most is None:
            return list(photos)
        by_label: dict[int, list[Item]] = defaultdict(list)
        for photo in photos:
            by_label[photo.label].append(photo)
        rng = np.random.default_rng(self._most.seed)
        return [
            members[row]
            for _, members in sorted(by_label.items())
            for row in sorted(rng.permutation(len(members))[: self._most.photos].tolist())
        ]


def _named(name: str, items: Iterable[Item]) -> list[Item]:
    return [replace(item, id=f"{name}: {item.id}") for item in items]


def _setting(
    kind: Kind, sketches: str, photos: str, asking: Iterable[Item], gallery: Sequence[Item]
) -> Iterator[Setting]:
    searchable = {photo.label for photo in gallery}
    queries = tuple(sketch for sketch in asking if sketch.label in searchable)
    if queries:
        yield Setting(kind, sketches, photos, queries, tuple(gallery))
