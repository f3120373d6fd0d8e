"""A gallery in PostgreSQL: photos, codes, shapes, details and thumbnails in tables of one schema.

Each batch of changes is one transaction, and raises the revision, so that counts are made anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.engines.addresses import Address
from sketchhash.engines.engine_gallery import EngineGallery
from sketchhash.engines.postgres import CodeTable, Database, packed
from sketchhash.engines.postgres_writer import DETAIL_NAMES, THUMBNAILS, PostgresWriter, photo_row
from sketchhash.errors import BadArgument, IncompatibleGallery
from sketchhash.gallery.filters import Filter, LeftOut
from sketchhash.gallery.photos import PhotoRecord, absolute, path_range
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, Opener, PhotoRow, Sample, TaggedDrawing
from sketchhash.gallery.schema import PATIENCE, other_format
from sketchhash.gallery.writer import DETAILS, retried
from sketchhash.imaging.details import moment_of
from sketchhash.index.protocol import Hits, Wanted
from sketchhash.model import Model
from sketchhash.tokens.shape import SHAPE_VERSION

_T = TypeVar("_T")

_FORMAT = "1"
_PAGE = 1000
_HASH_PAGE = 10_000

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
# A gallery of an older version gets these when it is opened to be written.
_ADDITIONS = {
    "shapes": """CREATE TABLE shapes (
        photo bigint PRIMARY KEY REFERENCES photos ON DELETE CASCADE,
        version integer NOT NULL,
        shape bytea NOT NULL
    )""",
    "details": """CREATE TABLE details (
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
    "details_by_date": "CREATE INDEX details_by_date ON details (taken_at)",
    "details_by_place": "CREATE INDEX details_by_place ON details (latitude, longitude)",
    "perceptual_hashes": """CREATE TABLE perceptual_hashes (
        photo bigint PRIMARY KEY REFERENCES photos ON DELETE CASCADE,
        hash bytea NOT NULL
    )""",
    "drawings": """CREATE TABLE drawings (
        photo bigint PRIMARY KEY REFERENCES photos ON DELETE CASCADE
    )""",
    "photos_by_content": "CREATE INDEX photos_by_content ON photos (sha256)",
}
# The row that every change begins with: who has it is the only writer, so no two can wait for each other's tables.
_TAKE_TURN = "UPDATE settings SET value = (value::bigint + 1)::text WHERE name = 'revision'"
# Galleries of before there were shapes, details, hashes or drawings have no such tables.
_NO_SHAPES = "(SELECT NULL::bigint AS photo, 0 AS version, NULL::bytea AS shape WHERE FALSE) AS shapes"
_NO_DETAILS = f"(SELECT {', '.join(f'NULL::bigint AS {name}' for name in DETAIL_NAMES)} WHERE FALSE) AS details"
_NO_HASHES = "(SELECT NULL::bigint AS photo, NULL::bytea AS hash WHERE FALSE) AS perceptual_hashes"
_NO_DRAWINGS = "(SELECT NULL::bigint AS photo WHERE FALSE) AS drawings"
_ROWS = f"""
    SELECT id, path, sha256, size, mtime_ns, label, indexed_at, code::text, shape, hash, drawings.photo, {DETAILS}
    FROM photos JOIN codes USING (id) LEFT JOIN {{shapes}} ON shapes.photo = id AND version = {SHAPE_VERSION}
    LEFT JOIN {{details}} ON details.photo = id LEFT JOIN {{hashes}} ON perceptual_hashes.photo = id
    LEFT JOIN {{drawings}} ON drawings.photo = id
"""
_COUNTS = """
    SELECT count(*), max(indexed_at), count(taken_at), count(latitude), min(taken_at), max(taken_at),
        count(drawings.photo)
    FROM photos LEFT JOIN {details} ON details.photo = id LEFT JOIN {drawings} ON drawings.photo = id
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
                "Make one with: sketchhash index FOLDER --gallery ADDRESS"
            )
        settings = dict(database.rows("SELECT name, value FROM settings"))
        if settings["format"] != _FORMAT:
            raise other_format(database.address.shown, int(settings["format"]), int(_FORMAT))
        model = GalleryModel(settings["model"], settings["fingerprint"], int(settings["bits"]))
        super().__init__(f"{database.address.shown} ({database.schema})", model)
        self.code_table = _code_table(database, model)
        self._counted = "", 0
        # A gallery of before there were shapes has them once it was copied to again.
        (self.keeps_shapes,) = database.rows("SELECT to_regclass(%s) IS NOT NULL", f"{database.schema}.shapes")[0]
        (self.keeps_details,) = database.rows("SELECT to_regclass(%s) IS NOT NULL", f"{database.schema}.details")[0]
        (self.keeps_hashes,) = database.rows(
            "SELECT to_regclass(%s) IS NOT NULL", f"{database.schema}.perceptual_hashes"
        )[0]
        (self.keeps_drawings,) = database.rows("SELECT to_regclass(%s) IS NOT NULL", f"{database.schema}.drawings")[0]
        self._drawings = "drawings" if self.keeps_drawings else _NO_DRAWINGS
        self._details = "details" if self.keeps_details else _NO_DETAILS
        self.row_query = _ROWS.format(
            shapes="shapes" if self.keeps_shapes else _NO_SHAPES,
            details=self._details,
            hashes="perceptual_hashes" if self.keeps_hashes else _NO_HASHES,
            drawings=self._drawings,
        )

    @classmethod
    def open(cls, address: str) -> Self:
        """Open the gallery at an ``address``."""
        return _closing_upon_error(Database(Address.parse(address)), cls)

    @classmethod
    def create(cls, address: str, model: GalleryModel) -> Self:
        """Open the gallery at an ``address``, which is made for codes of ``model`` if it is not there."""
        database = Database(Address.parse(address))
        return _closing_upon_error(database, lambda made: retried(lambda: cls._made(made, model)))

    @classmethod
    def _made(cls, database: Database, model: GalleryModel) -> Self:
        with database.transaction() as connection:
            connection.execute("SET LOCAL statement_timeout = 0")  # to build HNSW for many codes takes minutes
            database.lock_making(connection)
            there = database.names(connection)
            if "settings" in there and not _ADDITIONS.keys() <= there:
                connection.execute(_TAKE_TURN)
            _code_table(database, model).make(connection)
            if "settings" not in there:
                for statement in _TABLES:
                    connection.execute(statement)
                about = {"model": model.name, "fingerprint": model.fingerprint, "bits": str(model.bits)}
                with connection.cursor() as cursor:
                    cursor.executemany(
                        "INSERT INTO settings (name, value) VALUES (%s, %s)",
                        [*about.items(), ("format", _FORMAT), ("revision", "0")],
                    )
            # Each only if it is missing: even "IF NOT EXISTS" would wait for tables that somebody is writing to.
            for name, statement in _ADDITIONS.items():
                if name not in there:
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
        (hits,) = self.code_table.nearest(query, Wanted(k, self.model.bits), among, values)
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
        found = self._database.rows(f"{self.row_query} WHERE id = ANY(%s::bigint[])", list(ids))
        return {columns[0]: photo_row(columns) for columns in found}

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Yield all rows, by id, in pages."""
        last = -(2**63)
        while page := self._database.rows(f"{self.row_query} WHERE id > %s ORDER BY id LIMIT %s", last, _PAGE):
            yield [photo_row(columns) for columns in page]
            last = page[-1][0]

    def tagged_drawings(self) -> list[TaggedDrawing]:
        """Return the drawings that have tags."""
        query = f"""SELECT id, label, description FROM {self._drawings} JOIN photos ON id = drawings.photo
            JOIN {self._details} ON details.photo = id WHERE label IS NOT NULL AND description IS NOT NULL"""
        return [TaggedDrawing(*columns) for columns in self._database.rows(query)]

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos."""
        return {photo: bytes(jpeg) for photo, jpeg in self._database.rows(THUMBNAILS, list(ids))}

    @property
    def opener(self) -> Opener:
        """A function that opens the gallery in another process, to write to it at the same time."""
        return partial(PostgresGallery.create, self._database.address.text, self.model)

    @contextmanager
    def writing(self, model: Model | None = None) -> Iterator[PostgresWriter]:
        """Change the gallery: all that the writer does is kept at the end of the block, or none of it.

        Writers take turns, each for as long as a batch takes to be written.
        """
        self.require(model)
        with self._database.transaction() as connection, connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE}s'")
            cursor.execute(_TAKE_TURN)
            ((fingerprint,),) = cursor.execute("SELECT value FROM settings WHERE name = 'fingerprint'").fetchall()
            if fingerprint != self.model.fingerprint:
                raise IncompatibleGallery(
                    f"The gallery {self.place} was indexed again with another model. Open it again with that model."
                )
            yield PostgresWriter(self, connection, cursor)

    def photos_at(self, paths: Sequence[Path]) -> dict[Path, PhotoRow]:
        """Return the rows of the photos at some absolute paths."""
        names = [os.fsencode(path) for path in paths]
        found = self._database.rows(f"{self.row_query} WHERE path = ANY(%s::bytea[])", names)
        return {row.photo.path: row for row in map(photo_row, found)}

    def within(self, place: Path) -> Iterator[PhotoRecord]:
        """Yield the photo at ``place``, or those at any depth below it."""
        found = self._database.rows(f"{self.row_query} WHERE path = %s", os.fsencode(absolute(place)))
        yield from (photo_row(columns).photo for columns in found)
        last, end = path_range(place)
        query = f"{self.row_query} WHERE path > %s AND path < %s ORDER BY path LIMIT %s"
        while page := self._database.rows(query, last, end, _PAGE):
            yield from (photo_row(columns).photo for columns in page)
            last = bytes(page[-1][1])

    def has_content(self, sha256: str) -> bool:
        """Tell whether a photo with this content is in the gallery."""
        return bool(self._database.rows("SELECT 1 FROM photos WHERE sha256 = %s LIMIT 1", bytes.fromhex(sha256)))

    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos that were hashed, by id, in pages."""
        last = -(2**63)
        query = "SELECT photo, hash FROM perceptual_hashes WHERE photo > %s ORDER BY photo LIMIT %s"
        while page := self._database.rows(query, last, _HASH_PAGE) if self.keeps_hashes else []:
            yield [(photo, bytes(own)) for photo, own in page]
            last = page[-1][0]

    def without_hash(self, most: int) -> list[int]:
        """Return the ids of at most ``most`` photos that have no perceptual hash."""
        if not self.keeps_hashes:
            return []
        query = """SELECT id FROM photos LEFT JOIN perceptual_hashes ON photo = id WHERE hash IS NULL
            ORDER BY id LIMIT %s"""
        return [photo for (photo,) in self._database.rows(query, most)]

    def count_without_shape(self) -> int:
        """Count the photos that have no shape."""
        if not self.keeps_shapes:
            return 0
        query = "SELECT count(*) FROM photos LEFT JOIN shapes ON photo = id AND version = %s WHERE shape IS NULL"
        return int(self._database.rows(query, SHAPE_VERSION)[0][0])

    def revision(self) -> str:
        """Return the number of changes so far."""
        ((revision,),) = self._database.rows("SELECT value FROM settings WHERE name = 'revision'")
        return str(revision)

    def info(self) -> GalleryInfo:
        """Count photos and labels."""
        counts = _COUNTS.format(details=self._details, drawings=self._drawings)
        ((photos, last, dated, placed, *taken, drawings),) = self._database.rows(counts)
        labels = dict(self._database.rows(_LABELS))
        ((size,),) = self._database.rows(_SIZE)
        last_indexed = None if last is None else last.astimezone(UTC)
        first, latest = (None if seconds is None else moment_of(seconds) for seconds in taken)
        return GalleryInfo(photos, self.model, int(size), labels, last_indexed, dated, placed, first, latest, drawings)

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
