"""Is a file the gallery that it says it is? A look at it when it is opened, in bounded time.

A file may be damaged anywhere, or made by somebody who wishes us ill. SQLite finds pages that are broken when it meets
them; what it cannot know is that a table is missing, or that a view, which may compute for ever, has taken its place.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sketchhash.errors import DamagedState

_CHECK_SECONDS = 0.1  # a gallery of some thousand photos is checked as a whole, a larger one in part
_SCHEMA_SECONDS = 5.0
_STEPS = 10_000  # of SQLite's machine, some tenths of a millisecond


def require_sound(connection: sqlite3.Connection, path: Path, statements: Iterable[str]) -> None:
    """Raise `DamagedState` if the file does not have the tables that ``statements`` make, or its pages are broken."""
    with limited(connection, _SCHEMA_SECONDS):
        found, expected = _layout(connection), _expected(statements)
        wrong = [each[1] for each, columns in expected.items() if each not in found or not columns <= found[each]]
        wrong += [name for kind, name in found if kind in ("view", "trigger") and (kind, name) not in expected]
    if wrong:
        raise damaged(path, f"{', '.join(sorted(wrong))}: not as in a gallery")
    try:
        with limited(connection, _CHECK_SECONDS):
            ((remark,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return  # nothing was found so far
    if remark != "ok":
        raise damaged(path, " ".join(str(remark).split()))


def damaged(path: Path, what: str) -> DamagedState:
    """Return the error for a gallery in which something is wrong, and what to do about it."""
    return DamagedState(
        f"{path} is damaged, or not a gallery ({what}). Restore it from a backup, "
        f"or delete it and index the photos again with: sketchhash index FOLDER --gallery {path}"
    )


@contextmanager
def valued(path: Path) -> Iterator[None]:
    """Raise `DamagedState` if a value cannot be what it stands for: a number for a path, a time beyond any."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, OverflowError, OSError, KeyError) as problem:
        raise damaged(path, f"a value that no gallery holds: {problem}") from problem


@contextmanager
def limited(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Interrupt whatever the connection does after so many seconds."""
    end = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


def _expected(statements: Iterable[str]) -> dict[tuple[str, str], set[str]]:
    with closing(sqlite3.connect(":memory:")) as blank:
        for statement in statements:
            blank.execute(statement)
        return _layout(blank)


def _layout(connection: sqlite3.Connection) -> dict[tuple[str, str], set[str]]:
    """Return the names of the columns of each table, and that there are views, triggers and indexes; runs none."""
    kinds = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    return {
        (kind, name): {column for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))}
        if kind == "table"
        else set()
        for kind, name in kinds
    }
