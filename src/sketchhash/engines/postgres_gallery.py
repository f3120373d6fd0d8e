"""A gallery in PostgreSQL: photos, codes, shapes, details and thumbnails in tables of one schema.

Each batch of changes is one transaction, and raises the revision, so that counts are made anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.engines.addresses import Address
from sketchhash.engines.engine_gallery import EngineGallery
from sketchhash.engines.postgres import CodeTable, Database, packed
from sketchhash.errors import BadArgument
from sketchhash.gallery.filters import Filter, LeftOut
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, PhotoRow, Sample
from sketchhash.gallery.schema import other_format
from sketchhash.gallery.writer import DETAILS
from sketchhash.imaging.details import Details, moment_of
from sketchhash.index.protocol import Hits, Wanted
from sketchhash.tokens.shape import SHAPE_VERSION

_T = TypeVar("_T")

_FORMAT = "1"
_PAGE = 1000

_TABLES = (
    "CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL)",
    """CREATE TABLE photos (
        id bigint PRIMARY KEY,
        path bytea NOT NULL UNIQUE,
        sha256 bytea NOT NULL,
        size bigint NOT NULL,
        mtime_ns bigint NOT NULL,
        label text,
        indexed_at timestamptz NOT NULL
    )""",
    "CREATE INDEX photos_by_label ON photos (label)",
    "CREATE TABLE thumbnails (photo bigint PRIMARY KEY, jpeg bytea NOT NULL)",
)
_SHAPES = """CREATE TABLE IF NOT EXISTS shapes (
        photo bigint PRIMARY KEY REFERENCES photos ON DELETE CASCADE,
        version integer NOT NULL,
        shape bytea NOT NULL
    )"""
_DETAILS = (
    """CREATE TABLE IF NOT EXISTS details (
        photo bigint PRIMARY KEY REFERENCES photos ON DELETE CASCADE,
        taken_at bigint,
        camera text,
        width integer,
        height integer,
        latitude double precision,
        longitude double precision,
        description text,
        sidecars bigint NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS details_by_date ON details (taken_at)",
    "CREATE INDEX IF NOT EXISTS details_by_place ON details (latitude, longitude)",
)
_DETAIL_NAMES = ("photo", *DETAILS.split(", "))
# Galleries of before there were shapes or details have neither table.
_NO_SHAPES = "(SELECT NULL::bigint AS photo, 0 AS version, NULL::bytea AS shape WHERE FALSE) AS shapes"
_NO_DETAILS = f"(SELECT {', '.join(f'NULL::bigint AS {name}' for name in _DETAIL_NAMES)} WHERE FALSE) AS details"
_ROWS = f"""
    SELECT id, path, sha256, size, mtime_ns, label, indexed_at, code::text, shape, {DETAILS}
    FROM photos JOIN codes USING (id) LEFT JOIN {{shapes}} ON shapes.photo = id AND version = {SHAPE_VERSION}
    LEFT JOIN {{details}} ON details.photo = id
"""
_COUNTS = """
    SELECT count(*), max(indexed_at), count(taken_at), count(latitude), min(taken_at), max(taken_at)
    FROM photos LEFT JOIN {details} ON details.photo = id
"""
_PUT = """
    INSERT INTO photos (id, path, sha256, size, mtime_ns, label, indexed_at) VALUES (%s, %s, %s, %s, %s, %s, %s)
"""
_PUT_DETAILS = f"""
    INSERT INTO details ({", ".join(_DETAIL_NAMES)}) VALUES ({", ".join(["%s"] * len(_DETAIL_NAMES))})
"""
_LABELS = """
    SELECT label, count(*) FROM photos WHERE label IS NOT NULL GROUP BY label ORDER BY label COLLATE "C"
"""
_SIZE = """
    SELECT sum(pg_total_relation_size(name)) FROM unnest(ARRAY['photos', 'codes', 'thumbnails']::regclass[]) AS name
"""
_TOP_FOLDERS = """
    SELECT substring(rest FROM 1 FOR position(%s::bytea IN rest) - 1) AS top, count(*)
    FROM (
        SELECT substring(path FROM %s::integer) AS rest FROM photos
        WHERE substring(path FROM 1 FOR %s::integer) = %s::bytea
    ) AS paths
    WHERE position(%s::bytea IN rest) > 0 GROUP BY top ORDER BY count(*) DESC, top LIMIT %s
"""
_AT_PLACES = """
    SELECT DISTINCT next.id, next.code::text, label FROM unnest(%s::bigint[]) AS place
    CROSS JOIN LATERAL (SELECT id, code FROM codes WHERE id >= place ORDER BY id LIMIT 1) AS next
    JOIN photos ON photos.id = next.id ORDER BY next.id
"""


