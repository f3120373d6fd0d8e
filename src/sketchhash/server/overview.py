"""The gallery as a whole: its numbers, its folders and its map.

Counting a million photos takes a second, so it is done only when the gallery has changed.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import unpack
from sketchhash.gallery import OpenGallery, Sample
from sketchhash.model import Calibration
from sketchhash.server.photos import common_root, display_name, folder_path
from sketchhash.server.schemas import FolderAnswer, MapPoint

_MOST_FOLDERS = 200
_MAP_POINTS = 2000
_ID_BYTES = 8


@dataclass(frozen=True)
class Overview:
    """A gallery in numbers; ``memory_bytes`` is what its codes and ids take while they are searched."""

    photos: int
    bits: int
    memory_bytes: int
    labels: dict[str, int]
    folders: list[FolderAnswer]
    last_indexed: datetime | None
    dated: int
    placed: int
    first_taken: datetime | None
    last_taken: datetime | None
    drawings: int
    map: list[MapPoint]


class OverviewCache:
    """The overview of a gallery, counted again only after a change."""

    def __init__(self, gallery: OpenGallery, calibration: Calibration | None = None) -> None:
        """Describe an open ``gallery``; with a ``calibration`` the map says what its photos may show."""
        self.gallery = gallery
        self._calibration = calibration
        self._last: tuple[Hashable, Overview] | None = None

    def get(self) -> Overview:
        """Return the overview of the gallery as it is now."""
        revision = self.gallery.revision()
        if self._last is None or self._last[0] != revision:
            self._last = revision, self._count()
        return self._last[1]

    def _count(self) -> Overview:
        info = self.gallery.info()
        return Overview(
            photos=info.photos,
            bits=info.model.bits,
            memory_bytes=info.photos * (info.model.bits // 8 + _ID_BYTES),
            labels=dict(info.labels),
            folders=folders_in(self.gallery, ""),
            last_indexed=info.last_indexed,
            dated=info.dated,
            placed=info.placed,
            first_taken=info.first_taken,
            last_taken=info.last_taken,
            drawings=info.drawings,
            map=map_codes(self.gallery.sample(_MAP_POINTS), self._calibration),
        )


def map_codes(sample: Sample, calibration: Calibration | None = None) -> list[MapPoint]:
    """Project codes onto the two directions in which they differ most (principal components)."""
    if not sample.ids:
        return []
    signs = unpack(sample.codes).astype(np.float64)
    guesses = _guess(signs, calibration) if calibration else [None] * len(signs)
    signs -= signs.mean(axis=0)
    _, directions = np.linalg.eigh(signs.T @ signs)
    points = signs @ directions[:, :-3:-1]
    points /= max(float(np.abs(points).max()), 1e-9)
    return [
        MapPoint(id=photo, x=x, y=y, label=label, guess=guess)
        for photo, label, guess, (x, y) in zip(
            sample.ids, sample.labels, guesses, points.round(4).tolist(), strict=True
        )
    ]


def _guess(signs: NDArray[np.float64], calibration: Calibration) -> list[str | None]:
    """Return what each photo most likely shows, None if that is nothing known."""
    names: list[str | None] = [*calibration.categories, None]
    return [names[best] for best in calibration.photo_chances(signs).argmax(axis=1).tolist()]


def folders_in(gallery: OpenGallery, folder: str) -> list[FolderAnswer]:
    """Return the fullest folders that lie directly in one, as clients name it; "" is the one that all photos share."""
    root = common_root(gallery)
    below = os.path.join(os.fsencode(folder_path(root, folder)), b"") if folder else root  # noqa: PTH118 - bytes
    rows = gallery.top_folders(below, _MOST_FOLDERS)
    found = (FolderAnswer(path=display_name((below + top).removeprefix(root)), photos=photos) for top, photos in rows)
    return sorted(found, key=lambda each: each.path)
