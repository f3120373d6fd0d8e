"""The contract of every dataset: categories, and sketches and photos as items that are decoded on demand.

Datasets also go together. `pair` takes the sketches of one and the photos of another; `join` takes everything of
several. Joined ids are prefixed with the name of the dataset they come from, so that every item can still be told apart
and every protocol can still be drawn within one dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.names import meaning
from sketchhash.errors import BadArgument, DatasetProblem
from sketchhash.imaging import InkStyle, normalise_ink, rasterise, read_photo, read_sketch
from sketchhash.imaging.ink import Drawing

_STYLE = InkStyle()
_NUMBER = " #"
_SEPARATOR = ": "  # between the name of a dataset and the id of an item that was joined from it


class Packed(Protocol):
    """A picture inside a larger file, decoded on demand: pixels ``(h, w)`` or ``(h, w, 3)``, or strokes."""

    def read(self) -> NDArray[np.uint8] | Drawing:
        """Decode this one picture."""
        ...


@dataclass(frozen=True, slots=True)
class Item:
    """One sketch or photo.

    The id is unique and stable within its dataset and kind, and does not depend on where the dataset lies:
    splits are written in ids. The label is the row of the category in `Dataset.categories`.
    """

    id: str
    label: int
    content: Path | Drawing | Packed


@dataclass(frozen=True)
class Dataset:
    """What a loader found: items sorted by (label, id), and remarks on what it had to leave out."""

    name: str
    categories: tuple[str, ...]
    sketches: Sequence[Item]
    photos: Sequence[Item]
    remarks: tuple[str, ...] = ()


def photo_pixels(item: Item, longest: int | None = None) -> NDArray[np.uint8]:
    """Decode a photo item: ``(height, width, 3)``; a large file need not be decoded beyond ``longest``."""
    if isinstance(item.content, Path):
        return read_photo(item.content, longest=longest)
    pixels = item.content if isinstance(item.content, Drawing) else item.content.read()
    if isinstance(pixels, Drawing):
        raise DatasetProblem(f"{item.id} is a drawing, not a photo.")
    return pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def sketch_ink(item: Item, size: int, style: InkStyle = _STYLE) -> NDArray[np.uint8]:
    """Decode a sketch item to ink ``(size, size)``, whether it was stored as strokes or as a picture."""
    if isinstance(item.content, Path):
        return read_sketch(item.content, size, style)
    content = item.content if isinstance(item.content, Drawing) else item.content.read()
    return rasterise(content, size, style) if isinstance(content, Drawing) else normalise_ink(content, size, style)


def pair(sketches: Dataset, photos: Dataset) -> Dataset:
    """Combine the sketches of one dataset with the photos of another, over the categories both have.

    Categories keep the sketch dataset's spelling; what only one side has is left out, and a remark says so.
    """
    drawn, shown = _by_meaning(sketches), _by_meaning(photos)
    shared = [key for key in drawn if key in shown]
    if not shared:
        raise DatasetProblem(f"{sketches.name} and {photos.name} have no category in common.")
    new_sketch_labels = {old: new for new, key in enumerate(shared) for old in drawn[key]}
    new_photo_labels = {old: new for new, key in enumerate(shared) for old in shown[key]}
    return Dataset(
        name=f"{sketches.name} → {photos.name}",
        categories=tuple(sketches.categories[drawn[key][0]] for key in shared),
        sketches=_relabelled(sketches.sketches, new_sketch_labels),
        photos=_relabelled(photos.photos, new_photo_labels),
        remarks=(
            *sketches.remarks,
            *photos.remarks,
            f"{len(shared)} categories are in both; left out are {len(sketches.categories) - len(new_sketch_labels)} "
            f"of {sketches.name} and {len(photos.categories) - len(new_photo_labels)} of {photos.name}",
        ),
    )


def join(datasets: Sequence[Dataset]) -> Dataset:
    """Join datasets over all their categories; a single dataset is returned as it is.

    A category with several names takes the name of the first dataset that has it.
    """
    if len(datasets) == 1:
        return datasets[0]
    datasets = named_apart(datasets)
    spelling: dict[str, str] = {}
    for dataset in datasets:
        for category in dataset.categories:
            spelling.setdefault(meaning(category), category)
    categories = tuple(sorted(spelling.values()))
    labels = {category: label for label, category in enumerate(categories)}

    def joined(kind: str) -> tuple[Item, ...]:
        items = (
            replace(
                item, id=joined_id(dataset, item.id), label=labels[spelling[meaning(dataset.categories[item.label])]]
            )
            for dataset in datasets
            for item in getattr(dataset, kind)
        )
        return tuple(sorted(items, key=lambda item: (item.label, item.id)))

    return Dataset(
        name=" + ".join(dataset.name for dataset in datasets),
        categories=categories,
        sketches=joined("sketches"),
        photos=joined("photos"),
        remarks=tuple(remark for dataset in datasets for remark in dataset.remarks),
    )


def named_apart(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Number the datasets whose name an earlier one has, such as two parts of Quick, Draw!.

    Raises:
        BadArgument: If a dataset is given twice.
    """
    apart: list[Dataset] = []
    for dataset in datasets:
        alike = [other for other in apart if other.name.partition(_NUMBER)[0] == dataset.name]
        if any(_items_of(other) == _items_of(dataset) for other in alike):
            raise BadArgument(f"{dataset.name} is given twice. Give each dataset to join once.")
        apart.append(replace(dataset, name=f"{dataset.name}{_NUMBER}{len(alike) + 1}") if alike else dataset)
    return apart


def joined_id(dataset: Dataset, item_id: str) -> str:
    """Return the id that an item of ``dataset`` has among joined datasets, which are `named_apart`."""
    return f"{dataset.name}{_SEPARATOR}{item_id}"


def collection(dataset: Dataset, item: Item) -> str:
    """Return the name of the dataset that an item of a joined dataset comes from."""
    name, separator, _ = item.id.partition(_SEPARATOR)
    return name if separator else dataset.name


def _items_of(dataset: Dataset) -> tuple[list[Item], list[Item]]:
    return list(dataset.sketches), list(dataset.photos)


def _by_meaning(dataset: Dataset) -> dict[str, list[int]]:
    """Group the labels of categories that mean the same, such as *ship* and *cruise ship*."""
    labels: dict[str, list[int]] = {}
    for label, category in enumerate(dataset.categories):
        labels.setdefault(meaning(category), []).append(label)
    return labels


def _relabelled(items: Sequence[Item], labels: dict[int, int]) -> tuple[Item, ...]:
    kept = (replace(item, label=labels[item.label]) for item in items if item.label in labels)
    return tuple(sorted(kept, key=lambda item: (item.label, item.id)))
