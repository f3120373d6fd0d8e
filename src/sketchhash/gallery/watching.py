"""Keep a gallery up to date while photos come and go."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import chain
from pathlib import Path

from watchfiles import Change, watch

from sketchhash.gallery.indexing import Labels, index_changes, index_photos
from sketchhash.gallery.progress import Event, Watching
from sketchhash.gallery.scanning import outermost
from sketchhash.gallery.store import Gallery
from sketchhash.model import Model

_TICK = 500  # milliseconds between two signs of life while nothing changes


def watch_folders(
    gallery: Gallery, model: Model, folders: Sequence[Path], labels: Labels | None = None, prune: bool = False
) -> Generator[Event, None, None]:
    """Index all photos, and then, for ever, those that change; see `index_photos`.

    Whoever takes the events decides when it ends, by closing the iterator: while nothing changes there is a
    `Watching` about twice a second.
    """
    first_run = index_photos(gallery, model, folders, labels, prune)
    changes = _changes(outermost(folders))
    early = next(changes)  # watching has begun: what changes during the first run comes up after it
    yield from first_run
    for places in chain([early], changes):
        if places:
            yield from index_changes(gallery, model, places, labels, prune)
        else:
            yield Watching()


def _changes(folders: Sequence[Path]) -> Iterator[list[Path]]:
    """Give the places that changed, as they do, and none every now and then."""

    def is_visible(_: Change, path: str) -> bool:
        return not any(_is_hidden(Path(path), folder) for folder in folders)

    missed: list[Path] = []
    while True:
        try:
            for changed in watch(
                *folders,
                watch_filter=is_visible,
                rust_timeout=_TICK,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            ):
                yield missed + [Path(path) for _, path in changed]
                missed = []
        except RuntimeError as problem:
            if "decode path" not in str(problem):
                raise
            missed = list(folders)  # a name that is not UTF-8 ends the watch: begin another, and look everywhere


def _is_hidden(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and any(name.startswith(".") for name in path.relative_to(folder).parts)
