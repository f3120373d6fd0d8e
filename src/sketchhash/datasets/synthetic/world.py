"""The synthetic world as a dataset, in memory or as folders of files.

Every item is made when it is read, from its own seed.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.datasets.dataset import Dataset, Item, photo_pixels, sketch_ink
from sketchhash.datasets.synthetic.catalogue import CATEGORIES, find
from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.datasets.synthetic.sketches import draw_sketch
from sketchhash.errors import BadArgument
from sketchhash.imaging.ink import Drawing

# Ids have four digits, so that they sort as numbers do.
_MOST_PER_CATEGORY = 10_000

_JPEG_QUALITY = 92


@dataclass(frozen=True, slots=True)
class SyntheticSketch:
    """A sketch that has not been drawn yet."""

    category: str
    number: int
    seed: int

    def read(self) -> Drawing:
        """Draw the sketch: always the same strokes."""
        return draw_sketch(self.category, _rng(self.seed, _Kind.SKETCH, self.category, self.number))


@dataclass(frozen=True, slots=True)
class SyntheticPhoto:
    """A photo that has not been rendered yet."""

    category: str
    number: int
    seed: int
    size: int

    def read(self) -> NDArray[np.uint8]:
        """Render the photo ``(size, size, 3)``: always the same pixels."""
        return render_photo(self.category, _rng(self.seed, _Kind.PHOTO, self.category, self.number), self.size)


def load(
    sketches_per_category: int = 80,
    photos_per_category: int = 80,
    seed: int = 0,
    categories: Sequence[str] = CATEGORIES,
    size: int = 224,
) -> Dataset:
    """Return a dataset that needs no files.

    An item depends on the seed, its category's name and its number alone: with more items or other categories it
    stays the same.

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


def write(folder: Path, dataset: Dataset, size: int = 224, workers: int | None = None) -> Iterator[int]:
    """Write every item and yield, after each file, how many are written; nothing happens before the first.

    Args:
        folder: Made if need be; files of the same names are replaced.
        dataset: What to write. The last part of an item's id becomes the name of its file.
        size: Pixels along a side of a sketch; photos keep their own size.
        workers: Processes to share the work, by default one a core. One means this process. More are started
            afresh, so a script that calls this needs the usual ``if __name__ == "__main__"``.
    """
    jobs = [
        (folder / kind / dataset.categories[item.label] / f"{item.id.rpartition('/')[2]}{suffix}", item, size)
        for kind, suffix, items in (
            ("sketches", ".png", dataset.sketches),
            ("photos", ".jpg", dataset.photos),
        )
        for item in items
    ]
    for parent in sorted({path.parent for path, _, _ in jobs}):
        parent.mkdir(parents=True, exist_ok=True)
    workers = workers or os.cpu_count() or 1
    if workers == 1:
        for done, job in enumerate(jobs, start=1):
            _write_one(job)
            yield done
        return
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        for done, _ in enumerate(pool.map(_write_one, jobs, chunksize=16), start=1):
            yield done
    finally:
        pool.shutdown(cancel_futures=True)


class _Kind(IntEnum):
    SKETCH = 0
    PHOTO = 1


def _id(category: str, number: int) -> str:
    return f"synthetic/{category}/{number:04d}"


def _rng(seed: int, kind: _Kind, category: str, number: int) -> np.random.Generator:
    name = int.from_bytes(category.encode(), "big")
    return np.random.default_rng(np.random.SeedSequence((seed, kind, name, number)))


def _write_one(job: tuple[Path, Item, int]) -> None:
    path, item, size = job
    if path.suffix == ".png":
        Image.fromarray(sketch_ink(item, size)).save(path)
    else:
        Image.fromarray(photo_pixels(item)).save(path, quality=_JPEG_QUALITY)
