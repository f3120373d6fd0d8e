"""The table of datasets, how each is laid out on disk and loaded; `open_dataset` recognises them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sketchhash.datasets.cifar10 import is_cifar10, load_cifar10
from sketchhash.datasets.dataset import Dataset, pair
from sketchhash.datasets.folders import (
    is_folder_pair,
    is_photo_folders,
    is_sketchy,
    is_tuberlin,
    load_folder_pair,
    load_photo_folders,
    load_sketchy,
    load_tuberlin,
)
from sketchhash.datasets.quickdraw import is_quickdraw, load_quickdraw
from sketchhash.datasets.stamps import is_stamps, load_stamps
from sketchhash.datasets.synthetic import load as load_synthetic
from sketchhash.errors import DatasetProblem

SYNTHETIC = "synthetic"


@dataclass(frozen=True)
class Layout:
    """One way a dataset is laid out on disk."""

    name: str
    expected: str
    matches: Callable[[Path], bool]
    load: Callable[[Path], Dataset]


LAYOUTS = (
    Layout("TU-Berlin Extension", "png/<category>/ and ImageResized/<category>/", is_tuberlin, load_tuberlin),
    Layout(
        "Sketchy Extension",
        "256x256/sketch/tx_000000000000/<category>/ and EXTEND_image_sketchy/<category>/",
        is_sketchy,
        load_sketchy,
    ),
    Layout(
        "Quick, Draw!",
        "<category>.ndjson, or src/drawings/<category>.ndjson.gz",
        is_quickdraw,
        load_quickdraw,
    ),
    Layout("CIFAR-10", "data_batch_1.png … test_batch.png and their labels", is_cifar10, load_cifar10),
    Layout(
        "two folders",
        "sketches/<category>/, photos/<category>/ or both",
        is_folder_pair,
        load_folder_pair,
    ),
    Layout("Tux Paint stamps", "stamps/<group>/<name>.png with <name>.txt beside it", is_stamps, load_stamps),
    Layout("photos alone", "<category>/, at least two of them with pictures", is_photo_folders, load_photo_folders),
)


def open_dataset(source: str | Path, photos: str | Path | None = None) -> Dataset:
    """Open a dataset folder, or ``"synthetic"``; with ``photos``, the photos of another one."""
    dataset = _open(source)
    return dataset if photos is None else pair(dataset, _open(photos))


def as_datasets(data: Dataset | str | Path | Sequence[Dataset]) -> Sequence[Dataset]:
    """Return a list of datasets: the dataset itself, the one in a folder (or ``"synthetic"``), or those given."""
    match data:
        case Dataset():
            return [data]
        case Path() | str():
            return [open_dataset(Path(data).expanduser())]
        case _:
            return data


def _open(source: str | Path) -> Dataset:
    if str(source) == SYNTHETIC:
        return load_synthetic()
    root = Path(source)
    if not root.is_dir():
        raise DatasetProblem(f"{root} is not a folder. Give a dataset's folder, or the word {SYNTHETIC!r}.")
    for layout in LAYOUTS:
        if layout.matches(root):
            return layout.load(root)
    shapes = "\n".join(f"  {layout.name}: {layout.expected}" for layout in LAYOUTS)
    raise DatasetProblem(f"{root} does not look like a dataset. Expected in it one of\n{shapes}")
