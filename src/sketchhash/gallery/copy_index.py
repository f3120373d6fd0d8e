"""Know the copies of hits: which hit is a copy of a better one, and how many copies of it the whole gallery has.

Hits are a few of the photos that look alike; most copies of a photo may not be among them. So the perceptual hashes of
all photos are kept in memory, 16 bytes a photo, and searched for those of each hit: about 10 ms for 40 hits among a
million photos.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock, Thread
from time import monotonic

import numpy as np

from sketchhash.errors import BadArgument, SketchHashError
from sketchhash.gallery.copies import COPY_RADIUS
from sketchhash.gallery.protocol import Hit, OpenGallery
from sketchhash.imaging.perceptual import PERCEPTUAL_BYTES
from sketchhash.index import WeighingIndex, scan_index

MOST_COPIES = 200

_AT_ONCE = 100_000  # hashes: some tenths of a second, for which a search may wait
_READ_A_SECOND = 10_000  # hashes at most that are read again while a gallery changes


class CopyIndex:
    """The perceptual hashes of a whole gallery, which find all copies of a few photos; safe to use from many threads.

    The gallery is followed as it changes: a small one at once, a large one after a while, and without letting a search
    wait for it.
    """

    def __init__(self, gallery: OpenGallery, lasting: bool = False) -> None:
        """Follow ``gallery``; if ``lasting``, read its hashes now however many there are, as a service may."""
        self._gallery = gallery
        self._turn = Lock()
        self._loaded: _Loaded | None = None
        self._loading: Thread | None = None
        if lasting:
            self._load()

    def marked(self, hits: Sequence[Hit]) -> list[Hit]:
        """Note for each hit that is a copy of a better one which that is, and for the others how many copies they have.

        Without ``lasting`` the copies of a large gallery are not counted: a search that may be the only one does not
        wait until all hashes are read.
        """
        hashes = self._gallery.perceptual_hashes([hit.id for hit in hits])
        marked = mark_copies(hits, hashes)
        index = self._fresh()
        if index is None:
            return marked
        copies = _near(index, {hit.id: hashes.get(hit.id, b"") for hit in marked if hit.copy_of is None})
        return [replace(hit, copies=len(copies[hit.id])) if hit.id in copies else hit for hit in marked]

    def of(self, photo_id: int, most: int = MOST_COPIES) -> list[Hit]:
        """Return at most ``most`` copies of a photo, the nearest first, or raise `BadArgument` if it is not there.

        Their distances are those of their codes to the photo's.
        """
        code = np.frombuffer(self._gallery.code(photo_id), dtype=np.uint8)
        ids = self.near(self._gallery.perceptual_hashes([photo_id])).get(photo_id, [])[:most]
        codes, details = self._gallery.codes(ids), self._gallery.details(ids)
        hits = []
        for each in ids:
            with suppress(BadArgument, KeyError):  # another process may have removed it meanwhile
                photo = self._gallery.photo(each)
                distance = int(np.bitwise_count(code ^ np.frombuffer(codes[each], dtype=np.uint8)).sum())
                taken = details[each].taken_at if each in details else None
                found = Hit(each, distance, photo.path, photo.label, taken_at=taken, copy_of=photo_id, kind=photo.kind)
                hits.append(found)
        return hits

    def near(self, hashes: Mapping[int, bytes]) -> dict[int, list[int]]:
        """Return the ids of all copies of some photos, by their hashes, the nearest first and without the photo."""
        index = self._fresh()
        return _near(self._load() if index is None else index, hashes)

    def _fresh(self) -> WeighingIndex | None:
        """Return the index of the gallery as it is now, or was a while ago; None if it is large and was not read."""
        with self._turn:
            loaded = self._loaded
            if loaded is None or (monotonic() >= loaded.until and loaded.revision != self._gallery.revision()):
                if len(self._gallery) <= _AT_ONCE:
                    return self._load()
                if loaded is not None and (self._loading is None or not self._loading.is_alive()):
                    self._loading = Thread(target=self._load_quietly, daemon=True)
                    self._loading.start()
            return None if loaded is None else loaded.index

    def _load(self) -> WeighingIndex:
        """Read all hashes: about a second for a million photos of a file."""
        revision = self._gallery.revision()
        rows = (row for page in self._gallery.hash_pages() for row in page if len(row[1]) == PERCEPTUAL_BYTES)
        table = np.fromiter(rows, dtype=[("id", np.int64), ("hash", np.void, PERCEPTUAL_BYTES)])
        hashes = np.frombuffer(table["hash"].tobytes(), dtype=np.uint8).reshape(-1, PERCEPTUAL_BYTES)
        index = scan_index(table["id"].copy(), hashes)
        self._loaded = _Loaded(index, revision, monotonic() + len(table) // _READ_A_SECOND)
        return index

    def _load_quietly(self) -> None:
        with suppress(SketchHashError, sqlite3.Error):  # the gallery may be closed meanwhile
            self._load()


def mark_copies(hits: Sequence[Hit], hashes: Mapping[int, bytes], radius: int = COPY_RADIUS) -> list[Hit]:
    """Note for each hit that is a copy of a better one which that is."""
    first: list[tuple[int, int]] = []
    marked = []
    for hit in hits:
        own = int.from_bytes(hashes.get(hit.id, b""), "big")
        of = next((other for other, theirs in first if own and (own ^ theirs).bit_count() <= radius), None)
        if of is None and own:
            first.append((hit.id, own))
        marked.append(hit if of is None else replace(hit, copy_of=of))
    return marked


def _near(index: WeighingIndex, hashes: Mapping[int, bytes]) -> dict[int, list[int]]:
    """Return the ids of the copies of some photos, the nearest first and without the photo itself."""
    asked = [photo for photo, own in hashes.items() if len(own) == PERCEPTUAL_BYTES]
    if not asked:
        return {photo: [] for photo in hashes}
    queries = np.frombuffer(b"".join(hashes[photo] for photo in asked), dtype=np.uint8)
    found = index.within(queries.reshape(-1, PERCEPTUAL_BYTES), COPY_RADIUS)
    copies = {photo: hits.ids[hits.ids != photo].tolist() for photo, hits in zip(asked, found, strict=True)}
    return {photo: copies.get(photo, []) for photo in hashes}


@dataclass(frozen=True, eq=False)
class _Loaded:
    """All hashes, as of a revision; not to be read again before a time of the monotonic clock."""

    index: WeighingIndex
    revision: Hashable
    until: float
