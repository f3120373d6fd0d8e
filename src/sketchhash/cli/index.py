"""``sketchhash index``: bring a gallery up to date with folders of photos."""

from __future__ import annotations

from contextlib import ExitStack, closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import say
from sketchhash.cli.indexing_progress import IndexingProgress, print_event
from sketchhash.cli.opening import GalleryFile, ModelFolder, load_model
from sketchhash.errors import IncompatibleGallery

if TYPE_CHECKING:
    from sketchhash.gallery import Gallery
    from sketchhash.gallery.workplaces import Workplace
    from sketchhash.model import Model

_INTERRUPTED = 130  # as shells say it: 128 + SIGINT


class LabelSource(StrEnum):
    """Where labels of photos come from."""

    FOLDER = "folder"


def index(
    places: Annotated[list[Path], typer.Argument(metavar="DIR", exists=True, help="Folders of photos, or photos.")],
    gallery: GalleryFile,
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
    from sketchhash.gallery import index_photos, watch_folders

    loaded = load_model(model)
    workplace = _workplace(model, workers, ray)
    with ExitStack() as stack:
        opened = stack.enter_context(_open(gallery, loaded, reindex))
        run = watch_folders if watch else index_photos
        events = run(opened, loaded, places, "folder" if labels else None, prune, workplace)
        stack.enter_context(closing(events))
        tell = print_event if json else stack.enter_context(IndexingProgress()).tell
        try:
            for event in events:
                tell(event)
        except KeyboardInterrupt:
            say("Stopped. Every photo stored so far is kept; the same command goes on with the rest.")
            raise typer.Exit(_INTERRUPTED) from None


def _workplace(model: Path | None, workers: int | None, ray: str | None) -> Workplace | None:
    from sketchhash.gallery.ray_workers import RayCluster
    from sketchhash.gallery.worker_processes import WorkerProcesses
    from sketchhash.model.shipped import default_model_folder

    folder = default_model_folder() if model is None else model
    if ray is not None:
        return RayCluster(folder, ray, workers)
    return None if workers is None else WorkerProcesses(folder, workers)


def _open(path: Path, model: Model, reindex: bool) -> Gallery:
    from sketchhash.gallery import Gallery

    try:
        return Gallery.create(path, model)
    except IncompatibleGallery:
        if not reindex:
            raise
    with Gallery.open(path) as old, old.writing() as writer:
        writer.start_over(model)
    return Gallery.open(path, model)
