"""The gallery as a whole: its numbers, and its map.

Counting a million photos takes a second: it is done again only when the gallery has changed, on a connection of its
own, so that nobody who draws waits for it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sketchhash.codes import unpack
from sketchhash.gallery import Sample, ServedGallery
from sketchhash.server.photos import common_root, text_of
from sketchhash.server.schemas import FolderAnswer, MapPoint

_MOST_FOLDERS = 200
_ON_THE_MAP = 2000
_ID_BYTES = 8


@dataclass(frozen=True)
class Census:
    """A gallery in numbers; ``memory_bytes`` is what codes and ids take to be searched."""

    photos: int
    bits: int
    memory_bytes: int
    labels: dict[str, int]
    folders: list[FolderAnswer]
    last_indexed: datetime | None
    map: list[MapPoint]


class CensusTaker:
    """Counts a gallery when it has changed."""

    def __init__(self, gallery: ServedGallery) -> None:
        """Take an open gallery; of a file, one that nobody else uses."""
        self._gallery = gallery
        self._last: tuple[Hashable, Census] | None = None

    def take(self) -> Census:
        """Give the numbers of the gallery as it is now."""
        revision = self._gallery.revision()
        if self._last is None or self._last[0] != revision:
            self._last = revision, self._count()
        return self._last[1]

    def _count(self) -> Census:
        info = self._gallery.info()
        return Census(
            photos=info.photos,
            bits=info.maker.bits,
            memory_bytes=info.photos * (info.maker.bits // 8 + _ID_BYTES),
            labels=dict(info.labels),
            folders=_top_folders(self._gallery),
            last_indexed=info.last_indexed,
            map=map_codes(self._gallery.sample(_ON_THE_MAP)),
        )


def _top_folders(gallery: ServedGallery) -> list[FolderAnswer]:
    rows = gallery.top_folders(len(common_root(gallery)), _MOST_FOLDERS)
    return sorted((FolderAnswer(path=text_of(top), photos=photos) for top, photos in rows), key=lambda each: each.path)


def map_codes(sample: Sample) -> list[MapPoint]:
    """Lay codes out on a plane: along the two directions in which they differ most."""
    if not sample.ids:
        return []
    signs = unpack(sample.codes).astype(np.float64)
    signs -= signs.mean(axis=0)
    _, directions = np.linalg.eigh(signs.T @ signs)
    places = signs @ directions[:, :-3:-1]
    places /= max(float(np.abs(places).max()), 1e-9)
    return [
        MapPoint(id=photo, x=x, y=y, label=label)
        for photo, label, (x, y) in zip(sample.ids, sample.labels, places.round(4).tolist(), strict=True)
    ]
