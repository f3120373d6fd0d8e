"""``sketchhash index``: bring a gallery up to date with folders of photos."""

from __future__ import annotations

import shlex
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from sketchhash.cli.console import INTERRUPTED, exact_json, printable, say, write
from sketchhash.cli.options import GalleryPlace, ModelFolder, default_gallery

if TYPE_CHECKING:
    from rich.progress import TaskID

    from sketchhash.gallery import Completing, Event, Labels, Progress, Summary, Workers


class LabelSource(StrEnum):
    """Where the labels of photos come from."""

    FOLDER = "folder"


class Taken(StrEnum):
    """What files are taken for."""

    AUTO = "auto"
    PHOTOS = "photos"
    DRAWINGS = "drawings"


def index(
    places: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Folders of photos or drawings, or single files.")
    ],
    gallery: GalleryPlace,
    model: ModelFolder = None,
    taken: Annotated[
        Taken,
        typer.Option("--as", help="What the files are; auto tells photos from drawings, such as icons, by content."),
    ] = Taken.AUTO,
    labels: Annotated[
        LabelSource | None, typer.Option(help="Label each photo with the name of the folder it lies in.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove photos below DIR whose file is gone.")] = False,
    reindex: Annotated[
        bool, typer.Option("--reindex", help="If the gallery was made with another model, empty it first.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Continue with what changes, until Ctrl-C.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Read and encode in this many processes; one for each core is best."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Read and encode on a Ray cluster: host:port, auto, or local to try it."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List every file that was left out, not only in the first run.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print every event as one line of JSON.")] = False,
) -> None:
    """Encode the photos in folders that are new or changed. Stop it at any time: the same command continues."""
    from sketchhash.api import Gallery
    from sketchhash.engines import is_address
    from sketchhash.gallery import require_places

    require_places(places)
    encoders = _workers(model, workers, ray)
    with Gallery(gallery, model, reindex=reindex) as opened:
        run = opened.watch if watch else opened.index_events
        label_source: Labels | None = "folder" if labels else None
        events = run(*places, labels=label_source, prune=prune, workers=encoders, taken_as=taken.value)
        try:
            list_failures = verbose or not len(opened)
            summary = _print_events(events) if json else show_indexing(events, list_failures)
        except KeyboardInterrupt:
            say("Stopped. Every photo stored so far is kept; the same command continues with the rest.")
            raise typer.Exit(INTERRUPTED) from None
        if len(opened) and not json:
            named = "ADDRESS" if is_address(gallery) else _typed(gallery)  # an address may hold a password
            at = "" if gallery == str(default_gallery()) else f" --gallery {named}"
            at += "" if model is None else f" --model {_typed(model)}"
            if missing := opened.count_without_shape():
                say(f"{missing:,} photos were indexed before shapes were kept, which order hits of equal codes.")
                say(f"To fill them in without encoding photos again, type: sketchhash gallery shapes{at}")
            say(f"To search by drawing, type: sketchhash serve --open{at}")
    if summary is not None and summary.found_nothing_readable:
        raise typer.Exit(1)


def _typed(path: Path | str) -> str:
    """Return a path as it can be typed in a shell, without control characters."""
    return shlex.quote(printable(path))


def _workers(model: Path | None, workers: int | None, ray: str | None) -> Workers | None:
    from sketchhash.gallery import WorkerProcesses
    from sketchhash.gallery.ray_workers import RayWorkers
    from sketchhash.model.folder import default_model_folder

    folder = default_model_folder() if model is None else model
    if ray is not None:
        return RayWorkers(folder, ray, workers)
    return None if workers is None else WorkerProcesses(folder, workers)


def _print_events(events: Generator[Event, None, None]) -> Summary | None:
    """Print each event as one line of JSON; `Watching`, which only shows that the process lives, is left out."""
    from sketchhash.gallery import Summary, Watching
    from sketchhash.imaging.formats import install_for

    last = None
    with closing(events):
        for event in events:
            if not isinstance(event, Watching):
                missing = install_for(event.skipped) if isinstance(event, Summary) else ""
                advice = {"install": missing} if missing else {}
                write(exact_json({"event": type(event).__name__.lower(), **asdict(event), **advice}))
            last = event if isinstance(event, Summary) else last
    return last


