"""A gallery's file seen as a whole: where its photos lie, and a sample of their codes."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sketchhash.gallery.store import Gallery

_ENDS = "SELECT (SELECT min(path) FROM photos), (SELECT max(path) FROM photos)"

# The part of each path from a place on, up to the next separator, if there is one.
_TOP_FOLDERS = """
    SELECT substr(path, ?1, instr(substr(path, ?1), ?2) - 1) AS top, count(*) FROM photos
    WHERE instr(substr(path, ?1), ?2) > 0 GROUP BY top ORDER BY count(*) DESC, top LIMIT ?3
"""

# Each of so many places among the ids, evenly spread, gives the photo there, or the next one if that was removed.
_AT_PLACES = """
    SELECT photo, code, label FROM codes JOIN photos ON photos.id = codes.photo WHERE photo IN (
        SELECT (SELECT min(photo) FROM codes WHERE photo >= value) FROM json_each(?)
    )
"""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some photos of a gallery: ids, labels and packed codes ``(ids, bits // 8)``."""

    ids: tuple[int, ...]
    labels: tuple[str | None, ...]
    codes: NDArray[np.uint8]


def path_ends(gallery: Gallery) -> tuple[bytes, bytes] | None:
    """Give the first and the last path, in the order of their bytes, if there are photos."""
    ((first, last),) = gallery.rows(_ENDS)
    return None if first is None else (first, last)


def top_folders(gallery: Gallery, start: int, most: int) -> list[tuple[bytes, int]]:
    """Count the photos of each folder that is named from byte ``start`` of the paths on; the fullest ones first."""
    return gallery.rows(_TOP_FOLDERS, start + 1, os.fsencode(os.sep), most)


def draw_sample(gallery: Gallery, most: int) -> Sample:
    """Give at most so many photos, spread evenly over when they were indexed; always the same ones."""
    ((first, last),) = gallery.rows("SELECT (SELECT min(photo) FROM codes), (SELECT max(photo) FROM codes)")
    if first is None:
        return Sample((), (), np.empty((0, gallery.maker.bits // 8), dtype=np.uint8))
    places = np.unique(np.linspace(first, last, most).astype(np.int64))
    ids, codes, labels = zip(*gallery.rows(_AT_PLACES, json.dumps(places.tolist())), strict=True)
    return Sample(ids, labels, np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(len(ids), -1))