class PostgresGallery(EngineGallery):
    """An open gallery at ``postgresql://user:password@host:port/database?gallery=name``."""

    def __init__(self, database: Database) -> None:
        """Take the gallery of a ``database``.

        Raises:
            BadArgument: If there is none.
        """
        self._database = database
        if not database.rows("SELECT to_regclass(%s)", f"{database.schema}.settings")[0][0]:
            raise BadArgument(
                f"There is no gallery {database.schema!r} at {database.address.shown}. "
                "Make one with: sketchhash gallery copy"
            )
        settings = dict(database.rows("SELECT name, value FROM settings"))
        if settings["format"] != _FORMAT:
            raise other_format(database.address.shown, int(settings["format"]), int(_FORMAT))
        model = GalleryModel(settings["model"], settings["fingerprint"], int(settings["bits"]))
        super().__init__(f"{database.address.shown} ({database.schema})", model)
        self._codes = _code_table(database, model)
        self._counted = "", 0
        # A gallery of before there were shapes has them once it was copied to again.
        (self.keeps_shapes,) = database.rows("SELECT to_regclass(%s) IS NOT NULL", f"{database.schema}.shapes")[0]
        (self.keeps_details,) = database.rows("SELECT to_regclass(%s) IS NOT NULL", f"{database.schema}.details")[0]
        self._details = "details" if self.keeps_details else _NO_DETAILS
        self._rows = _ROWS.format(shapes="shapes" if self.keeps_shapes else _NO_SHAPES, details=self._details)

    @classmethod
    def open(cls, address: str) -> Self:
        """Open the gallery at an ``address``."""
        return _closing_upon_error(Database(Address.parse(address)), cls)

    @classmethod
    def create(cls, address: str, model: GalleryModel) -> Self:
        """Open the gallery at an ``address``, which is made for codes of ``model`` if it is not there."""
        return _closing_upon_error(Database(Address.parse(address)), lambda database: cls._made(database, model))

    @classmethod
    def _made(cls, database: Database, model: GalleryModel) -> Self:
        with database.transaction() as connection:
            connection.execute("SET LOCAL statement_timeout = 0")  # to build HNSW for many codes takes minutes
            _code_table(database, model).make(connection)
            if not connection.execute("SELECT to_regclass(%s)", [f"{database.schema}.settings"]).fetchone()[0]:
                for statement in _TABLES:
                    connection.execute(statement)
                about = {"model": model.name, "fingerprint": model.fingerprint, "bits": str(model.bits)}
                with connection.cursor() as cursor:
                    cursor.executemany(
                        "INSERT INTO settings (name, value) VALUES (%s, %s)",
                        [*about.items(), ("format", _FORMAT), ("revision", "0")],
                    )
            for statement in (_SHAPES, *_DETAILS):
                connection.execute(statement)
        return cls(database)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def count(self) -> int:
        """Count the photos now."""
        revision = self.revision()
        if self._counted[0] != revision:
            ((count,),) = self._database.rows("SELECT count(*) FROM photos")
            self._counted = revision, int(count)
        return self._counted[1]

    def nearest(self, query: NDArray[np.uint8], k: int, only: Filter) -> Hits:
        """Find the ``k`` nearest codes of one query ``(1, bits // 8)``."""
        conditions, values = _where(only)
        photos = f"photos LEFT JOIN {self._details} ON details.photo = id WHERE {conditions}"
        among = "" if only.is_empty else f"WHERE id IN (SELECT id FROM {photos})"
        if only.near is not None:
            places = self._database.rows(f"SELECT id, latitude, longitude FROM {photos}", *values)
            found = np.array(places, dtype=[("id", np.int64), ("latitude", np.float64), ("longitude", np.float64)])
            inside = found["id"][only.near.contains(found["latitude"], found["longitude"])]
            among, values = "WHERE id = ANY(%s::bigint[])", [inside.tolist()]
        (hits,) = self._codes.nearest(query, Wanted(k, self.model.bits), among, values)
        return hits

    def left_out(self, only: Filter) -> LeftOut:
        """Count the photos that pass but for the date or place that is asked for, and have none."""
        conditions, values = _where(only.without_details())
        query = f"SELECT count(*) FROM photos LEFT JOIN {self._details} ON details.photo = id WHERE {conditions} AND "
        columns = {"taken_at": only.needs_date, "latitude": only.near is not None}
        return LeftOut(
            *(
                self._database.rows(f"{query} {column} IS NULL", *values)[0][0] if is_asked else 0
                for column, is_asked in columns.items()
            )
        )

    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Return the rows of some ids, by id."""
        found = self._database.rows(f"{self._rows} WHERE id = ANY(%s::bigint[])", list(ids))
        return {columns[0]: _row(columns) for columns in found}

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Yield all rows, by id, in pages."""
        last = -(2**63)
        while page := self._database.rows(f"{self._rows} WHERE id > %s ORDER BY id LIMIT %s", last, _PAGE):
            yield [_row(columns) for columns in page]
            last = page[-1][0]

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos."""
        query = "SELECT photo, jpeg FROM thumbnails WHERE photo = ANY(%s::bigint[])"
        return {photo: bytes(jpeg) for photo, jpeg in self._database.rows(query, list(ids))}

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all of them or none."""
        ids = [row.photo.id for row in rows]
        paths = [os.fsencode(row.photo.path) for row in rows]
        codes = np.frombuffer(b"".join(row.code for row in rows), dtype=np.uint8).reshape(len(rows), -1)
        with self._database.transaction() as connection, connection.cursor() as cursor:
            # Two photos may have exchanged their paths: the one that is not written yet makes room.
            gone = "SELECT id FROM photos WHERE path = ANY(%s::bytea[])"
            _remove(cursor, [*ids, *(photo for (photo,) in cursor.execute(gone, [paths]).fetchall())])
            cursor.executemany(_PUT, [_columns(row.photo) for row in rows])
            cursor.executemany(
                "INSERT INTO thumbnails (photo, jpeg) VALUES (%s, %s)", [(each, thumbnails[each]) for each in ids]
            )
            self._codes.write(connection, ids, codes)
            shapes = [(row.photo.id, SHAPE_VERSION, row.shape) for row in rows if row.shape is not None]
            if self.keeps_shapes:
                cursor.executemany("INSERT INTO shapes (photo, version, shape) VALUES (%s, %s, %s)", shapes)
            details = [(row.photo.id, *row.details.columns()) for row in rows if row.details is not None]
            if self.keeps_details:
                cursor.executemany(_PUT_DETAILS, details)

    def remove_photos(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        with self._database.transaction() as connection, connection.cursor() as cursor:
            _remove(cursor, ids)

    def revision(self) -> str:
        """Return the number of changes so far."""
        ((revision,),) = self._database.rows("SELECT value FROM settings WHERE name = 'revision'")
        return str(revision)

    def info(self) -> GalleryInfo:
        """Count photos and labels."""
        ((photos, last, dated, placed, *taken),) = self._database.rows(_COUNTS.format(details=self._details))
        labels = dict(self._database.rows(_LABELS))
        ((size,),) = self._database.rows(_SIZE)
        last_indexed = None if last is None else last.astimezone(UTC)
        ends = (None if seconds is None else moment_of(seconds) for seconds in taken)
        return GalleryInfo(photos, self.model, int(size), labels, last_indexed, dated, placed, *ends)

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Return the first and the last path."""
        ends = self._database.rows(
            "(SELECT path FROM photos ORDER BY path LIMIT 1) "
            "UNION ALL (SELECT path FROM photos ORDER BY path DESC LIMIT 1)"
        )
        return (bytes(ends[0][0]), bytes(ends[1][0])) if ends else None

    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``."""
        separator = os.fsencode(os.sep)
        rows = self._database.rows(_TOP_FOLDERS, separator, len(below) + 1, len(below), below, separator, most)
        return [(bytes(top), photos) for top, photos in rows]

    def sample(self, most: int) -> Sample:
        """Return at most ``most`` photos, spread evenly over when they were indexed; always the same ones."""
        ((first, last),) = self._database.rows("SELECT min(id), max(id) FROM codes")
        places = [] if first is None else np.unique(np.linspace(first, last, most).astype(np.int64)).tolist()
        rows = self._database.rows(_AT_PLACES, places)
        codes = np.frombuffer(b"".join(packed(code) for _, code, _ in rows), dtype=np.uint8)
        return Sample(
            tuple(photo for photo, _, _ in rows),
            tuple(label for _, _, label in rows),
            codes.reshape(-1, self.model.bits // 8),
        )


def _code_table(database: Database, model: GalleryModel) -> CodeTable:
    return CodeTable(database, model.bits, hnsw=database.address.options.get("hnsw", "0") != "0")


def _closing_upon_error(database: Database, make: Callable[[Database], _T]) -> _T:
    try:
        return make(database)
    except BaseException:
        database.close()
        raise


def _where(only: Filter) -> tuple[str, list[object]]:
    """Write a filter as an SQL condition, and what its placeholders stand for."""
    conditions = only.conditions()
    written = " AND ".join(f"{column} {operator} %s" for column, operator, _ in conditions)
    return written or "TRUE", [value for _, _, value in conditions]


def _remove(cursor: Any, ids: Sequence[int]) -> None:  # noqa: ANN401 - a cursor in a transaction
    cursor.execute("UPDATE settings SET value = (value::bigint + 1)::text WHERE name = 'revision'")
    for table, key in (("photos", "id"), ("codes", "id"), ("thumbnails", "photo")):
        cursor.execute(f"DELETE FROM {table} WHERE {key} = ANY(%s::bigint[])", [list(ids)])


def _columns(photo: PhotoRecord) -> tuple[object, ...]:
    content = bytes.fromhex(photo.sha256)
    return (photo.id, os.fsencode(photo.path), content, photo.size, photo.mtime_ns, photo.label, photo.indexed_at)


def _row(columns: Sequence[Any]) -> PhotoRow:
    photo_id, path, sha256, size, mtime_ns, label, indexed_at, code, shape, *details = columns
    when: datetime = indexed_at.astimezone(UTC)
    place = Path(os.fsdecode(bytes(path)))
    return PhotoRow(
        PhotoRecord(place, bytes(sha256).hex(), size, mtime_ns, label, id=photo_id, indexed_at=when),
        packed(code),
        None if shape is None else bytes(shape),
        None if details[-1] is None else Details.of_columns(details),  # all rows of details have sidecars
    )
