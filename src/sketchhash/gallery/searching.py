"""Find the photos of a gallery that look like a drawing.

All codes are kept in memory, and the file stays the truth: each search first asks what was added and removed
since the last one, which is two numbers, and loads just that. So a search sees what another process has
indexed a moment ago.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import BadArgument, DamagedState, IncompatibleGallery
from sketchhash.gallery.store import Gallery, path_range
from sketchhash.index import Index, build_index, rerank, scan_index

_STATE = """
    SELECT (SELECT value FROM settings WHERE name = 'fingerprint'),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'photos'), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removals'), 0)
"""
_THESE = "(SELECT value FROM json_each(?))"

RERANKED = 200  # at least; so that a photo a little farther off can still come out first


@dataclass(frozen=True, slots=True)
class Hit:
    """A photo that was found, and in how many bits its code differs from the drawing's."""

    id: int
    distance: int
    path: Path
    label: str | None


@dataclass(frozen=True)
class _State:
    """How far the gallery was followed."""

    fingerprint: str
    newest_photo: int
    last_removal: int


class Searcher:
    """The codes of a gallery, ready to be searched; safe to use from many threads, which take turns."""

    def __init__(self, gallery: Gallery, lasting: bool = False) -> None:
        """Load all codes: about a second for a million photos.

        Args:
            gallery: To be searched, and followed as it changes.
            lasting: Take some seconds more for the index that answers fastest, as a service may.
        """
        self._gallery = gallery
        self._bits = gallery.maker.bits
        self._turn = Lock()
        self._last_asked: tuple[object, ...] = ()
        self._last_listed = np.empty(0, dtype=np.int64)
        with gallery.snapshot():
            self._state = self._read_state()
            self._index: Index = (build_index if lasting else scan_index)(*read_codes(gallery))

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        return len(self._index)

    def search(
        self,
        values: NDArray[Any],
        k: int,
        folder: Path | None = None,
        label: str | None = None,
        reranked: bool = False,
    ) -> list[Hit]:
        """Give the ``k`` nearest photos, by distance and then id.

        Args:
            values: What the model gives for one drawing, ``(bits,)``; the signs of a photo's code find its like.
            k: How many hits; fewer come back only if there are fewer photos.
            folder: Only photos at any depth below this folder.
            label: Only photos with this label.
            reranked: Order the nearest photos, a few hundred at least, by how well they agree with the values
                themselves and not only with their signs; see `sketchhash.index.rerank`.
        """
        if values.shape != (self._bits,):
            raise BadArgument(f"A query is {self._bits} values, one a bit, not an array of shape {values.shape}.")
        if k < 1:
            raise BadArgument(f"k is the number of hits wanted, at least 1; got {k}.")
        with self._turn, self._gallery.snapshot():
            self._refresh()
            among = self._photos_in(folder, label)
            code = pack(values[np.newaxis])
            if not reranked:
                (hits,) = self._index.search(code, k, among)
                return self._about(hits.ids, hits.distances)
            (hits,) = self._index.search(code, max(k, RERANKED), among)
            best = rerank(hits, self._codes(hits.ids), values)
            return self._about(best.ids[:k], best.distances[:k])

    def _refresh(self) -> None:
        before, now = self._state, self._read_state()
        if now == before:
            return
        if now.fingerprint != before.fingerprint:
            raise IncompatibleGallery(
                f"The gallery {self._gallery.path} was indexed again with another model. Open it again with that model."
            )
        removed = self._gallery.rows(
            "SELECT photo FROM removals WHERE number > ? AND photo <= ?", before.last_removal, before.newest_photo
        )
        added = read_codes(self._gallery, after=before.newest_photo)
        self._index.remove(np.array(removed, dtype=np.int64).reshape(-1))
        self._index.add(*added)
        self._state = now

    def _read_state(self) -> _State:
        ((fingerprint, newest_photo, last_removal),) = self._gallery.rows(_STATE)
        return _State(fingerprint, newest_photo, last_removal)

    def _photos_in(self, folder: Path | None, label: str | None) -> NDArray[np.int64] | None:
        """Give the ids, ascending, of the photos to consider, or None for all.

        Who draws searches many times in one folder, and a large one takes long to list: the last list is kept.
        """
        if folder is None and label is None:
            return None
        asked = (self._gallery.revision(), folder, label)
        if self._last_asked != asked:
            self._last_listed, self._last_asked = _list_photos(self._gallery, folder, label), asked
        return self._last_listed

    def _about(self, ids: NDArray[np.int64], distances: NDArray[np.uint16]) -> list[Hit]:
        rows = self._gallery.rows(f"SELECT id, path, label FROM photos WHERE id IN {_THESE}", _listed(ids))
        about = {photo: (Path(os.fsdecode(path)), label) for photo, path, label in rows}
        return [
            Hit(photo, distance, *about[photo])
            for photo, distance in zip(ids.tolist(), distances.tolist(), strict=True)
        ]

    def _codes(self, ids: NDArray[np.int64]) -> NDArray[np.uint8]:
        codes = dict(self._gallery.rows(f"SELECT photo, code FROM codes WHERE photo IN {_THESE}", _listed(ids)))
        packed = b"".join(codes[photo] for photo in ids.tolist())
        return np.frombuffer(packed, dtype=np.uint8).reshape(-1, self._bits // 8)


def read_codes(gallery: Gallery, after: int = 0) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Give the ids, ascending, and the codes ``(photos, bits // 8)`` of photos with a greater id than ``after``."""
    size = gallery.maker.bits // 8
    if gallery.rows("SELECT 1 FROM codes WHERE photo > ? AND length(code) <> ? LIMIT 1", after, size):
        raise DamagedState(
            f"{gallery.path} holds codes of the wrong length. To see which, type: sketchhash gallery verify"
        )
    with gallery.scan("SELECT photo, code FROM codes WHERE photo > ? ORDER BY photo", after) as rows:
        table = np.fromiter(rows, dtype=[("id", np.int64), ("code", np.void, size)])
    return table["id"].copy(), np.frombuffer(table["code"].tobytes(), dtype=np.uint8).reshape(-1, size)


def _list_photos(gallery: Gallery, folder: Path | None, label: str | None) -> NDArray[np.int64]:
    conditions: list[str] = []
    wanted: list[object] = []
    if folder is not None:
        conditions += ["path > ?", "path < ?"]
        wanted += path_range(folder)
    if label is not None:
        conditions.append("label = ?")
        wanted.append(label)
    with gallery.scan(f"SELECT id FROM photos WHERE {' AND '.join(conditions)}", *wanted) as rows:
        return np.sort(np.fromiter(rows, dtype=[("id", np.int64)])["id"])


def _listed(ids: NDArray[np.int64]) -> str:
    return json.dumps(ids.tolist())
