"""A gallery's file as rows to copy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from sketchhash.errors import UnwritableState
from sketchhash.gallery.engines.rows import PhotoRow
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.schema import CodeMaker, begin_gallery, connect
from sketchhash.gallery.store import Gallery

_PAGE = 1000

_ROWS = """
    SELECT id, path, sha256, size, mtime_ns, label, indexed_at, code FROM photos JOIN codes ON photo = id
    WHERE id > ? ORDER BY id LIMIT ?
"""
# Two photos may have exchanged their paths: the one that is not written yet makes room.
_MAKE_ROOM = "UPDATE photos SET path = CAST(x'00' || id AS BLOB) WHERE path = ? AND id <> ?"
_PHOTO = """
    INSERT INTO photos (id, path, sha256, size, mtime_ns, label, indexed_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET path = excluded.path, sha256 = excluded.sha256, size = excluded.size,
    mtime_ns = excluded.mtime_ns, label = excluded.label, indexed_at = excluded.indexed_at
"""
_CODE = "INSERT INTO codes (photo, code) VALUES (?, ?) ON CONFLICT (photo) DO UPDATE SET code = excluded.code"
_THUMBNAIL = "REPLACE INTO thumbnails (photo, jpeg) VALUES (?, ?)"


class FileRows:
    """The rows of an open gallery; each batch that is put is one transaction."""

    def __init__(self, gallery: Gallery) -> None:
        """Take an open gallery."""
        self.place = str(gallery.path)
        self.maker = gallery.maker
        self._gallery = gallery

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open the gallery at ``path`` until the block ends."""
        with Gallery.open(path) as gallery:
            yield cls(gallery)

    @classmethod
    @contextmanager
    def create(cls, path: Path, maker: CodeMaker) -> Iterator[Self]:
        """Open the gallery at ``path``, which is made for codes of ``maker`` if it is not there."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UnwritableState(
                f"The folder of the gallery {path} cannot be made: {problem.strerror}. Name a file elsewhere."
            ) from problem
        with closing(connect(path, create=True)) as connection:
            begin_gallery(connection, path, maker)
        with cls.open(path) as rows:
            yield rows

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Give all rows, by id, in pages."""
        last = 0
        while page := self._gallery.rows(_ROWS, last, _PAGE):
            yield [_row(*columns) for columns in page]
            last = page[-1][0]

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Give the small JPEGs of some photos."""
        marks = ", ".join("?" * len(ids))
        return dict(self._gallery.rows(f"SELECT photo, jpeg FROM thumbnails WHERE photo IN ({marks})", *ids))

    def put(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all of them or none."""
        run = self._gallery.rows
        with self._gallery.writing():
            for row in rows:
                photo, path = row.photo, os.fsencode(row.photo.path)
                content, when = bytes.fromhex(photo.sha256), photo.indexed_at.timestamp()
                run(_MAKE_ROOM, path, photo.id)
                run(_PHOTO, photo.id, path, content, photo.size, photo.mtime_ns, photo.label, when)
                run(_CODE, photo.id, row.code)
                run(_THUMBNAIL, photo.id, thumbnails[photo.id])

    def remove(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        with self._gallery.writing() as writer:
            writer.remove(ids)

    def settle(self) -> None:
        """Do nothing: a file is searched in memory."""


def _row(
    photo_id: int,
    path: bytes,
    sha256: bytes,
    size: int,
    mtime_ns: int,
    label: str | None,
    indexed_at: float,
    code: bytes,
) -> PhotoRow:
    when = datetime.fromtimestamp(indexed_at, UTC)
    photo = PhotoRecord(Path(os.fsdecode(path)), sha256.hex(), size, mtime_ns, label, id=photo_id, indexed_at=when)
    return PhotoRow(photo, code)
