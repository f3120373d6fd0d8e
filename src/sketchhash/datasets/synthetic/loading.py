"""The synthetic world as a dataset: every item is made when it is read, from its own seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.items import Dataset, Item
from sketchhash.datasets.synthetic.catalogue import CATEGORIES, find
from sketchhash.datasets.synthetic.photographer import render_photo
from sketchhash.datasets.synthetic.sketcher import draw_sketch
from sketchhash.errors import BadArgument
from sketchhash.imaging.strokes import Drawing

# Ids have four digits, so that they sort as numbers do.
_MOST_PER_CATEGORY = 10_000


class _Kind(IntEnum):
    SKETCH = 0
    PHOTO = 1


@dataclass(frozen=True, slots=True)
class SyntheticSketch:
    """A sketch that has not been drawn yet."""

    category: str
    number: int
    seed: int

    def read(self) -> Drawing:
        """Draw it: always the same strokes."""
        return draw_sketch(self.category, _rng(self.seed, _Kind.SKETCH, self.category, self.number))


@dataclass(frozen=True, slots=True)
class SyntheticPhoto:
    """A photo that has not been taken yet."""

    category: str
    number: int
    seed: int
    size: int

    def read(self) -> NDArray[np.uint8]:
        """Take it, ``(size, size, 3)``: always the same pixels."""
        return render_photo(self.category, _rng(self.seed, _Kind.PHOTO, self.category, self.number), self.size)


def load(
    sketches_per_category: int = 80,
    photos_per_category: int = 80,
    seed: int = 0,
    categories: Sequence[str] = CATEGORIES,
    size: int = 224,
) -> Dataset:
    """Give a dataset that needs no files.

    An item depends on the seed, its category's name and its number alone: asking for more items or other
    categories leaves it as it was.

    >>> world = load(sketches_per_category=2, photos_per_category=1, categories=["cat", "apple"])
    >>> world.categories
    ('apple', 'cat')
    >>> [item.id for item in world.sketches]
    ['synthetic/apple/0000', 'synthetic/apple/0001', 'synthetic/cat/0000', 'synthetic/cat/0001']
    """
    for count in (sketches_per_category, photos_per_category):
        if not 0 <= count <= _MOST_PER_CATEGORY:
            raise BadArgument(f"A category has from 0 to {_MOST_PER_CATEGORY} items of a kind; got {count}.")
    if seed < 0:
        raise BadArgument(f"A seed is zero or more; got {seed}.")
    names = tuple(sorted({find(name).name for name in categories}))
    sketches = [
        Item(_id(name, number), label, SyntheticSketch(name, number, seed))
        for label, name in enumerate(names)
        for number in range(sketches_per_category)
    ]
    photos = [
        Item(_id(name, number), label, SyntheticPhoto(name, number, seed, size))
        for label, name in enumerate(names)
        for number in range(photos_per_category)
    ]
    return Dataset("synthetic", names, sketches, photos)


def _id(category: str, number: int) -> str:
    return f"synthetic/{category}/{number:04d}"


def _rng(seed: int, kind: _Kind, category: str, number: int) -> np.random.Generator:
    name = int.from_bytes(category.encode(), "big")
    return np.random.default_rng(np.random.SeedSequence((seed, kind, name, number)))
