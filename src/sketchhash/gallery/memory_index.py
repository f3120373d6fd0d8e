"""The codes of a gallery file in memory, where they are searched.

The file is authoritative: each search first looks up what was added and removed since the last one, which is two
numbers, and loads just that. So a search sees what another process has indexed a moment ago.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import BadArgument, IncompatibleGallery
from sketchhash.gallery.file_reader import THESE, FileReader, taken, where
from sketchhash.gallery.filters import Filter
from sketchhash.gallery.photos import PhotoKind
from sketchhash.gallery.protocol import Hit
from sketchhash.gallery.soundness import valued
from sketchhash.index import WeighingIndex, build_index, rerank, scan_index
from sketchhash.tokens.shape import ShapeQuery

SHAPED = 1000
"""Hits that are ordered by shape at least: many photos of a kind share one code."""

_STATE = """
    SELECT (SELECT value FROM settings WHERE name = 'fingerprint'),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'photos'), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removals'), 0)
"""


class Shown(NamedTuple):
    """What is shown with a hit."""

    path: Path
    label: str | None
    taken_at: datetime | None
    kind: PhotoKind


@dataclass(frozen=True)
class State:
    """A position in the history of a gallery: codes with larger ids and removals with larger numbers came later."""

    fingerprint: str
    newest_photo: int
    last_removal: int


class SearchReader(FileReader):
    """Reads what a search needs."""

    def state(self) -> State:
        """Return the current state."""
        ((fingerprint, newest_photo, last_removal),) = self.rows(_STATE)
        return State(fingerprint, newest_photo, last_removal)

    def removed_since(self, state: State) -> NDArray[np.int64]:
        """Return the ids that were there at a state and were removed since."""
        removed = self.rows(
            "SELECT photo FROM removals WHERE number > ? AND photo <= ?", state.last_removal, state.newest_photo
        )
        return np.array(removed, dtype=np.int64).reshape(-1)

    def ids_in(self, only: Filter) -> NDArray[np.int64]:
        """Return the ids, ascending, of the photos that pass a filter."""
        conditions, wanted = where(only)
        place = "latitude, longitude" if only.near else "0, 0"
        query = f"SELECT id, {place} FROM {self.with_details} WHERE {conditions}"
        with valued(self.path), self.scan(query, *wanted) as rows:
            found = np.fromiter(rows, dtype=[("id", np.int64), ("latitude", np.float64), ("longitude", np.float64)])
        if only.near is not None:
            found = found[only.near.contains(found["latitude"], found["longitude"])]
        return np.sort(found["id"])

    def shown_with_hits(self, ids: Iterable[int]) -> dict[int, Shown]:
        """Return what is shown of some photos, by id."""
        query = f"SELECT id, path, label, taken_at, {self.kind_column} FROM {self.with_details} WHERE id IN {THESE}"
        rows = self.rows(query, json.dumps(list(ids)))
        with valued(self.path):
            return {
                photo: Shown(Path(os.fsdecode(path)), label, taken(seconds), kind)
                for photo, path, label, seconds, kind in rows
            }

    def codes_of(self, ids: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes ``(ids, bits // 8)`` of some photos, in the order given."""
        codes, size = self.codes(ids), self.model.bits // 8
        with valued(self.path):
            return np.frombuffer(b"".join(codes[photo] for photo in ids), dtype=np.uint8).reshape(len(ids), size)


class MemoryIndex:
    """All codes of a gallery, ready to be searched; safe to use from many threads, which take turns."""

    def __init__(self, gallery: SearchReader, lasting: bool = False) -> None:
        """Load all codes: about a second for a million photos.

        Args:
            gallery: Is searched, followed as it changes, and closed in the end.
            lasting: Take some seconds more for the index that answers fastest, as a service may.
        """
        self._gallery = gallery
        self._bits = gallery.model.bits
        self._turn = Lock()
        self._last_asked: tuple[object, ...] = ()
        self._last_listed = np.empty(0, dtype=np.int64)
        with gallery.snapshot():
            self._state = gallery.state()
            self._index: WeighingIndex = (build_index if lasting else scan_index)(*gallery.read_codes())

    def close(self) -> None:
        """Close the gallery."""
        self._gallery.close()

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        return len(self._index)

    def search(
        self,
        values: NDArray[Any],
        k: int,
        only: Filter,
        reranked: bool,
        shape: ShapeQuery | None = None,
    ) -> list[Hit]:
        """Return the ``k`` nearest photos; see `OpenGallery.search`."""
        check_query(values, k, self._bits)
        with self._turn, self._gallery.snapshot():
            self._refresh()
            among = self._photos_in(only)
            query = values[np.newaxis]
            if not reranked:
                (hits,) = self._index.search(pack(query), k, among)
                return self._about(hits.ids, hits.distances)
            (hits,) = self._index.search_by_values(query, k if shape is None else max(k, SHAPED), among)
            ids = hits.ids.tolist()
            fits = None if shape is None else shape.fits(self._gallery.shapes_of(ids), ids)
            best = rerank(hits.ids, self._gallery.codes_of(ids), values, fits)
            return self._about(best.ids[:k], best.distances[:k])

    def perceptual_hashes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the perceptual hashes of some photos, by id."""
        return self._gallery.perceptual_hashes(ids)

    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos, by id, in pages."""
        return self._gallery.hash_pages()

    def revision(self) -> tuple[int, int]:
        """Return two numbers that stay the same only while the gallery does not change."""
        return self._gallery.revision()

    def _refresh(self) -> None:
        before, now = self._state, self._gallery.state()
        if now == before:
            return
        if now.fingerprint != before.fingerprint:
            raise IncompatibleGallery(
                f"The gallery {self._gallery.path} was indexed again with another model. Open it again with that model."
            )
        removed = self._gallery.removed_since(before)
        added = self._gallery.read_codes(after=before.newest_photo)
        self._index.remove(removed)
        self._index.add(*added)
        self._state = now

    def _photos_in(self, only: Filter) -> NDArray[np.int64] | None:
        """Return the ids, ascending, of the photos to consider, or None for all.

        A person who draws searches many times in one folder, and a large one takes long to list: the last list is
        kept.
        """
        if only.is_empty:
            return None
        asked = (self._gallery.revision(), only)
        if self._last_asked != asked:
            self._last_listed, self._last_asked = self._gallery.ids_in(only), asked
        return self._last_listed

    def _about(self, ids: NDArray[np.int64], distances: NDArray[np.uint16]) -> list[Hit]:
        about = self._gallery.shown_with_hits(ids.tolist())
        with valued(self._gallery.path):  # a code without a photo
            return [
                Hit(photo, distance, shown.path, shown.label, taken_at=shown.taken_at, kind=shown.kind)
                for photo, distance in zip(ids.tolist(), distances.tolist(), strict=True)
                for shown in (about[photo],)
            ]


def check_query(values: NDArray[Any], k: int, bits: int) -> None:
    """Raise `BadArgument` if the values are not one query of ``bits``, or no hits are wanted."""
    if values.shape != (bits,):
        raise BadArgument(f"A query is {bits} values, one a bit, not an array of shape {values.shape}.")
    if k < 1:
        raise BadArgument(f"k is the number of hits wanted, at least 1; got {k}.")
