"""Read a gallery's file over one connection: its photos, and all that belongs to each.

The SQL of galleries is here, in `schema` (tables, migrations), in `file_writer` (what changes), in `memory_index` (what
a search needs) and in `file_counts` (the gallery in numbers).
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, DamagedState
from sketchhash.gallery.filters import Filter
from sketchhash.gallery.photos import PhotoRecord, absolute, path_range
from sketchhash.gallery.protocol import GalleryModel, PhotoRow, TaggedDrawing
from sketchhash.gallery.schema import connect, explained, read_model, transaction
from sketchhash.gallery.soundness import damaged, valued
from sketchhash.gallery.writer import DETAILS
from sketchhash.imaging.details import Details, moment_of
from sketchhash.tokens.shape import SHAPE_BYTES, SHAPE_VERSION

THESE = "(SELECT value FROM json_each(?))"
"""The ids of a list in JSON, as SQL."""

_PAGE = 1000
_HASH_PAGE = 10_000  # some milliseconds, between which searches have their turn

_COLUMNS = "path, sha256, size, mtime_ns, label, id, indexed_at"
_KIND = "CASE WHEN EXISTS (SELECT 1 FROM drawings WHERE drawings.photo = id) THEN 'drawing' ELSE 'photo' END"
_NO_DETAILS = "(SELECT NULL AS photo, NULL AS taken_at, NULL AS latitude, NULL AS longitude WHERE FALSE) AS details"
_SHAPE_OF = f"(SELECT shape FROM shapes WHERE shapes.photo = id AND version = {SHAPE_VERSION})"
_LACKS_SHAPE = f"NOT EXISTS (SELECT 1 FROM shapes WHERE shapes.photo = id AND version = {SHAPE_VERSION})"
_HASH_OF = "(SELECT hash FROM perceptual_hashes WHERE perceptual_hashes.photo = id AND typeof(hash) = 'blob')"
_HASHES = "SELECT photo, hash FROM perceptual_hashes WHERE typeof(hash) = 'blob'"
_LACKS_HASH = "NOT EXISTS (SELECT 1 FROM perceptual_hashes WHERE perceptual_hashes.photo = id)"


class FileReader:
    """A gallery's file that is open to be read; threads take turns on its connection."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Wrap an open connection."""
        self.path = path
        self.connection = connection
        self.turn = RLock()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file at ``path``."""
        return cls(path, connect(path))

    def close(self) -> None:
        """Close the connection."""
        with self.turn:
            self.connection.close()

    def __enter__(self) -> Self:
        """Close the file at the end of the ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    @property
    def model(self) -> GalleryModel:
        """The model that encoded the photos."""
        with self.turn, explained(self.path):
            return read_model(self.connection)

    @property
    def keeps_shapes(self) -> bool:
        """Whether there is a table of shapes: an old file that cannot be written has none."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'shapes'"))

    @property
    def keeps_details(self) -> bool:
        """Whether there is a table of details: an old file that cannot be written has none."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'details'"))

    @property
    def keeps_hashes(self) -> bool:
        """Whether there is a table of perceptual hashes: an old file that cannot be written has none."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'perceptual_hashes'"))

    @property
    def keeps_drawings(self) -> bool:
        """Whether there is a table of drawings: an old file that cannot be written has none."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'drawings'"))

    def photo(self, photo_id: int) -> PhotoRecord:
        """Return the photo with an id, or raise `BadArgument` if there is none."""
        for record in self._records("id = ?", photo_id):
            return record
        raise self._no_photo(photo_id)

    def code(self, photo_id: int) -> bytes:
        """Return the packed code of a photo."""
        return self._blob("SELECT code FROM codes WHERE photo = ?", photo_id)

    def codes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the packed codes of some photos, by id; a photo that is gone has none."""
        return dict(self.rows(f"SELECT photo, code FROM codes WHERE photo IN {THESE}", json.dumps(list(ids))))

    def thumbnail(self, photo_id: int) -> bytes:
        """Return the small JPEG of a photo."""
        return self._blob("SELECT jpeg FROM thumbnails WHERE photo = ?", photo_id)

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos; a photo that is gone has none."""
        return dict(self.rows(f"SELECT photo, jpeg FROM thumbnails WHERE photo IN {THESE}", json.dumps(list(ids))))

    def details(self, ids: Sequence[int]) -> dict[int, Details]:
        """Return when, where and with what some photos were taken; one that was not examined for it has none."""
        if not self.keeps_details:
            return {}
        rows = self.rows(f"SELECT photo, {DETAILS} FROM details WHERE photo IN {THESE}", json.dumps(list(ids)))
        with valued(self.path):
            return {photo: Details.of_columns(columns) for photo, *columns in rows}

    def tagged_drawings(self) -> list[TaggedDrawing]:
        """Return the drawings that have tags."""
        if not (self.keeps_details and self.keeps_drawings):
            return []
        query = """SELECT id, label, description FROM drawings JOIN photos ON id = drawings.photo
            JOIN details ON details.photo = id WHERE label IS NOT NULL AND description IS NOT NULL"""
        return [TaggedDrawing(*columns) for columns in self.rows(query)]

    def at(self, path: Path) -> PhotoRecord | None:
        """Return the photo at an absolute path, if it is in the gallery."""
        return next(iter(self._records("path = ?", os.fsencode(path))), None)

    def has_content(self, sha256: str) -> bool:
        """Tell whether a photo with this content is in the gallery."""
        return bool(self.rows("SELECT 1 FROM photos WHERE sha256 = ? LIMIT 1", bytes.fromhex(sha256)))

    def photos(self) -> Iterator[PhotoRecord]:
        """Yield every photo, by id; photos that come or go meanwhile may be among them or not."""
        last = 0
        while page := self._records("id > ? ORDER BY id LIMIT ?", last, _PAGE):
            yield from page
            last = page[-1].id

    def within(self, place: Path) -> Iterator[PhotoRecord]:
        """Yield the photo at ``place``, or those at any depth below it, by path."""
        yield from self._records("path = ?", os.fsencode(absolute(place)))
        last, end = path_range(place)
        while page := self._records("path > ? AND path < ? ORDER BY path LIMIT ?", last, end, _PAGE):
            yield from page
            last = os.fsencode(page[-1].path)

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Yield all rows, by id, in pages."""
        last = 0
        while page := self.photo_rows("id > ? AND code IS NOT NULL ORDER BY id LIMIT ?", last, _PAGE):
            yield page
            last = page[-1].photo.id

    def photo_rows(self, condition: str, *values: object) -> list[PhotoRow]:
        """Return the rows that fulfil an SQL ``condition``."""
        shape = _SHAPE_OF if self.keeps_shapes else "NULL"
        perceptual = _HASH_OF if self.keeps_hashes else "NULL"
        columns = f"{_COLUMNS}, {self.kind_column}, coalesce(code, x''), {shape}, {perceptual}"
        query = f"SELECT {columns} FROM photos LEFT JOIN codes ON photo = id WHERE {condition}"
        found = self.rows(query, *values)
        with valued(self.path):
            records = [_record(columns[:-3]) for columns in found]
            details = self.details([record.id for record in records])
            return [
                PhotoRow(record, code, shape, details.get(record.id), perceptual)
                for record, (*_, code, shape, perceptual) in zip(records, found, strict=True)
            ]

    def rows_of(self, ids: Sequence[int]) -> list[PhotoRow]:
        """Return the rows of some ids; an id that is not there has none."""
        return self.photo_rows(f"id IN {THESE}", json.dumps(list(ids)))

    def photos_at(self, paths: Sequence[Path]) -> dict[Path, PhotoRow]:
        """Return the rows of the photos at some absolute paths."""
        found = self.photo_rows(f"path IN ({', '.join('?' * len(paths))})", *map(os.fsencode, paths))
        return {row.photo.path: row for row in found}

    def shapes_of(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the shapes of some photos, by id; photos indexed before there were shapes have none."""
        if not self.keeps_shapes:
            return {}
        query = f"SELECT photo, shape FROM shapes WHERE photo IN {THESE} AND version = ? AND length(shape) = ?"
        return dict(self.rows(query, json.dumps(list(ids)), SHAPE_VERSION, SHAPE_BYTES))

    def count_without_shape(self) -> int:
        """Count the photos that have no shape; in a file without room for shapes none is missing."""
        if not self.keeps_shapes:
            return 0
        ((photos,),) = self.rows(f"SELECT count(*) FROM photos WHERE {_LACKS_SHAPE}")
        return int(photos)

    def perceptual_hashes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the perceptual hashes of some photos, by id; those without one are left out."""
        if not self.keeps_hashes:
            return {}
        return dict(self.rows(f"{_HASHES} AND photo IN {THESE}", json.dumps(list(ids))))

    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos that were hashed, by id, in pages."""
        last = -1
        query = f"{_HASHES} AND photo > ? ORDER BY photo LIMIT ?"
        while page := self.rows(query, last, _HASH_PAGE) if self.keeps_hashes else []:
            yield page
            last = page[-1][0]

    def without_hash(self, most: int) -> list[int]:
        """Return the ids, ascending, of at most ``most`` photos that have no perceptual hash."""
        query = f"SELECT id FROM photos WHERE {_LACKS_HASH} ORDER BY id LIMIT ?"
        return [photo for (photo,) in self.rows(query, most)] if self.keeps_hashes else []

    def read_codes(self, after: int = 0) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the ids, ascending, and the codes ``(photos, bits // 8)`` of photos with ids above ``after``."""
        size = self.model.bits // 8
        if self.rows("SELECT 1 FROM codes WHERE photo > ? AND length(code) <> ? LIMIT 1", after, size):
            raise DamagedState(
                f"{self.path} holds codes of the wrong length. To see which, type: sketchhash gallery verify"
            )
        with (
            valued(self.path),
            self.scan("SELECT photo, code FROM codes WHERE photo > ? ORDER BY photo", after) as rows,
        ):
            table = np.fromiter(rows, dtype=[("id", np.int64), ("code", np.void, size)])
        return table["id"].copy(), np.frombuffer(table["code"].tobytes(), dtype=np.uint8).reshape(-1, size)

    def content_prefixes(self, size: int) -> bytes:
        """Return the first ``size`` bytes of every SHA-256, in ascending order, one after the other."""
        query = "SELECT substr(sha256, 1, ?) FROM photos ORDER BY sha256"
        with valued(self.path), self.scan(query, size) as rows:
            return b"".join(prefix for (prefix,) in rows)

    def revision(self) -> tuple[int, int]:
        """Return two numbers that stay the same only while the gallery does not change."""
        ((by_others,),) = self.rows("PRAGMA data_version")
        return by_others, self.connection.total_changes

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Return the first and the last path, in the order of their bytes, if there are photos."""
        ((first, last),) = self.rows("SELECT (SELECT min(path) FROM photos), (SELECT max(path) FROM photos)")
        return None if first is None else (first, last)

    def damage(self) -> list[str]:
        """Check the file as a whole, and return what SQLite finds wrong with it, at most three remarks."""
        remarks = [remark.replace("\n", " ") for (remark,) in self.rows("PRAGMA integrity_check(3)")]
        return [] if remarks == ["ok"] else remarks

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See the gallery in one state throughout the block, whatever others write meanwhile."""
        with self.turn, explained(self.path), transaction(self.connection, "BEGIN"):
            yield

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return all rows that an SQL ``query`` finds."""
        with self.turn, explained(self.path):
            return self.connection.execute(query, values).fetchall()

    @contextmanager
    def scan(self, query: str, *values: object) -> Iterator[sqlite3.Cursor]:
        """Run an SQL ``query`` whose rows are too many to hold; other threads wait until the block ends."""
        with self.turn, explained(self.path):
            yield self.connection.execute(query, values)

    @property
    def with_details(self) -> str:
        """The photos and, as far as there are any, their details."""
        return f"photos LEFT JOIN {'details' if self.keeps_details else _NO_DETAILS} ON details.photo = id"

    @property
    def kind_column(self) -> str:
        """The kind of a photo, as SQL."""
        return _KIND if self.keeps_drawings else "'photo'"

    def _blob(self, query: str, photo_id: int) -> bytes:
        for (blob,) in self.rows(query, photo_id):
            if isinstance(blob, bytes):
                return blob
            raise damaged(self.path, f"photo {photo_id} has no thumbnail or code")
        raise self._no_photo(photo_id)

    def _no_photo(self, photo_id: int) -> BadArgument:
        return BadArgument(f"The gallery {self.path} has no photo with the id {photo_id}.")

    def _records(self, condition: str, *values: object) -> list[PhotoRecord]:
        with valued(self.path):
            query = f"SELECT {_COLUMNS}, {self.kind_column} FROM photos WHERE {condition}"
            return [_record(row) for row in self.rows(query, *values)]


def _record(row: Sequence[Any]) -> PhotoRecord:
    path, sha256, size, mtime_ns, label, photo_id, indexed_at, kind = row
    place = Path(os.fsdecode(path))
    return PhotoRecord(place, sha256.hex(), size, mtime_ns, label, kind, id=photo_id, indexed_at=when(indexed_at))


def where(only: Filter) -> tuple[str, list[object]]:
    """Write a filter as an SQL condition, and what its placeholders stand for."""
    conditions = only.conditions()
    written = " AND ".join(f"{column} {operator} ?" for column, operator, _ in conditions)
    return written or "TRUE", [value for _, _, value in conditions]


def taken(seconds: int | None) -> datetime | None:
    """Return when a photo was taken, by the camera's clock, if that is known."""
    return None if seconds is None else moment_of(seconds)


def when(seconds: float) -> datetime:
    """Return the moment that a column ``indexed_at`` stands for."""
    return datetime.fromtimestamp(seconds, UTC)
