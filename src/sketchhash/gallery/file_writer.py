"""How a gallery's file is changed: rows are found, put and removed inside one transaction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sketchhash.gallery.photos import PhotoFile
from sketchhash.gallery.protocol import GalleryModel, PhotoRow
from sketchhash.gallery.schema import write_model
from sketchhash.gallery.writer import DETAILS, Writer
from sketchhash.model import Model
from sketchhash.tokens.shape import SHAPE_VERSION

if TYPE_CHECKING:
    from sketchhash.gallery.database import GalleryFile

_LAST_ID = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'photos'), 0)"
# Two photos may have exchanged their paths: the one that is not written yet makes room.
_MAKE_ROOM = "UPDATE photos SET path = CAST(x'00' || id AS BLOB) WHERE path = ? AND id <> ?"
_PUT_PHOTO = """
    INSERT INTO photos (id, path, sha256, size, mtime_ns, label, indexed_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET path = excluded.path, sha256 = excluded.sha256, size = excluded.size,
    mtime_ns = excluded.mtime_ns, label = excluded.label, indexed_at = excluded.indexed_at
"""
_PUT_CODE = "INSERT INTO codes (photo, code) VALUES (?, ?) ON CONFLICT (photo) DO UPDATE SET code = excluded.code"
_PUT_DETAILS = f"INSERT INTO details (photo, {DETAILS}) VALUES (?{', ?' * len(DETAILS.split(','))})"


class FileWriter(Writer):
    """Changes a gallery's file inside a transaction; get one from `GalleryFile.writing`."""

    def __init__(self, gallery: GalleryFile) -> None:
        """Write to a gallery that is in a transaction."""
        self._gallery = gallery
        self._last_id = 0

    def find(self, files: Sequence[PhotoFile]) -> list[PhotoRow]:
        """Return the rows at the path of any of the files, or with the content of any."""
        paths, contents = [os.fsencode(file.path) for file in files], [bytes.fromhex(file.sha256) for file in files]
        marks = ", ".join("?" * len(files))
        return self._gallery.photo_rows(f"path IN ({marks}) OR sha256 IN ({marks}) ORDER BY id", *paths, *contents)

    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Return the rows of some ids, by id."""
        return {row.photo.id: row for row in self._gallery.rows_of(ids)}

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos."""
        return self._gallery.thumbnails(ids)

    def new_id(self, file: PhotoFile) -> int:
        """Return the next id; no other writer is at work."""
        ((last,),) = self._gallery.rows(_LAST_ID)
        self._last_id = max(self._last_id, last) + 1
        return self._last_id

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write rows; those with the same ids are replaced, and keep their thumbnails if none is given."""
        run = self._gallery.rows
        for row in rows:
            photo, path = row.photo, os.fsencode(row.photo.path)
            content, when = bytes.fromhex(photo.sha256), photo.indexed_at.timestamp()
            run(_MAKE_ROOM, path, photo.id)
            run(_PUT_PHOTO, photo.id, path, content, photo.size, photo.mtime_ns, photo.label, when)
            if row.code:  # in a damaged gallery one may be missing
                run(_PUT_CODE, photo.id, row.code)
            if photo.id in thumbnails:
                run("REPLACE INTO thumbnails (photo, jpeg) VALUES (?, ?)", photo.id, thumbnails[photo.id])
            for table in ("shapes", "details", "perceptual_hashes", "drawings"):
                run(f"DELETE FROM {table} WHERE photo = ?", photo.id)
            if row.shape is not None:
                run("INSERT INTO shapes VALUES (?, ?, ?)", photo.id, SHAPE_VERSION, row.shape)
            if row.details is not None:
                run(_PUT_DETAILS, photo.id, *row.details.columns())
            if row.perceptual is not None:
                run("INSERT INTO perceptual_hashes VALUES (?, ?)", photo.id, row.perceptual)
            if photo.kind == "drawing":
                run("INSERT INTO drawings VALUES (?)", photo.id)

    def remove(self, photos: Iterable[int]) -> int:
        """Remove photos by id, and count those that were there; their files are left alone."""
        return sum(len(self._gallery.rows("DELETE FROM photos WHERE id = ? RETURNING id", each)) for each in photos)

    def start_over(self, model: Model) -> None:
        """Remove every photo, and expect codes of ``model`` from now on."""
        self._gallery.rows("DELETE FROM photos")
        write_model(self._gallery.connection, GalleryModel.of(model))
