"""How the command line prints: data to standard output, messages to standard error.

All of it goes through `write`, which lets no control character of a label, a model's card or a file's name reach a
terminal, where it could do anything. Within a line that others may parse, names are written by `printable`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, redirect_stderr
from datetime import date
from pathlib import Path
from time import monotonic
from typing import TextIO

import typer

# C0 but for newline and tab, DEL, C1, and what turns the direction of writing.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

INTERRUPTED = 130  # the exit code of shells after Ctrl-C: 128 + SIGINT

_STDERR = 2
_SECONDS_BETWEEN_LINES = 60.0


def write(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    r"""Print text, with control characters escaped but for newlines and tabs.

    >>> write("a title\x1b]0;pwned\x07 of a card")
    a title\x1b]0;pwned\x07 of a card
    """
    typer.echo(_CONTROLS.sub(lambda found: repr(found[0])[1:-1], str(text)), err=err, nl=nl)


def write_exactly(text: str) -> None:
    """Print data in UTF-8 as it is, for a program or a file to read; a terminal gets it as from `write`."""
    if sys.stdout.isatty():
        write(text, nl=False)
    else:
        typer.echo(text.encode(), nl=False)


def print_json(value: object) -> None:
    """Print data as one JSON document."""
    write(json.dumps(value, indent=2, ensure_ascii=False))


def exact_json(value: object, indent: int | None = None) -> str:
    r"""Return JSON that keeps every file name exactly: a byte ``0xff`` that is not UTF-8 becomes ``\udcff``.

    >>> print(exact_json({"path": Path(os.fsdecode(b"\xff.jpg"))}))
    {"path": "\udcff.jpg"}
    >>> os.fsencode(json.loads(exact_json(os.fsdecode(b"\xff.jpg"))))
    b'\xff.jpg'
    """
    return json.dumps(value, indent=indent, default=_as_text)


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def printable(name: Path | str) -> str:
    r"""Return text from a file on one line; bytes that are not UTF-8 and control characters are escaped.

    >>> print(printable("café\n.jpg"), printable(os.fsdecode(b"\xff.jpg")))
    café\n.jpg \xff.jpg
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in as_utf8(name)
    )


def as_utf8(name: Path | str) -> str:
    r"""Return a name as text that can be encoded: each byte that is not UTF-8 is written as ``\xff``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def say(text: str) -> None:
    """Print a message to standard error."""
    write(text, err=True)


def say_black_on_white(text: str) -> None:
    """Print lines to standard error black on white, whatever colours a terminal has: cameras read codes so."""
    for line in text.splitlines():
        typer.secho(line, fg="black", bg="bright_white", err=True)


def complain(text: str) -> None:
    """Print an error message to standard error."""
    typer.secho("Error: ", fg="red", bold=True, nl=False, err=True)
    write(text, err=True)


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep what libraries in C write about a damaged file, such as libtiff, from standard error meanwhile.

    What Python writes there still comes through.
    """
    sys.stderr.flush()
    try:
        kept = os.dup(_STDERR)
    except OSError:  # it is closed
        yield
        return
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), _STDERR)
    heard = _writing_to(kept)
    try:
        with redirect_stderr(heard):
            yield
    finally:
        heard.flush()
        os.dup2(kept, _STDERR)
        os.close(kept)


def _writing_to(kept: int) -> TextIO:
    """Return standard error, over the descriptor ``kept`` unless it is something else already."""
    own = sys.stderr
    try:
        is_descriptor = own.fileno() == _STDERR
    except (AttributeError, OSError, ValueError):  # in tests and notebooks
        return own
    if not is_descriptor:
        return own
    return open(kept, "w", buffering=1, encoding=own.encoding, errors=own.errors, closefd=False)


@contextmanager
def progress(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Show the progress of work that opens pictures; call the yielded function after each step."""
    with quiet_libraries(), _bar(description, total) as advance:
        yield advance


@contextmanager
def _bar(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error, if that is a terminal; call the yielded function after each step."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda: bar.advance(task)


class TrainingProgress:
    """Show a training run: a progress bar for each stage, or a line a minute in a log, and a line for each epoch."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Take the time from ``clock``, in seconds."""
        self._clock = clock

    def stage(self, name: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
        """Show the progress of a stage."""
        return _bar(name, steps) if sys.stderr.isatty() else self._lines(name, steps)

    @contextmanager
    def _lines(self, name: str, steps: int) -> Iterator[Callable[[], None]]:
        started = said = self._clock()
        done = 0

        def advance() -> None:
            nonlocal said, done
            done += 1
            now = self._clock()
            if now - said >= _SECONDS_BETWEEN_LINES and done < steps:
                minutes = (now - started) / done * (steps - done) / 60
                say(f"{name}: {done:,} of {steps:,}, about {max(1, round(minutes)):,} min left")
                said = now

        yield advance

    def report(self, entry: Mapping[str, object]) -> None:
        """Print the figures of an epoch."""
        numbers = (
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in entry.items()
        )
        say("  ".join(numbers))
