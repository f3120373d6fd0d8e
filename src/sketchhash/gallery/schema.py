"""The SQLite file of a gallery: its tables, how it is opened and brought up to date, and what SQLite's errors mean.

Codes, shapes, details and thumbnails have tables of their own: opening a gallery reads every code, and should not turn
the pages that hold everything else. The removal of a code is logged, so that a reader that has the codes in memory can
follow: codes of greater ids are new, removals of greater numbers are news.

The version of the format is the file's ``user_version``. A file of an older version is migrated when it is opened, in
one transaction, and a copy of it as it was is kept beside it; where it cannot be written, it is read as it is. To
change the format, change `_TABLES`, raise `SCHEMA_VERSION`, and add the statements that do the same to an older file to
`MIGRATIONS`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from sketchhash.errors import (
    BadArgument,
    BusyGallery,
    DamagedState,
    IncompatibleGallery,
    SketchHashError,
    UnwritableState,
)
from sketchhash.gallery.protocol import GalleryModel
from sketchhash.gallery.soundness import damaged, require_sound

SCHEMA_VERSION = 5

_SHAPES = "CREATE TABLE shapes (photo INTEGER PRIMARY KEY, version INTEGER NOT NULL, shape BLOB NOT NULL)"
# A photo without a row was indexed before there were details: they are read when it is indexed again.
_DETAILS = (
    """CREATE TABLE details (
        photo INTEGER PRIMARY KEY,
        taken_at INTEGER,
        camera TEXT,
        width INTEGER,
        height INTEGER,
        latitude REAL,
        longitude REAL,
        description TEXT,
        sidecars INTEGER NOT NULL
    )""",
    "CREATE INDEX details_by_date ON details (taken_at)",
    "CREATE INDEX details_by_place ON details (latitude, longitude)",
)
# An empty hash is that of a picture of one colour; a photo without a row was indexed before there were any.
_HASHES = "CREATE TABLE perceptual_hashes (photo INTEGER PRIMARY KEY, hash BLOB NOT NULL)"
# A photo with a row is a drawing.
_DRAWINGS = "CREATE TABLE drawings (photo INTEGER PRIMARY KEY)"
_PHOTO_REMOVED_WITH_SHAPE = """CREATE TRIGGER photo_removed AFTER DELETE ON photos BEGIN
        DELETE FROM codes WHERE photo = OLD.id;
        DELETE FROM shapes WHERE photo = OLD.id;
        DELETE FROM thumbnails WHERE photo = OLD.id;
    END"""
_PHOTO_REMOVED_WITH_DETAILS = """CREATE TRIGGER photo_removed AFTER DELETE ON photos BEGIN
        DELETE FROM codes WHERE photo = OLD.id;
        DELETE FROM details WHERE photo = OLD.id;
        DELETE FROM shapes WHERE photo = OLD.id;
        DELETE FROM thumbnails WHERE photo = OLD.id;
    END"""
_PHOTO_REMOVED_WITH_HASH = """CREATE TRIGGER photo_removed AFTER DELETE ON photos BEGIN
        DELETE FROM codes WHERE photo = OLD.id;
        DELETE FROM details WHERE photo = OLD.id;
        DELETE FROM perceptual_hashes WHERE photo = OLD.id;
        DELETE FROM shapes WHERE photo = OLD.id;
        DELETE FROM thumbnails WHERE photo = OLD.id;
    END"""
_PHOTO_REMOVED = """CREATE TRIGGER photo_removed AFTER DELETE ON photos BEGIN
        DELETE FROM codes WHERE photo = OLD.id;
        DELETE FROM details WHERE photo = OLD.id;
        DELETE FROM drawings WHERE photo = OLD.id;
        DELETE FROM perceptual_hashes WHERE photo = OLD.id;
        DELETE FROM shapes WHERE photo = OLD.id;
        DELETE FROM thumbnails WHERE photo = OLD.id;
    END"""

MIGRATIONS: Mapping[int, Iterable[str]] = {
    1: (_SHAPES, "DROP TRIGGER photo_removed", _PHOTO_REMOVED_WITH_SHAPE),
    2: (*_DETAILS, "DROP TRIGGER photo_removed", _PHOTO_REMOVED_WITH_DETAILS),
    3: (_HASHES, "DROP TRIGGER photo_removed", _PHOTO_REMOVED_WITH_HASH),
    4: (_DRAWINGS, "DROP TRIGGER photo_removed", _PHOTO_REMOVED),
}
"""The statements that bring a file from each older version to the next."""

READABLE_SINCE = 1
"""Files from this version on are read as they are where they cannot be written."""

APPLICATION_ID = int.from_bytes(b"SkHa")

_WRITABLE = "mode=rw"

_MOST_BITS = 1 << 16

PATIENCE = 5.0
"""Seconds to wait for another writer before saying so."""

_TABLES = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    """CREATE TABLE photos (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path BLOB NOT NULL UNIQUE,
        sha256 BLOB NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        label TEXT,
        indexed_at REAL NOT NULL
    )""",
    "CREATE INDEX photos_by_content ON photos (sha256)",
    "CREATE INDEX photos_by_label ON photos (label)",
    "CREATE TABLE codes (photo INTEGER PRIMARY KEY, code BLOB NOT NULL)",
    _SHAPES,
    *_DETAILS,
    _HASHES,
    _DRAWINGS,
    "CREATE TABLE thumbnails (photo INTEGER PRIMARY KEY, jpeg BLOB NOT NULL)",
    "CREATE TABLE removals (number INTEGER PRIMARY KEY AUTOINCREMENT, photo INTEGER NOT NULL)",
    _PHOTO_REMOVED,
    """CREATE TRIGGER code_removed AFTER DELETE ON codes BEGIN
        INSERT INTO removals (photo) VALUES (OLD.photo);
    END""",
)
# Without shapes, details, hashes and drawings a gallery can be read all the same.
_NEEDED = tuple(each for each in _TABLES if each not in (_SHAPES, *_DETAILS, _HASHES, _DRAWINGS))


def connect(path: Path, create: bool = False) -> sqlite3.Connection:
    """Open the gallery at ``path``; ``create`` begins an empty file where there is none."""
    if path.is_dir():
        raise BadArgument(f"{path} is a folder; a gallery is one file. Name a file in it: {path / 'photos.gallery'}")
    left = path.with_name(f"{path.name}-wal")
    if left.exists() and not path.exists():  # in this order: a log is never there before its file
        raise UnwritableState(
            f"{path} was deleted while a program had it open. Stop what has it open, such as sketchhash serve, delete "
            f"{left} and {path.name}-shm, and type the same again."
        )
    if not create and not path.exists():
        raise BadArgument(f"There is no gallery at {path}. Make one with: sketchhash index FOLDER --gallery {path}")
    with explained(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{_access(path, create)}",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            # FULL: a commit is on the disk when it returns, so photos reported as stored survive a power cut too.
            # One commit a batch takes milliseconds, its photos most of a second.
            connection.execute("PRAGMA synchronous = FULL")
            if not create:
                require_gallery(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def begin_gallery(connection: sqlite3.Connection, path: Path, model: GalleryModel) -> None:
    """Lay out the tables in an empty file; leave a gallery as it is, and refuse any other file."""
    with explained(path):
        if _is_empty(connection):
            connection.execute("PRAGMA journal_mode = WAL")  # cannot change inside a transaction
            with transaction(connection, "BEGIN IMMEDIATE"):
                if _is_empty(connection):  # another process may have been faster
                    for statement in _TABLES:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                    write_model(connection, model)
        require_gallery(connection, path)


def require_gallery(connection: sqlite3.Connection, path: Path) -> None:
    """Bring an older gallery up to date, and raise an error that says why if the file cannot be read.

    Raises:
        DamagedState: If the file is not a gallery.
        IncompatibleGallery: If it has a newer format than this version reads, or an unknown one.
        UnwritableState: If it has an older format than can be read as it is, and cannot be written.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise DamagedState(
            f"{path} is not a gallery: it belongs to another program, or is empty. "
            "Name another file, or make a gallery with: sketchhash index FOLDER --gallery FILE"
        )
    version = _version(connection)
    if version == SCHEMA_VERSION:
        require_sound(connection, path, _NEEDED)
        return
    if version > SCHEMA_VERSION or not all(step in MIGRATIONS for step in range(version, SCHEMA_VERSION)):
        raise other_format(str(path), version, SCHEMA_VERSION)
    if version >= READABLE_SINCE and _access(path, create=False) != _WRITABLE:
        require_sound(connection, path, _NEEDED)
        return
    _migrate(connection, path)
    require_sound(connection, path, _NEEDED)


