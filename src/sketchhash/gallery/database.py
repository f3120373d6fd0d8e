"""A gallery in one SQLite file: photos with their codes, shapes, details and thumbnails.

All SQL is here, in `schema` (tables, migrations) and in `file_writer` (what changes).

Any number of processes may read while one writes; writers take turns. All that belongs to a photo is written in
one transaction, so a gallery never holds half of one, whenever its writer is killed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, DamagedState, IncompatibleGallery, UnwritableState
from sketchhash.gallery.file_writer import FileWriter
from sketchhash.gallery.filters import EVERYTHING, Filter, LeftOut
from sketchhash.gallery.memory_index import MemoryIndex
from sketchhash.gallery.photos import PhotoKind, PhotoRecord, absolute, path_range
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, Hit, PhotoRow, Sample, TaggedDrawing
from sketchhash.gallery.schema import begin_gallery, connect, explained, read_model, transaction
from sketchhash.gallery.soundness import damaged, valued
from sketchhash.gallery.writer import DETAILS
from sketchhash.imaging.details import Details, moment_of
from sketchhash.model import Model
from sketchhash.tokens.shape import SHAPE_BYTES, SHAPE_VERSION, ShapeQuery

_PAGE = 1000
_HASH_PAGE = 10_000  # some milliseconds, between which searches have their turn

_COLUMNS = "path, sha256, size, mtime_ns, label, id, indexed_at"
_KIND = "CASE WHEN EXISTS (SELECT 1 FROM drawings WHERE drawings.photo = id) THEN 'drawing' ELSE 'photo' END"
_NO_DETAILS = "(SELECT NULL AS photo, NULL AS taken_at, NULL AS latitude, NULL AS longitude WHERE FALSE) AS details"
_THESE = "(SELECT value FROM json_each(?))"

_STATE = """
    SELECT (SELECT value FROM settings WHERE name = 'fingerprint'),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'photos'), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removals'), 0)
"""
# The part of each path from a place on, up to the next separator, if there is one.
_TOP_FOLDERS = """
    SELECT substr(path, ?1, instr(substr(path, ?1), ?2) - 1) AS top, count(*) FROM photos
    WHERE instr(substr(path, ?1), ?2) > 0 AND substr(path, 1, ?1 - 1) = ?4
    GROUP BY top ORDER BY count(*) DESC, top LIMIT ?3
"""
# Each given id stands for the photo with that id, or the next one if that was removed.
_AT_PLACES = """
    SELECT photo, code, label FROM codes JOIN photos ON photos.id = codes.photo WHERE photo IN (
        SELECT (SELECT min(photo) FROM codes WHERE photo >= value) FROM json_each(?)
    )
