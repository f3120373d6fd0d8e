"""The changes that indexing makes to a gallery file, inside one of its transactions."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path

from sketchhash.gallery.photos import PhotoFile, is_gone
from sketchhash.gallery.protocol import GalleryModel
from sketchhash.gallery.schema import write_model
from sketchhash.imaging.details import Details
from sketchhash.model import Model
from sketchhash.tokens.shape import SHAPE_VERSION

DETAILS = "taken_at, camera, width, height, latitude, longitude, description, sidecars"
"""The columns of `Details.columns`."""


class Change(Enum):
    """What bringing one file up to date came to."""

    ADDED = "added"
    UPDATED = "updated"
    MOVED = "moved"
    DESCRIBED = "described"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


class Writer:
    """Changes a gallery inside a transaction; get one from `GalleryFile.writing`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Write through a connection that is in a transaction."""
        self._connection = connection

    def put(
        self,
        file: PhotoFile,
        code: bytes,
        thumbnail: bytes,
        shape: bytes | None = None,
        details: Details | None = None,
    ) -> Change:
        """Store a photo, with its shape if the model finds contours; what was at that path before is replaced."""
        if (touched := self._touch(file, details)) is not None:
            return touched
        was_there = self._forget(file.path)
        photo = self._insert(file)
        self._connection.execute("INSERT INTO codes (photo, code) VALUES (?, ?)", (photo, code))
        self._connection.execute("INSERT INTO thumbnails (photo, jpeg) VALUES (?, ?)", (photo, thumbnail))
        if shape is not None:
            self._connection.execute("INSERT INTO shapes VALUES (?, ?, ?)", (photo, SHAPE_VERSION, shape))
        self._describe(photo, details)
        return Change.UPDATED if was_there else Change.ADDED

    def put_known(self, file: PhotoFile, details: Details | None = None) -> Change | None:
        """Store a file whose content the gallery has: its photo moved if its own file is gone, or else a copy.

        Returns None, and does nothing, if no photo has that content.
        """
        if (touched := self._touch(file, details)) is not None:
            return touched
        twins = self._connection.execute(
            "SELECT id, path FROM photos WHERE sha256 = ? ORDER BY id", (bytes.fromhex(file.sha256),)
        ).fetchall()
        if not twins:
            return None
        was_there = self._forget(file.path)
        for photo, path in twins:
            if is_gone(Path(os.fsdecode(path))):
                self._update(photo, file)
                self._describe(photo, details)
                return Change.MOVED
        copy = self._insert(file)
        twin = twins[0][0]
        self._connection.execute("INSERT INTO codes SELECT ?, code FROM codes WHERE photo = ?", (copy, twin))
        self._connection.execute("INSERT INTO thumbnails SELECT ?, jpeg FROM thumbnails WHERE photo = ?", (copy, twin))
        self._connection.execute(
            "INSERT INTO shapes SELECT ?, version, shape FROM shapes WHERE photo = ?", (copy, twin)
        )
        self._describe(copy, details)
        return Change.UPDATED if was_there else Change.ADDED

    def put_shapes(self, shapes: Mapping[int, bytes]) -> None:
        """Store the shapes of photos, by id; a photo that is gone gets none."""
        self._connection.executemany(
            "REPLACE INTO shapes SELECT id, ?, ? FROM photos WHERE id = ?",
            [(SHAPE_VERSION, shape, photo) for photo, shape in shapes.items()],
        )

    def put_details(self, details: Mapping[int, Details]) -> None:
        """Store when, where and with what photos were taken, by id."""
        for photo, described in details.items():
            self._describe(photo, described)

    def remove(self, photos: Iterable[int]) -> int:
        """Remove photos by id, and count those that were there; their files are left alone."""
        return sum(self._connection.execute("DELETE FROM photos WHERE id = ?", (photo,)).rowcount for photo in photos)

    def start_over(self, model: Model) -> None:
        """Remove every photo, and expect codes of ``model`` from now on."""
        self._connection.execute("DELETE FROM photos")
        write_model(self._connection, GalleryModel.of(model))

    def _touch(self, file: PhotoFile, details: Details | None) -> Change | None:
        """Note the size and time of a file whose content is as it was, and what was read anew; None if it is not."""
        row = self._connection.execute(
            "SELECT id FROM photos WHERE path = ? AND sha256 = ?", (os.fsencode(file.path), bytes.fromhex(file.sha256))
        ).fetchone()
        if row is None:
            return None
        self._update(row[0], file)
        return Change.DESCRIBED if self._describe(row[0], details) else Change.UNCHANGED

    def _describe(self, photo: int | None, details: Details | None) -> bool:
        """Note the details of a photo, and tell whether that changed anything."""
        columns = None if details is None else details.columns()
        known = self._connection.execute(f"SELECT {DETAILS} FROM details WHERE photo = ?", (photo,)).fetchone()
        if columns is None or columns == known:
            return False
        self._connection.execute(
            f"REPLACE INTO details (photo, {DETAILS}) VALUES (?{', ?' * len(columns)})", (photo, *columns)
        )
        return True

    def _update(self, photo: int, file: PhotoFile) -> None:
        self._connection.execute(
            "UPDATE photos SET path = ?, size = ?, mtime_ns = ?, label = coalesce(?, label) WHERE id = ?",
            (os.fsencode(file.path), file.size, file.mtime_ns, file.label, photo),
        )

    def _forget(self, path: Path) -> bool:
        return self._connection.execute("DELETE FROM photos WHERE path = ?", (os.fsencode(path),)).rowcount > 0

    def _insert(self, file: PhotoFile) -> int | None:
        content, now = bytes.fromhex(file.sha256), time.time()
        return self._connection.execute(
            "INSERT INTO photos (path, sha256, size, mtime_ns, label, indexed_at) VALUES (?, ?, ?, ?, ?, ?)",
            (os.fsencode(file.path), content, file.size, file.mtime_ns, file.label, now),
        ).lastrowid
