"""How the command line prints: data to standard output, messages to standard error.

File names and labels may hold any bytes, while a line should stay one line of UTF-8: print them through `printable`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import typer

INTERRUPTED = 130  # the exit code of shells after Ctrl-C: 128 + SIGINT


def print_json(value: object) -> None:
    """Print data as one JSON document."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def exact_json(value: object, indent: int | None = None) -> str:
    r"""Return JSON that keeps every file name exactly: a byte ``0xff`` that is not UTF-8 becomes ``\udcff``.

    >>> print(exact_json({"path": Path(os.fsdecode(b"\xff.jpg"))}))
    {"path": "\udcff.jpg"}
    >>> os.fsencode(json.loads(exact_json(os.fsdecode(b"\xff.jpg"))))
    b'\xff.jpg'
    """
    return json.dumps(value, indent=indent, default=str)


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
    typer.echo(text, err=True)


def complain(text: str) -> None:
    """Print an error message to standard error."""
    typer.echo(f"{typer.style('Error:', fg='red', bold=True)} {text}", err=True)


@contextmanager
def progress(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error, if that is a terminal; call the yielded function after each step."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda: bar.advance(task)


class TrainingProgress:
    """Show a training run: a progress bar for each stage, and a line for each epoch."""

    def stage(self, name: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
        """Show a progress bar for a stage."""
        return progress(name, steps)

    def report(self, entry: Mapping[str, object]) -> None:
        """Print the figures of an epoch."""
        numbers = (
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in entry.items()
        )
        say("  ".join(numbers))
