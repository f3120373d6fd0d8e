"""A gallery: photos with their codes and thumbnails, in one SQLite file.

Any number of processes may read while one writes; writers take turns. All that belongs to a photo is written in
one transaction, so a gallery never holds half of one, whenever its writer is killed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

from sketchhash.errors import BadArgument, IncompatibleGallery, UnwritableState
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.scanning import absolute
from sketchhash.gallery.schema import CodeMaker, begin_gallery, connect, explained, read_maker, transaction
from sketchhash.gallery.surveying import Sample, draw_sample, path_ends, top_folders
from sketchhash.gallery.writing import Writer
from sketchhash.model import Model

_PAGE = 1000


@dataclass(frozen=True)
class GalleryInfo:
    """A gallery in numbers; ``labels`` counts the photos of each label, unlabelled ones are left out."""

    photos: int
    maker: CodeMaker
    bytes: int
    labels: Mapping[str, int]
    last_indexed: datetime | None


class Gallery:
    """An open gallery; safe to use from many threads, which take turns."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Take an open file; `open` and `create` are the ways in."""
        self.path = path
        self._connection = connection
        self._turn = RLock()

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
    def create(cls, path: Path, model: Model) -> Self:
        """Open the gallery at ``path``, which is made if it is not there."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UnwritableState(
                f"The folder of the gallery {path} cannot be made: {problem.strerror}. Name a file elsewhere."
            ) from problem
        connection = connect(path, create=True)
        try:
            begin_gallery(connection, path, CodeMaker.of(model))
        finally:
            connection.close()
        return cls.open(path, model)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Close the file at the end of the ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    @property
    def maker(self) -> CodeMaker:
        """The model that the codes come from."""
        with self._turn, explained(self.path):
            return read_maker(self._connection)

    def require(self, model: Model | None) -> None:
        """Raise `IncompatibleGallery` if the codes come from another model; None stands for any."""
        made_by = self.maker
        if model is not None and model.fingerprint != made_by.fingerprint:
            raise IncompatibleGallery(
                f"The gallery {self.path} was made with the model {made_by.name!r} of {made_by.bits} bits "
                f"({made_by.fingerprint[:12]}), not with {model.manifest.name!r} of {model.bits} bits "
                f"({model.fingerprint[:12]}): their codes do not compare. Use that model, or encode all photos "
                f"again with: sketchhash index --reindex"
            )

    @contextmanager
    def writing(self, model: Model | None = None) -> Iterator[Writer]:
        """Change the gallery: all that the `Writer` does is kept at the end of the block, or none of it.

        Raises:
            BusyGallery: If another process kept writing for several seconds; nothing was done then.
            IncompatibleGallery: If the gallery has started over with another model than ``model``.
        """
        with self._turn, explained(self.path), transaction(self._connection, "BEGIN IMMEDIATE"):
            self.require(model)
            yield Writer(self._connection)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See the gallery in one state throughout the block, whatever others write meanwhile."""
        with self._turn, explained(self.path), transaction(self._connection, "BEGIN"):
            yield

    def revision(self) -> tuple[int, int]:
        """Give two numbers that stay the same only while nobody changes the gallery."""
        ((by_others,),) = self.rows("PRAGMA data_version")
        return by_others, self._connection.total_changes

    def rows(self, query: str, *values: object) -> list[Any]:
        """Give all rows that an SQL ``query`` finds."""
        with self._turn, explained(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def scan(self, query: str, *values: object) -> Iterator[sqlite3.Cursor]:
        """Run an SQL ``query`` whose rows are too many to hold; others wait until the block ends."""
        with self._turn, explained(self.path):
            yield self._connection.execute(query, values)

    def photos(self) -> Iterator[PhotoRecord]:
        """Give every photo, by id; photos that come or go meanwhile may be among them or not."""
        last = 0
        while page := self._records("id > ? ORDER BY id LIMIT ?", last, _PAGE):
            yield from page
            last = page[-1].id

    def photo(self, photo_id: int) -> PhotoRecord:
        """Give the photo of an id, or raise `BadArgument` when there is none."""
        for record in self._records("id = ?", photo_id):
            return record
        raise BadArgument(f"The gallery {self.path} has no photo with the id {photo_id}.")

    def at(self, path: Path) -> PhotoRecord | None:
        """Give the photo at an absolute path, if it is in the gallery."""
        return next(iter(self._records("path = ?", os.fsencode(path))), None)

    def within(self, place: Path) -> Iterator[PhotoRecord]:
        """Give the photo at ``place``, or those at any depth below it, by path."""
        yield from self._records("path = ?", os.fsencode(absolute(place)))
        last, end = path_range(place)
        while page := self._records("path > ? AND path < ? ORDER BY path LIMIT ?", last, end, _PAGE):
            yield from page
            last = os.fsencode(page[-1].path)

    def has_content(self, sha256: str) -> bool:
        """Tell whether a photo with this content is in the gallery."""
        return bool(self.rows("SELECT 1 FROM photos WHERE sha256 = ? LIMIT 1", bytes.fromhex(sha256)))

    def remove(self, places: Iterable[Path]) -> int:
        """Remove the photos in and below ``places``, and count them; their files are left alone."""
        with self.writing() as writer:
            return sum(writer.remove(photo.id for photo in self.within(place)) for place in places)

    def code(self, photo_id: int) -> bytes:
        """Give the packed code of a photo."""
        return self._blob("SELECT code FROM codes WHERE photo = ?", photo_id)

    def thumbnail(self, photo_id: int) -> bytes:
        """Give the small JPEG of a photo."""
        return self._blob("SELECT jpeg FROM thumbnails WHERE photo = ?", photo_id)

    def info(self) -> GalleryInfo:
        """Count what the gallery holds."""
        with self.snapshot():
            ((photos, last),) = self.rows("SELECT count(*), max(indexed_at) FROM photos")
            labels = dict(
                self.rows("SELECT label, count(*) FROM photos WHERE label IS NOT NULL GROUP BY label ORDER BY label")
            )
            ((size,),) = self.rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            return GalleryInfo(photos, self.maker, size, labels, None if last is None else _when(last))

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Give the first and the last path, in the order of their bytes, if there are photos."""
        return path_ends(self)

    def top_folders(self, start: int, most: int) -> list[tuple[bytes, int]]:
        """Count the photos of each folder that is named from byte ``start`` of the paths on; the fullest first."""
        return top_folders(self, start, most)

    def sample(self, most: int) -> Sample:
        """Give at most so many photos, spread evenly over when they were indexed; always the same ones."""
        return draw_sample(self, most)

    def _blob(self, query: str, photo_id: int) -> bytes:
        for (blob,) in self.rows(query, photo_id):
            return bytes(blob)
        raise BadArgument(f"The gallery {self.path} has no photo with the id {photo_id}.")

    def _records(self, condition: str, *values: object) -> list[PhotoRecord]:
        columns = "path, sha256, size, mtime_ns, label, id, indexed_at"
        return [_record(row) for row in self.rows(f"SELECT {columns} FROM photos WHERE {condition}", *values)]


def path_range(folder: Path) -> tuple[bytes, bytes]:
    """Give two paths, as they are stored, between which lies everything below ``folder``.

    >>> path_range(Path("/photos/cats"))
    (b'/photos/cats/', b'/photos/cats0')
    """
    start = os.fsencode(os.path.join(absolute(folder), ""))  # noqa: PTH118 - pathlib drops the last slash
    return start, start[:-1] + bytes([start[-1] + 1])


def _record(row: Sequence[Any]) -> PhotoRecord:
    path, sha256, size, mtime_ns, label, photo_id, indexed_at = row
    return PhotoRecord(
        Path(os.fsdecode(path)), sha256.hex(), size, mtime_ns, label, id=photo_id, indexed_at=_when(indexed_at)
    )


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
