"""Keep a gallery up to date while photos come and go."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Thread

from watchfiles import Change, watch

from sketchhash.gallery.indexing import Event, Labels, Progress, Summary, Watching, index_changes, index_events
from sketchhash.gallery.photos import Failure, TakenAs, outermost
from sketchhash.gallery.protocol import OpenGallery
from sketchhash.gallery.workers import Workers
from sketchhash.model import Model

_TICK = 0.5  # seconds between two signs of life while nothing changes


def watch_folders(
    gallery: OpenGallery,
    model: Model,
    folders: Sequence[Path],
    labels: Labels | None = None,
    prune: bool = False,
    workers: Workers | None = None,
    taken_as: TakenAs = "auto",
) -> Generator[Event, None, None]:
    """Index all photos, then those that change, until the iterator is closed; see `index_events`.

    Only the first run uses the ``workers``: later there are few photos at a time. It ends when the iterator is closed:
    while nothing changes there is a `Watching` about twice a second.
    """
    first_run = index_events(gallery, model, folders, labels, prune, workers, taken_as)
    told: set[Failure] = set()
    unsettled: set[Path] = set()
    with closing(_changes(outermost(folders))) as changes:
        next(changes)  # watching has begun: what changes during the first run comes up after it
        yield from _remembering(told, first_run)
        for places in changes:
            if places:
                unsettled.update(place.parent for place in places)
                yield from _remembering(told, index_changes(gallery, model, places, labels, prune, taken_as=taken_as))
            elif unsettled:
                second_look = index_changes(gallery, model, _files_in(unsettled), labels, taken_as=taken_as)
                unsettled.clear()
                yield from _remembering(told, (event for event in second_look if _is_news(event, told)))
            else:
                yield Watching()


def _files_in(folders: Iterable[Path]) -> list[Path]:
    """List the files of folders in which something changed, for a second look when all is quiet again.

    watchfiles copies what it has seen and then forgets it, in two steps: what happens between them is lost. While
    many files are written, or one slowly, that happens.
    """
    return [path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()]


def _remembering(told: set[Failure], events: Iterable[Event]) -> Generator[Event, None, None]:
    for event in events:
        yield event
        if isinstance(event, Failure):
            told.add(event)


def _is_news(event: Event, told: set[Failure]) -> bool:
    if isinstance(event, Summary):
        return any((event.added, event.updated, event.moved, event.removed))
    return not isinstance(event, Progress) and event not in told


def _changes(folders: Sequence[Path]) -> Generator[list[Path], None, None]:
    """Yield the places that changed, as they do, and an empty list every now and then.

    All folders come first, when watching begins and whenever it had to begin again.
    """
    watcher = _Watcher(folders)
    watcher.start()
    try:
        while True:
            try:
                news = watcher.news.get(timeout=_TICK if watcher.has_begun else None)
            except Empty:
                yield []
                continue
            if isinstance(news, BaseException):
                raise news
            yield news
    finally:
        watcher.ended.set()
        watcher.join()


class _Watcher(Thread):
    """Watches in a thread of its own: a watch with a time limit forgets what happens as the limit is reached."""

    def __init__(self, folders: Sequence[Path]) -> None:
        super().__init__(name="watching", daemon=True)
        self.news: SimpleQueue[list[Path] | BaseException] = SimpleQueue()
        self.ended = Flag()
        self.has_begun = False
        self._folders = folders

    def run(self) -> None:
        try:
            while not self.ended.is_set():
                self.has_begun = False
                try:
                    self._watch()
                except RuntimeError as problem:
                    if "decode path" not in str(problem):
                        raise
                    # A name that is not UTF-8 ends the watch: begin another, and look everywhere.
        except BaseException as problem:
            self.news.put(problem)

    def _watch(self) -> None:
        for changed in watch(
            *self._folders,
            watch_filter=self._is_visible,
            stop_event=self,
            rust_timeout=0,
            ignore_permission_denied=True,
        ):
            self.news.put([Path(path) for _, path in changed])

    def is_set(self) -> bool:
        """Return whether to stop; the first call shows that watching has begun."""
        if not self.has_begun:
            self.has_begun = True
            self.news.put(list(self._folders))
        return self.ended.is_set()

    def _is_visible(self, _: Change, path: str) -> bool:
        return not any(_is_hidden(Path(path), folder) for folder in self._folders)


def _is_hidden(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and any(name.startswith(".") for name in path.relative_to(folder).parts)