"""
_SHAPE_OF = f"(SELECT shape FROM shapes WHERE shapes.photo = id AND version = {SHAPE_VERSION})"
_LACKS_SHAPE = f"NOT EXISTS (SELECT 1 FROM shapes WHERE shapes.photo = id AND version = {SHAPE_VERSION})"
_HASH_OF = "(SELECT hash FROM perceptual_hashes WHERE perceptual_hashes.photo = id)"
_HASHES = "SELECT photo, hash FROM perceptual_hashes WHERE typeof(hash) = 'blob'"
_LACKS_HASH = "NOT EXISTS (SELECT 1 FROM perceptual_hashes WHERE perceptual_hashes.photo = id)"


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


class GalleryFile:
    """An open gallery file; see `OpenGallery`. Use `open` or `create` to get one.

    Threads take turns on one connection, but searches and counts have connections of their own, so that looking up a
    photo does not wait for them.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Wrap an open connection."""
        self.path = path
        self.connection = connection
        self._turn = RLock()
        self._opening = RLock()
        self._counting: GalleryFile | None = None
        self._memory: MemoryIndex | None = None

    @classmethod
    def open(cls, path: Path, model: Model | None = None) -> Self:
        """Open the gallery at ``path``.

        Raises:
            IncompatibleGallery: If its codes come from another model than ``model``: they would not compare.
        """
        gallery = cls(path, connect(path))
        try:
            gallery.require(model)
        except BaseException:
            gallery.close()
            raise
        return gallery

    @classmethod
    def create(cls, path: Path, model: Model | GalleryModel) -> Self:
        """Open the gallery at ``path``, which is made for codes of ``model`` if it is not there."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UnwritableState(
                f"The folder of the gallery {path} cannot be made: {problem.strerror}. Name a file elsewhere."
            ) from problem
        described = GalleryModel.of(model) if isinstance(model, Model) else model
        with closing(connect(path, create=True)) as connection:
            begin_gallery(connection, path, described)
        return cls.open(path, model if isinstance(model, Model) else None)

    def close(self) -> None:
        """Close the file."""
        with self._opening:
            if self._memory is not None:
                self._memory.close()
            if self._counting is not None:
                self._counting.close()
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
    def place(self) -> str:
        """The path, for people to read."""
        return str(self.path)

    @property
    def model(self) -> GalleryModel:
        """The model that encoded the photos."""
        with self._turn, explained(self.path):
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

    @property
    def opener(self) -> None:
        """Nothing: one process writes a file at a time."""
        return

    def require(self, model: Model | None) -> None:
        """Raise `IncompatibleGallery` if the codes come from another model; None stands for any."""
        own = self.model
        if model is not None and model.fingerprint != own.fingerprint:
            raise IncompatibleGallery(
                f"The gallery {self.path} was made with the model {own}, not with {GalleryModel.of(model)}: "
                "their codes do not compare. Use that model, or encode all photos again with: "
                f"sketchhash index FOLDER --reindex --gallery {self.path}"
            )

    def prepare_search(self, lasting: bool = False) -> None:
        """Load all codes: about a second for a million photos; see `OpenGallery.prepare_search`."""
        self._searched(lasting)

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        if self._memory is not None:
            return len(self._memory)
        ((photos,),) = self.rows("SELECT count(*) FROM photos")
        return int(photos)

    def search(
        self,
        values: NDArray[Any],
        k: int,
        only: Filter = EVERYTHING,
        rerank: bool = True,
        shape: ShapeQuery | None = None,
    ) -> list[Hit]:
        """Return the ``k`` nearest photos; see `OpenGallery.search`."""
        return self._searched().search(values, k, only, rerank, shape)

    def left_out(self, only: Filter) -> LeftOut:
        """Count the photos that pass but for the date or place that is asked for, and have none."""
        conditions, wanted = _where(only.without_details())
        query = f"SELECT count(*) FROM {self._with_details} WHERE {conditions} AND "
        ((undated,),) = self.rows(f"{query} taken_at IS NULL", *wanted) if only.needs_date else ((0,),)
        ((unplaced,),) = self.rows(f"{query} latitude IS NULL", *wanted) if only.near is not None else ((0,),)
        return LeftOut(undated, unplaced)

    def _searched(self, lasting: bool = False) -> MemoryIndex:
        with self._opening:
            if self._memory is None:
                self._memory = MemoryIndex(type(self).open(self.path), lasting)
            return self._memory

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
        return dict(self.rows(f"SELECT photo, code FROM codes WHERE photo IN {_THESE}", json.dumps(list(ids))))

    def thumbnail(self, photo_id: int) -> bytes:
        """Return the small JPEG of a photo."""
        return self._blob("SELECT jpeg FROM thumbnails WHERE photo = ?", photo_id)

    def details(self, ids: Sequence[int]) -> dict[int, Details]:
        """Return when, where and with what some photos were taken; one that was not examined for it has none."""
        if not self.keeps_details:
            return {}
        rows = self.rows(f"SELECT photo, {DETAILS} FROM details WHERE photo IN {_THESE}", json.dumps(list(ids)))
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

    def ids_in(self, only: Filter) -> NDArray[np.int64]:
        """Return the ids, ascending, of the photos that pass a filter."""
        conditions, wanted = _where(only)
        place = "latitude, longitude" if only.near else "0, 0"
        query = f"SELECT id, {place} FROM {self._with_details} WHERE {conditions}"
        with valued(self.path), self.scan(query, *wanted) as rows:
            found = np.fromiter(rows, dtype=[("id", np.int64), ("latitude", np.float64), ("longitude", np.float64)])
        if only.near is not None:
            found = found[only.near.contains(found["latitude"], found["longitude"])]
        return np.sort(found["id"])

    def shown_with_hits(self, ids: Iterable[int]) -> dict[int, Shown]:
        """Return what is shown of some photos, by id."""
        query = f"SELECT id, path, label, taken_at, {self._kind} FROM {self._with_details} WHERE id IN {_THESE}"
        rows = self.rows(query, json.dumps(list(ids)))
        with valued(self.path):
            return {
                photo: Shown(Path(os.fsdecode(path)), label, _taken(seconds), kind)
                for photo, path, label, seconds, kind in rows
            }

    @property
    def _with_details(self) -> str:
        """The photos and, as far as there are any, their details."""
        return f"photos LEFT JOIN {'details' if self.keeps_details else _NO_DETAILS} ON details.photo = id"

    @property
    def _kind(self) -> str:
        """The kind of a photo, as SQL."""
        return _KIND if self.keeps_drawings else "'photo'"

    def codes_of(self, ids: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes ``(ids, bits // 8)`` of some photos, in the order given."""
        codes, size = self.codes(ids), self.model.bits // 8
        with valued(self.path):
            return np.frombuffer(b"".join(codes[photo] for photo in ids), dtype=np.uint8).reshape(len(ids), size)

    def shapes_of(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the shapes of some photos, by id; photos indexed before there were shapes have none."""
        if not self.keeps_shapes:
            return {}
        query = f"SELECT photo, shape FROM shapes WHERE photo IN {_THESE} AND version = ? AND length(shape) = ?"
        return dict(self.rows(query, json.dumps(list(ids)), SHAPE_VERSION, SHAPE_BYTES))

    def count_without_shape(self) -> int:
        """Count the photos that have no shape; in a file without room for shapes none is missing."""
        if not self.keeps_shapes:
            return 0
        ((photos,),) = self.rows(f"SELECT count(*) FROM photos WHERE {_LACKS_SHAPE}")
        return int(photos)

    def perceptual_hashes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the perceptual hashes of some photos, by id; those without one are left out."""
        if self._memory is not None:  # what a search needs does not wait for other questions
            return self._memory.perceptual_hashes(ids)
        if not self.keeps_hashes:
            return {}
        return dict(self.rows(f"{_HASHES} AND photo IN {_THESE}", json.dumps(list(ids))))

    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos that were hashed, by id, in pages."""
        if self._memory is not None:
            yield from self._memory.hash_pages()
        elif self.keeps_hashes:
            last = -1
            while page := self.rows(f"{_HASHES} AND photo > ? ORDER BY photo LIMIT ?", last, _HASH_PAGE):
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
        if self._memory is not None:  # searches ask for it, and do not wait for other questions
            return self._memory.revision()
        ((by_others,),) = self.rows("PRAGMA data_version")
        return by_others, self.connection.total_changes

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

    def info(self) -> GalleryInfo:
        """Count photos and labels."""
        counted = self._counted()
        with counted.snapshot():
            ((photos, last),) = counted.rows("SELECT count(*), max(indexed_at) FROM photos")
            labels = dict(
                counted.rows("SELECT label, count(*) FROM photos WHERE label IS NOT NULL GROUP BY label ORDER BY label")
            )
            ((size,),) = counted.rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            ((dated, placed, first, latest),) = counted.rows(
                f"SELECT count(taken_at), count(latitude), min(taken_at), max(taken_at) FROM {counted._with_details}"
            )
            drawings = counted.count_drawings()
            with valued(self.path):
                when = None if last is None else _when(last)
                taken = _taken(first), _taken(latest)
                return GalleryInfo(photos, counted.model, size, labels, when, dated, placed, *taken, drawings)

    def count_drawings(self) -> int:
        """Count the drawings."""
        if not self.keeps_drawings:
            return 0
        ((drawings,),) = self.rows("SELECT count(*) FROM drawings")
        return int(drawings)

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Return the first and the last path, in the order of their bytes, if there are photos."""
        ((first, last),) = self.rows("SELECT (SELECT min(path) FROM photos), (SELECT max(path) FROM photos)")
        return None if first is None else (first, last)

    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``, which ends with a slash; the fullest first."""
        return self._counted().rows(_TOP_FOLDERS, len(below) + 1, os.fsencode(os.sep), most, below)

    def sample(self, most: int) -> Sample:
        """Return at most ``most`` photos, spread evenly over when they were indexed; always the same ones."""
        counted = self._counted()
        ((first, last),) = counted.rows("SELECT (SELECT min(photo) FROM codes), (SELECT max(photo) FROM codes)")
        if first is None:
            return Sample((), (), np.empty((0, counted.model.bits // 8), dtype=np.uint8))
        places = np.unique(np.linspace(first, last, most).astype(np.int64))
        rows = counted.rows(_AT_PLACES, json.dumps(places.tolist()))
        with valued(self.path):
            ids, codes, labels = zip(*rows, strict=True)
            return Sample(ids, labels, np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(len(ids), -1))

    def damage(self) -> list[str]:
        """Check the file as a whole, and return what SQLite finds wrong with it, at most three remarks."""
        remarks = [remark.replace("\n", " ") for (remark,) in self.rows("PRAGMA integrity_check(3)")]
        return [] if remarks == ["ok"] else remarks

    def _counted(self) -> GalleryFile:
        """Return a connection for long counts, so that looking up photos does not wait for them."""
        if self.connection.in_transaction:  # inside a snapshot, everything is of one state
            return self
        with self._opening:
            if self._counting is None:
                self._counting = type(self).open(self.path)
            return self._counting

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
        columns = f"{_COLUMNS}, {self._kind}, coalesce(code, x''), {shape}, {perceptual}"
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
        return self.photo_rows(f"id IN {_THESE}", json.dumps(list(ids)))

    def photos_at(self, paths: Sequence[Path]) -> dict[Path, PhotoRow]:
        """Return the rows of the photos at some absolute paths."""
        found = self.photo_rows(f"path IN ({', '.join('?' * len(paths))})", *map(os.fsencode, paths))
        return {row.photo.path: row for row in found}

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos; a photo that is gone has none."""
        return dict(self.rows(f"SELECT photo, jpeg FROM thumbnails WHERE photo IN {_THESE}", json.dumps(list(ids))))

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all of them or none."""
        with self.writing() as writer:
            writer.put_rows(rows, thumbnails)

    def remove_photos(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        with self.writing() as writer:
            writer.remove(ids)

    def settle(self) -> None:
        """Do nothing: every write is finished when it returns."""

    @contextmanager
    def writing(self, model: Model | None = None) -> Iterator[FileWriter]:
        """Change the gallery: all that the writer does is kept at the end of the block, or none of it.

        Raises:
            BusyGallery: If another process kept writing for several seconds; nothing was done then.
            IncompatibleGallery: If the gallery has started over with another model than ``model``.
        """
        with self._turn, explained(self.path), transaction(self.connection, "BEGIN IMMEDIATE"):
            self.require(model)
            yield FileWriter(self)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See the gallery in one state throughout the block, whatever others write meanwhile."""
        with self._turn, explained(self.path), transaction(self.connection, "BEGIN"):
            yield

    def remove(self, places: Iterable[Path]) -> int:
        """Remove the photos in and below ``places``, and count them; their files are left alone."""
        with self.writing() as writer:
            return sum(writer.remove(photo.id for photo in self.within(place)) for place in places)

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return all rows that an SQL ``query`` finds."""
        with self._turn, explained(self.path):
            return self.connection.execute(query, values).fetchall()

    @contextmanager
    def scan(self, query: str, *values: object) -> Iterator[sqlite3.Cursor]:
        """Run an SQL ``query`` whose rows are too many to hold; other threads wait until the block ends."""
        with self._turn, explained(self.path):
            yield self.connection.execute(query, values)

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
            query = f"SELECT {_COLUMNS}, {self._kind} FROM photos WHERE {condition}"
            return [_record(row) for row in self.rows(query, *values)]


def _record(row: Sequence[Any]) -> PhotoRecord:
    path, sha256, size, mtime_ns, label, photo_id, indexed_at, kind = row
    place, when = Path(os.fsdecode(path)), _when(indexed_at)
    return PhotoRecord(place, sha256.hex(), size, mtime_ns, label, kind, id=photo_id, indexed_at=when)


def _where(only: Filter) -> tuple[str, list[object]]:
    """Write a filter as an SQL condition, and what its placeholders stand for."""
    conditions = only.conditions()
    written = " AND ".join(f"{column} {operator} ?" for column, operator, _ in conditions)
    return written or "TRUE", [value for _, _, value in conditions]


def _taken(seconds: int | None) -> datetime | None:
    return None if seconds is None else moment_of(seconds)


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
