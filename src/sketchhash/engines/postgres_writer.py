"""Changes of a gallery in PostgreSQL, inside a transaction, and how a photo is rows of its tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sketchhash.engines.postgres import packed
from sketchhash.gallery.photos import PhotoFile, PhotoKind, PhotoRecord
from sketchhash.gallery.protocol import GalleryModel, PhotoRow
from sketchhash.gallery.writer import DETAILS, Writer
from sketchhash.imaging.details import Details
from sketchhash.model import Model
from sketchhash.tokens.shape import SHAPE_VERSION

if TYPE_CHECKING:
    from sketchhash.engines.postgres_gallery import PostgresGallery

DETAIL_NAMES = ("photo", *DETAILS.split(", "))
THUMBNAILS = "SELECT photo, jpeg FROM thumbnails WHERE photo = ANY(%s::bigint[])"
_PUT = """
    INSERT INTO photos (id, path, sha256, size, mtime_ns, label, indexed_at) VALUES (%s, %s, %s, %s, %s, %s, %s)
"""
_PUT_DETAILS = f"""
    INSERT INTO details ({", ".join(DETAIL_NAMES)}) VALUES ({", ".join(["%s"] * len(DETAIL_NAMES))})
"""
# The greatest that there ever was, kept beside the rows: no id is used again.
_NEW_ID = """
    INSERT INTO settings (name, value)
    VALUES ('last_id', (SELECT (coalesce(max(id), 0) + 1)::text FROM photos))
    ON CONFLICT (name) DO UPDATE
    SET value = (greatest(settings.value::bigint, (SELECT coalesce(max(id), 0) FROM photos)) + 1)::text
    RETURNING value::bigint
"""


class PostgresWriter(Writer):
    """Changes a gallery inside a transaction; get one from `PostgresGallery.writing`."""

    def __init__(self, gallery: PostgresGallery, connection: Any, cursor: Any) -> None:  # noqa: ANN401
        """Write through a connection that is in a transaction."""
        self._gallery = gallery
        self._connection = connection
        self._cursor = cursor

    def find(self, files: Sequence[PhotoFile]) -> list[PhotoRow]:
        """Return the rows at the path of any of the files, or with the content of any."""
        paths, contents = [os.fsencode(file.path) for file in files], [bytes.fromhex(file.sha256) for file in files]
        return self._rows("path = ANY(%s::bytea[]) OR sha256 = ANY(%s::bytea[])", paths, contents)

    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Return the rows of some ids, by id."""
        return {row.photo.id: row for row in self._rows("id = ANY(%s::bigint[])", list(ids))}

    def thumbnails(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the small JPEGs of some photos."""
        return {photo: bytes(jpeg) for photo, jpeg in self._cursor.execute(THUMBNAILS, [list(ids)]).fetchall()}

    def new_id(self, file: PhotoFile) -> int:
        """Return the next id; no other writer is at work."""
        ((last,),) = self._cursor.execute(_NEW_ID).fetchall()
        return int(last)

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write rows; those with the same ids are replaced, and keep their thumbnails if none is given."""
        if not rows:
            return
        gallery, cursor = self._gallery, self._cursor
        ids = [row.photo.id for row in rows]
        kept = self.thumbnails([each for each in ids if each not in thumbnails])
        # Two photos may have exchanged their paths: the one that is not written yet makes room.
        gone = "SELECT id FROM photos WHERE path = ANY(%s::bytea[])"
        others = cursor.execute(gone, [[os.fsencode(row.photo.path) for row in rows]]).fetchall()
        self.remove([*ids, *(photo for (photo,) in others)])
        cursor.executemany(_PUT, [_columns(row.photo) for row in rows])
        small = [(each, thumbnails.get(each) or kept.get(each)) for each in ids]
        cursor.executemany("INSERT INTO thumbnails (photo, jpeg) VALUES (%s, %s)", [each for each in small if each[1]])
        codes = np.frombuffer(b"".join(row.code for row in rows), dtype=np.uint8).reshape(len(rows), -1)
        gallery.code_table.write(self._connection, ids, codes)
        if gallery.keeps_shapes:
            shapes = [(row.photo.id, SHAPE_VERSION, row.shape) for row in rows if row.shape is not None]
            cursor.executemany("INSERT INTO shapes (photo, version, shape) VALUES (%s, %s, %s)", shapes)
        if gallery.keeps_details:
            details = [(row.photo.id, *row.details.columns()) for row in rows if row.details is not None]
            cursor.executemany(_PUT_DETAILS, details)
        if gallery.keeps_hashes:
            hashes = [(row.photo.id, row.perceptual) for row in rows if row.perceptual is not None]
            cursor.executemany("INSERT INTO perceptual_hashes (photo, hash) VALUES (%s, %s)", hashes)
        if gallery.keeps_drawings:
            drawings = [(row.photo.id,) for row in rows if row.photo.kind == "drawing"]
            cursor.executemany("INSERT INTO drawings (photo) VALUES (%s)", drawings)

    def remove(self, photos: Iterable[int]) -> int:
        """Remove photos by id, and count those that were there."""
        ids = list(photos)
        for table, key in (("codes", "id"), ("thumbnails", "photo"), ("photos", "id")):
            self._cursor.execute(f"DELETE FROM {table} WHERE {key} = ANY(%s::bigint[])", [ids])
        return int(self._cursor.rowcount)

    def start_over(self, model: Model) -> None:
        """Remove every photo, and expect codes of ``model`` from now on."""
        described = GalleryModel.of(model)
        for table in ("codes", "thumbnails", "photos"):
            self._cursor.execute(f"DELETE FROM {table}")
        self._cursor.execute(f"ALTER TABLE codes ALTER COLUMN code TYPE bit({int(described.bits)})")
        about = {"model": described.name, "fingerprint": described.fingerprint, "bits": str(described.bits)}
        for name, value in about.items():
            self._cursor.execute("UPDATE settings SET value = %s WHERE name = %s", [value, name])

    def _rows(self, condition: str, *values: object) -> list[PhotoRow]:
        found = self._cursor.execute(f"{self._gallery.row_query} WHERE {condition} ORDER BY id", values).fetchall()
        return [photo_row(columns) for columns in found]


def _columns(photo: PhotoRecord) -> tuple[object, ...]:
    content = bytes.fromhex(photo.sha256)
    return (photo.id, os.fsencode(photo.path), content, photo.size, photo.mtime_ns, photo.label, photo.indexed_at)


def photo_row(columns: Sequence[Any]) -> PhotoRow:
    """Return the photo of a row that the gallery's query found."""
    photo_id, path, sha256, size, mtime_ns, label, indexed_at, code, shape, perceptual, drawing, *details = columns
    when: datetime = indexed_at.astimezone(UTC)
    place = Path(os.fsdecode(bytes(path)))
    kind: PhotoKind = "photo" if drawing is None else "drawing"
    return PhotoRow(
        PhotoRecord(place, bytes(sha256).hex(), size, mtime_ns, label, kind, id=photo_id, indexed_at=when),
        packed(code),
        None if shape is None else bytes(shape),
        None if details[-1] is None else Details.of_columns(details),  # all rows of details have sidecars
        None if perceptual is None else bytes(perceptual),
    )
