"""A sample of a gallery's codes, small enough to look at as a whole."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.gallery import Gallery

# Each of so many places among the ids, evenly spread, gives the photo there, or the next one if that was removed.
_AT_PLACES = """
    SELECT photo, code, label FROM codes JOIN photos ON photos.id = codes.photo WHERE photo IN (
        SELECT (SELECT min(photo) FROM codes WHERE photo >= value) FROM json_each(?)
    )
"""

_TOLERATED_CHANGE = 0.1


@dataclass(frozen=True, eq=False)
class Sample:
    """Some photos of a gallery: ids, labels and packed codes ``(ids, bits // 8)``."""

    ids: tuple[int, ...]
    labels: tuple[str | None, ...]
    codes: NDArray[np.uint8]


def draw_sample(gallery: Gallery, most: int) -> Sample:
    """Give at most so many photos, spread evenly over when they were indexed; always the same ones."""
    ((first, last),) = gallery.rows("SELECT (SELECT min(photo) FROM codes), (SELECT max(photo) FROM codes)")
    if first is None:
        return Sample((), (), np.empty((0, gallery.maker.bits // 8), dtype=np.uint8))
    places = np.unique(np.linspace(first, last, most).astype(np.int64))
    ids, codes, labels = zip(*gallery.rows(_AT_PLACES, json.dumps(places.tolist())), strict=True)
    return Sample(ids, labels, np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(len(ids), -1))


class FollowingSample:
    """A sample that is drawn again when the gallery has grown or shrunk by a tenth."""

    def __init__(self, gallery: Gallery, most: int) -> None:
        """Draw from ``gallery``, at most so many."""
        self._gallery = gallery
        self._most = most
        self._drawn: tuple[int, Sample] | None = None

    def at(self, photos: int) -> Sample:
        """Give a sample of the gallery while it has so many ``photos``."""
        drawn = self._drawn
        if drawn is None or abs(photos - drawn[0]) > _TOLERATED_CHANGE * drawn[0]:
            drawn = self._drawn = photos, draw_sample(self._gallery, self._most)
        return drawn[1]
