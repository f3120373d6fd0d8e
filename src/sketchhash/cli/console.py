"""How the command line speaks: data to standard output, talk to standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import typer


def print_json(value: object) -> None:
    """Print data as one JSON document."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say(text: str) -> None:
    """Tell the person something that is not data."""
    typer.echo(text, err=True)


def complain(text: str) -> None:
    """Tell the person what went wrong."""
    typer.echo(f"{typer.style('Error:', fg='red', bold=True)} {text}", err=True)


class TrainingProgress:
    """Shows a training run: a bar a stage on a terminal, and a line an epoch everywhere."""

    def __init__(self, loud: bool = True) -> None:
        """Stay silent when not ``loud``, as all but the first of several processes do."""
        self.loud = loud

    @contextmanager
    def stage(self, name: str, steps: int) -> Iterator[Callable[[], None]]:
        """Draw a bar for a stage."""
        if self.loud:
            with progress(name, steps) as advance:
                yield advance
        else:
            yield lambda: None

    def report(self, entry: Mapping[str, object]) -> None:
        """Say what an epoch came to."""
        if self.loud:
            numbers = (
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in entry.items()
            )
            say("  ".join(numbers))


@contextmanager
def progress(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Draw a bar on standard error while long work calls what this gives; silent when not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda: bar.advance(task)