def show_indexing(events: Generator[Event, None, None], list_failures: bool) -> Summary | None:
    """Consume events, show them as `IndexingProgress` does, and return the last summary."""
    from sketchhash.gallery import Summary

    last = None
    with closing(events), IndexingProgress(list_failures) as progress:
        for event in events:
            progress.show(event)
            last = event if isinstance(event, Summary) else last
    return last


class IndexingProgress:
    """Show indexing on a terminal: failures, a summary, and a bar with the rate of encoding and the time left."""

    def __init__(self, list_failures: bool = True) -> None:
        """Prepare the bar, which appears with the first `Progress`.

        Args:
            list_failures: Print every file that was left out. Otherwise only the summary counts them, by reason:
                files that cannot be read fail again in every run.
        """
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._list_failures = list_failures
        self._task: TaskID | None = None
        self._speed = Speed()
        self._last_message = ""

    def __enter__(self) -> Self:
        """Remove the bar at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        self._remove_bar()

    def show(self, event: Event) -> None:
        """Show an event."""
        from sketchhash import gallery

        match event:
            case gallery.Progress():
                self._speed.update(event.encoded, time.monotonic())
                self._advance("indexing", event, self._speed.describe(event.total - event.done))
            case gallery.Completing():
                self._advance("completing older photos", event)
            case gallery.Failure():
                if self._list_failures:
                    self._say(f"Left out {printable(event.path)}: {event.reason}")
            case gallery.Waiting():
                self._say_once("Another process is writing to the gallery; waiting for it ...")
            case gallery.Watching():
                self._say_once("Watching for changes; Ctrl-C ends it.")
            case gallery.Summary():
                self._remove_bar()
                self._sum_up(event)

    def _advance(self, what: str, progress: Progress | Completing, rate: str = "") -> None:
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task(what, rate="")
        self._bar.update(self._task, description=what, completed=progress.done, total=progress.total, rate=rate)

    def _remove_bar(self) -> None:
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._bar.stop()
            self._task = None

    def _say(self, text: str) -> None:
        # Printed through the bar's console, a message stands above the bar and not at its end.
        if self._task is not None and not self._bar.disable:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            say(text)

    def _say_once(self, text: str) -> None:
        if text != self._last_message:
            self._say(text)
            self._last_message = text

    def _sum_up(self, summary: Summary) -> None:
        from sketchhash.imaging.formats import passed_over

        numbers = {
            "added": summary.added,
            "updated": summary.updated,
            "moved": summary.moved,
            "described": summary.described,
            "removed": summary.removed,
            "unchanged": summary.unchanged,
            "left out": len(summary.failed),
        }
        # While watching, files that are not photos change too: they are not worth a line.
        if any(numbers.values()) or not self._last_message:
            nothing = "no photos that can be read" if summary.skipped else "no photos found"
            write(", ".join(f"{number:,} {what}" for what, number in numbers.items() if number) or nothing)
        if summary.skipped:
            self._say_once(passed_over(summary.skipped))
        if summary.failed and not self._list_failures:
            for cause, count in summary.causes().items():
                say(f"  {count:,} × {cause}")
            say("To list the files that were left out, add --verbose.")


class Speed:
    """The rate of encoding, over about the last minute.

    Only photos that were really encoded count: a run that continues passes over known files thousands of times faster.
    """

    _WINDOW = 60.0

    def __init__(self) -> None:
        """Start with no measurement."""
        self._points: list[tuple[float, int]] = []

    def update(self, encoded: int, now: float) -> None:
        """Take in that ``encoded`` photos were encoded until ``now``, in seconds."""
        if not self._points or encoded > self._points[-1][1]:
            self._points.append((now, encoded))
        while len(self._points) > 2 and now - self._points[1][0] > self._WINDOW:
            self._points.pop(0)

    @property
    def rate(self) -> float | None:
        """Photos encoded a second, if that is known yet."""
        if len(self._points) < 2:
            return None
        (start, before), (end, after) = self._points[0], self._points[-1]
        return (after - before) / (end - start) if end > start else None

    def describe(self, left: int) -> str:
        """Return the rate, and the time that ``left`` files take if all must be encoded, as text.

        >>> speed = Speed()
        >>> speed.update(0, 0.0); speed.update(40, 2.0)
        >>> speed.describe(1300)
        '20.0 photos/s, 0:01:05 left'
        """
        rate = self.rate
        if not rate:
            return ""
        return f"{rate:.1f} photos/s, {timedelta(seconds=round(left / rate))} left"
