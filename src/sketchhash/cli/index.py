"""``sketchhash index``: bring a gallery up to date with folders of photos."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from sketchhash.cli.console import INTERRUPTED, exact_json, printable, say
from sketchhash.cli.options import GalleryPath, ModelFolder, load_model
from sketchhash.errors import IncompatibleGallery

if TYPE_CHECKING:
    from rich.progress import TaskID

    from sketchhash.gallery import Event, GalleryFile, Summary
    from sketchhash.gallery.workers import Workers
    from sketchhash.model import Model


class LabelSource(StrEnum):
    """Where labels of photos come from."""

    FOLDER = "folder"


def index(
    places: Annotated[list[Path], typer.Argument(metavar="DIR", exists=True, help="Folders of photos, or photos.")],
    gallery: GalleryPath,
    model: ModelFolder = None,
    labels: Annotated[
        LabelSource | None, typer.Option(help="Label each photo with the name of the folder it lies in.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove photos below DIR whose file is gone.")] = False,
    reindex: Annotated[
        bool, typer.Option("--reindex", help="If the gallery was made with another model, empty it first.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on with what changes, until Ctrl-C.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Read and encode in so many processes; one for each core is best."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Read and encode on a Ray cluster: host:port, auto, or local to try it."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print every event as one line of JSON.")] = False,
) -> None:
    """Encode the photos in folders that are new or changed; stop it at any time, and the same command goes on."""
    from sketchhash.gallery import index_events, watch_folders

    loaded = load_model(model)
    pool = _workers(model, workers, ray)
    with ExitStack() as stack:
        opened = stack.enter_context(_open(gallery, loaded, reindex))
        run = watch_folders if watch else index_events
        events = run(opened, loaded, places, "folder" if labels else None, prune, pool)
        stack.enter_context(closing(events))
        tell = print_event if json else stack.enter_context(IndexingProgress()).tell
        try:
            for event in events:
                tell(event)
        except KeyboardInterrupt:
            say("Stopped. Every photo stored so far is kept; the same command goes on with the rest.")
            raise typer.Exit(INTERRUPTED) from None


def _workers(model: Path | None, workers: int | None, ray: str | None) -> Workers | None:
    from sketchhash.gallery.ray_workers import RayWorkers
    from sketchhash.gallery.workers import WorkerProcesses
    from sketchhash.model.folder import default_model_folder

    folder = default_model_folder() if model is None else model
    if ray is not None:
        return RayWorkers(folder, ray, workers)
    return None if workers is None else WorkerProcesses(folder, workers)


def _open(path: Path, model: Model, reindex: bool) -> GalleryFile:
    from sketchhash.gallery import GalleryFile

    try:
        return GalleryFile.create(path, model)
    except IncompatibleGallery:
        if not reindex:
            raise
    with GalleryFile.open(path) as old, old.writing() as writer:
        writer.start_over(model)
    return GalleryFile.open(path, model)


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
                say(f"Left out {printable(path)}: {reason}")
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
