"""The contract of every dataset: categories, and sketches and photos as items that are decoded when asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.imaging.strokes import Drawing


class Packed(Protocol):
    """A picture inside a larger file, read when asked: pixels ``(h, w)`` or ``(h, w, 3)``, or strokes."""

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
