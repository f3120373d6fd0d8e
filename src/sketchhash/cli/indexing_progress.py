"""What indexing tells, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from types import TracebackType
from typing import TYPE_CHECKING, Self

import typer

from sketchhash.cli.console import say
from sketchhash.cli.file_names import exact_json, shown

if TYPE_CHECKING:
    from rich.progress import TaskID

    from sketchhash.gallery import Event, Summary


def print_event(event: Event) -> None:
    """Print an event as one line of JSON; mere signs of life are left out."""
    from sketchhash.gallery import Watching

    if not isinstance(event, Watching):
        typer.echo(exact_json({"event": type(event).__name__.lower(), **asdict(event)}))


class IndexingProgress:
    """Shows indexing to a person: failures and summaries, and on a terminal a bar with rate and time left."""

    def __init__(self) -> None:
        """Prepare a bar; it appears with the first progress."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("indexing"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task: TaskID | None = None
        self._last_said = ""

    def __enter__(self) -> Self:
        """Take the bar away at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self._take_away()

    def tell(self, event: Event) -> None:
        """Show an event."""
        from sketchhash import gallery

        match event:
            case gallery.Progress(done, total):
                self._advance(done, total)
            case gallery.Failure(path, reason):
                say(f"Left out {shown(path)}: {reason}")
            case gallery.Waiting():
                self._say_once("Another process is writing to the gallery; waiting for it ...")
            case gallery.Watching():
                self._say_once("Watching for changes; Ctrl-C ends it.")
            case gallery.Summary():
                self._take_away()
                self._sum_up(event)

    def _advance(self, done: int, total: int) -> None:
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("indexing", total=total, rate="")
        self._bar.update(self._task, completed=done, total=total)
        speed = next(task.speed for task in self._bar.tasks if task.id == self._task)
        if speed is not None:
            self._bar.update(self._task, rate=f"{speed:.1f} photos/s")

    def _take_away(self) -> None:
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._bar.stop()
            self._task = None

    def _say_once(self, text: str) -> None:
        if text != self._last_said:
            say(text)
            self._last_said = text

    def _sum_up(self, summary: Summary) -> None:
        numbers = {
            "added": summary.added,
            "updated": summary.updated,
            "moved": summary.moved,
            "removed": summary.removed,
            "unchanged": summary.unchanged,
            "left out": len(summary.failed),
        }
        # While watching, files that are no photos change too: that is no news.
        if any(numbers.values()) or not self._last_said:
            typer.echo(
                ", ".join(f"{number:,} {what}" for what, number in numbers.items() if number) or "no photos found"
            )