def other_format(place: str, found: int, readable: int) -> IncompatibleGallery:
    """Return the error for a gallery in a format that cannot be read, with what to do about it."""
    advice = (
        "It was written by a newer version. Type: pip install --upgrade sketchhash"
        if found > readable
        else "That is too old to be read. Make a new gallery with: sketchhash index FOLDER --gallery FILE"
    )
    return IncompatibleGallery(f"{place} has format version {found}, and this sketchhash reads {readable}. {advice}")


def read_model(connection: sqlite3.Connection) -> GalleryModel:
    """Return the model that the gallery was made with."""
    settings = dict(connection.execute("SELECT name, value FROM settings").fetchall())
    name, fingerprint, bits = (settings.get(each) for each in ("model", "fingerprint", "bits"))
    if not (
        isinstance(name, str) and isinstance(fingerprint, str) and isinstance(bits, int) and 8 <= bits <= _MOST_BITS
    ):
        raise sqlite3.DatabaseError("it does not say by which model its codes were made")
    return GalleryModel(name, fingerprint, bits)


def write_model(connection: sqlite3.Connection, model: GalleryModel) -> None:
    """Note the model that the gallery's codes come from."""
    settings = {"model": model.name, "fingerprint": model.fingerprint, "bits": model.bits}
    connection.executemany("REPLACE INTO settings (name, value) VALUES (?, ?)", settings.items())


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Keep all that is done in the block, or none of it if an error leaves the block."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # on a full disk SQLite may have undone it by itself
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says about the gallery at ``path`` into an error that says what to do."""
    try:
        yield
    except sqlite3.Error as problem:
        error = _explanation(path, problem)
        if error is None:
            raise
        raise error from problem
    except UnicodeDecodeError as problem:  # in a name that SQLite complains of
        raise damaged(path, str(problem)) from problem


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file to the current version, all the way or not at all, and keep a copy of it as it was."""
    if _access(path, create=False) != _WRITABLE:
        raise UnwritableState(
            f"{path} has the older format version {_version(connection)} and must be brought to {SCHEMA_VERSION}, "
            "but it cannot be written. Copy it to a folder that can be written to, and open the copy."
        )
    with transaction(connection, "BEGIN IMMEDIATE"):
        version = _version(connection)  # another process may have been faster
        if version < SCHEMA_VERSION:
            _keep_copy(path, path.with_name(f"{path.name}.v{version}.backup"))
        for step in range(version, SCHEMA_VERSION):
            for statement in MIGRATIONS[step]:
                connection.execute(statement)
        if version < SCHEMA_VERSION:
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _keep_copy(path: Path, copy: Path) -> None:
    """Copy what is committed in the file; the copy is whole or not there."""
    unfinished = copy.with_name(f".{copy.name}.{uuid4().hex}")
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(unfinished)) as target,
        ):
            source.backup(target)
        unfinished.replace(copy)
    except OSError as problem:
        raise UnwritableState(f"A copy of {path} cannot be kept at {copy}: {problem.strerror}.") from problem
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _explanation(path: Path, problem: sqlite3.Error) -> SketchHashError | None:
    primary = getattr(problem, "sqlite_errorcode", 0) & 0xFF  # the other bits only tell variants apart
    match primary:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return BusyGallery(f"Another process is writing to {path}. Try again when it has finished.")
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR | sqlite3.SQLITE_INTERRUPT:
            return damaged(path, str(problem))
        case 0 if not isinstance(problem, sqlite3.ProgrammingError):  # text that is not UTF-8
            return damaged(path, str(problem))
        case sqlite3.SQLITE_FORMAT | sqlite3.SQLITE_MISMATCH | sqlite3.SQLITE_TOOBIG | sqlite3.SQLITE_SCHEMA:
            return damaged(path, str(problem))
        case sqlite3.SQLITE_FULL:
            return UnwritableState(
                f"There is no room left for {path}. All photos stored before are safe: "
                "free some room and run the same command again."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_IOERR:
            return UnwritableState(
                f"The gallery {path} cannot be written ({problem}). "
                "See that its folder is there, may be written to and has room."
            )
    return None


def _access(path: Path, create: bool) -> str:
    """Return how SQLite should open the file: on a read-only disk a gallery can still be searched."""
    if create:
        return "mode=rwc"
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return _WRITABLE
    # Readers of a write-ahead log share memory through a file, which cannot be made here; without a log there
    # is nothing to share.
    return "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return (tables, application) == (0, 0)
