"""Check a dataset before training on it: counts, unreadable files, a contact sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.dataset import Dataset, Item, photo_pixels, sketch_ink
from sketchhash.errors import DatasetProblem, SketchHashError
from sketchhash.imaging import contact_sheet as paint
from sketchhash.imaging import fit_square

# Large photos are decoded at reduced scale where the format allows it: every byte is still read.
_LONGEST = 256
_CELL = 96


@dataclass(frozen=True)
class CategoryCount:
    """The readable items of one category."""

    category: str
    sketches: int
    photos: int


@dataclass(frozen=True)
class DatasetReport:
    """What a check found; ``unreadable`` and ``remarks`` name files and folders."""

    dataset: str
    counts: tuple[CategoryCount, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def sketches(self) -> int:
        """Return the number of readable sketches."""
        return sum(count.sketches for count in self.counts)

    @property
    def photos(self) -> int:
        """Return the number of readable photos."""
        return sum(count.photos for count in self.counts)

    @property
    def sketches_without_photos(self) -> tuple[str, ...]:
        """Return the categories that have sketches and no photos."""
        return tuple(count.category for count in self.counts if count.sketches and not count.photos)

    @property
    def photos_without_sketches(self) -> tuple[str, ...]:
        """Return the categories that have photos and no sketches."""
        return tuple(count.category for count in self.counts if count.photos and not count.sketches)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the categories of a published list that have neither."""
        return tuple(count.category for count in self.counts if not count.photos and not count.sketches)

    @property
    def complete_categories(self) -> int:
        """Return the number of categories with both sketches and photos."""
        return sum(1 for count in self.counts if count.sketches and count.photos)

    @property
    def why_unusable(self) -> str | None:
        """Return why nothing can be trained or measured with this dataset, or None if it can."""
        if not self.sketches:
            return "it has no readable sketch; give it as --photos of a dataset that has sketches"
        if not self.photos:
            return "it has no readable photo; add photos, or give a photo dataset with --photos"
        if self.complete_categories < 2:
            return "fewer than two categories have both sketches and photos"
        return None


def check(dataset: Dataset, decode: bool = True, advance: Callable[[], None] = lambda: None) -> DatasetReport:
    """Count the items of every category; with ``decode``, open every picture and call ``advance`` after each."""
    unreadable = _unreadable(dataset, advance) if decode else {}
    counts = [
        Counter(item.label for item in items if (kind, item.id) not in unreadable)
        for kind, items in (("sketch", dataset.sketches), ("photo", dataset.photos))
    ]
    return DatasetReport(
        dataset=dataset.name,
        counts=tuple(
            CategoryCount(category, counts[0][label], counts[1][label])
            for label, category in enumerate(dataset.categories)
        ),
        unreadable=tuple(unreadable.values()),
        remarks=dataset.remarks,
    )


def contact_sheet(dataset: Dataset, each: int) -> NDArray[np.uint8]:
    """Paint one row for each category that has both: ``each`` sketches, then ``each`` photos."""
    rows: list[list[NDArray[np.uint8]]] = []
    captions: list[str] = []
    for label, category in enumerate(dataset.categories):
        sketches = list(islice((s for s in dataset.sketches if s.label == label), each))
        photos = list(islice((p for p in dataset.photos if p.label == label), each))
        if sketches and photos:
            captions.append(category)
            rows.append(
                [sketch_ink(sketch, _CELL) for sketch in sketches]
                + [fit_square(photo_pixels(photo, longest=2 * _CELL), _CELL) for photo in photos]
            )
    if not rows:
        raise DatasetProblem(f"{dataset.name} has no category with both sketches and photos to show.")
    return _in_columns(rows, captions)


def _unreadable(dataset: Dataset, advance: Callable[[], None]) -> dict[tuple[str, str], str]:
    def problem(kind: str, item: Item) -> str | None:
        try:
            if kind == "photo":
                photo_pixels(item, longest=_LONGEST)
            else:
                sketch_ink(item, size=64)
        except SketchHashError as error:
            return str(error)
        return None

    kinds: Sequence[tuple[str, Item]] = [("sketch", s) for s in dataset.sketches] + [
        ("photo", p) for p in dataset.photos
    ]
    found: dict[tuple[str, str], str] = {}
    with ThreadPoolExecutor() as pool:
        for (kind, item), text in zip(kinds, pool.map(lambda pair: problem(*pair), kinds), strict=True):
            advance()
            if text is not None:
                found[kind, item.id] = text
    return found


def _in_columns(rows: list[list[NDArray[np.uint8]]], captions: list[str]) -> NDArray[np.uint8]:
    """Set the rows in columns, so that many categories still make a picture about as wide as high."""
    count = max(1, round((len(rows) / max(len(row) for row in rows)) ** 0.5))
    length = -(-len(rows) // count)
    starts = range(0, len(rows), length)
    columns = [paint(rows[start : start + length], captions[start : start + length], _CELL) for start in starts]
    height = max(len(column) for column in columns)
    padded = [
        np.pad(column, ((0, height - len(column)), (0, _CELL // 4), (0, 0)), constant_values=255) for column in columns
    ]
    return np.concatenate(padded, axis=1)
