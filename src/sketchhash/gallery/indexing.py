"""Bring a gallery up to date with folders of photos.

    walk ──► sift (new or changed?) ──► examine (many workers: read, hash, decode, encode) ──► store ──► events

A file whose size and time are as stored is not even opened, unless its sidecars have changed, or its photo is from
before details were kept. A file whose content is known is not encoded: it was touched, moved or copied. Workers may run
anywhere (`workers`), and store what they made themselves if the gallery lets many write; otherwise this process does.
Each batch is reported once it is kept, so indexing can stop at any moment and the next run does the rest. Files that
cannot be read are not remembered: every run tries them again.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from sketchhash.errors import BadArgument, BusyGallery, UnreadableImage
from sketchhash.gallery.examining import Examined, Stored, examine
from sketchhash.gallery.packs import Packed, PackReader, words_of
from sketchhash.gallery.photos import Failure, PhotoKind, Skipped, TakenAs, find_photos, is_gone, outermost
from sketchhash.gallery.protocol import OpenGallery, PhotoRow
from sketchhash.gallery.sidecars import SidecarFinder
from sketchhash.gallery.upkeep import fill_hashes
from sketchhash.gallery.workers import Workers, WorkerThreads, examine_in_order
from sketchhash.gallery.writer import Change, Encoded, Known, Task, Writer
from sketchhash.imaging import decoders
from sketchhash.model import Model

Labels = Literal["folder"]
"""Where labels come from: "folder" labels each photo with the name of its folder."""

_BATCH = 16  # the model's own
_THREADS = (os.cpu_count() or 1) + 1  # while one waits for its decoder, the others keep all cores busy
_REMOVED_AT_ONCE = 1000

_T = TypeVar("_T")


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` files are settled, and all that was stored for them is on the disk.

    ``encoded`` counts those that took a network to settle: only these tell how fast indexing is, since files that have
    not changed take no time.
    """

    done: int
    total: int
    encoded: int = 0


@dataclass(frozen=True)
class Completing:
    """``done`` of ``total`` photos, which an older version stored, have their perceptual hashes now."""

    done: int
    total: int


@dataclass(frozen=True)
class Waiting:
    """Another process is writing to the gallery; this one continues as soon as it can."""


@dataclass(frozen=True)
class Watching:
    """Nothing has changed for a moment."""


@dataclass(frozen=True)
class Summary:
    """What became of the files, at the end.

    ``described`` counts those whose picture is as it was, but of which more is known than before, or something else.
    ``skipped`` counts, by format, those that were passed over because the package that reads them is not installed.
    """

    added: int
    updated: int
    moved: int
    unchanged: int
    removed: int
    failed: tuple[Failure, ...]
    described: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def found_nothing_readable(self) -> bool:
        """Whether there were pictures, and none of them could be read."""
        read = self.added + self.updated + self.moved + self.unchanged + self.described
        return not read and bool(self.failed or self.skipped)

    def causes(self) -> dict[str, int]:
        """Count the failures by their causes, the most frequent first."""
        return dict(Counter(failure.cause for failure in self.failed).most_common())


Event = Progress | Completing | Waiting | Watching | Failure | Summary


def index(
    gallery: OpenGallery,
    model: Model,
    places: Sequence[Path],
    labels: Labels | None = None,
    prune: bool = False,
    workers: Workers | None = None,
    progress: Callable[[Event], None] | None = None,
    taken_as: TakenAs = "auto",
) -> Summary:
    """Bring the gallery up to date with all photos in and below ``places``, to the end.

    Args:
        gallery: Made with ``model``.
        model: Encodes the photos that are new or changed.
        places: Folders or files.
        labels: "folder" labels each photo with the name of its folder; otherwise labels stay as they are.
        prune: Remove photos below ``places`` whose file is gone.
        workers: Where photos are read and encoded; on threads of this process if None.
        progress: Is called with every event, the summary included.
        taken_as: What the files are: "photos", "drawings", such as icons, or "auto" to tell by their content.

    Raises:
        BadArgument: If a place is not there; a disk that is not mounted must not look like one without photos.
    """
    summary = Summary(0, 0, 0, 0, 0, ())
    with closing(index_events(gallery, model, places, labels, prune, workers, taken_as)) as events:
        for event in events:
            if progress is not None:
                progress(event)
            if isinstance(event, Summary):
                summary = event
    return summary


def index_events(
    gallery: OpenGallery,
    model: Model,
    places: Sequence[Path],
    labels: Labels | None = None,
    prune: bool = False,
    workers: Workers | None = None,
    taken_as: TakenAs = "auto",
) -> Generator[Event, None, None]:
    """Bring the gallery up to date as `index` does, one event at a time; the last one is the `Summary`."""
    require_places(places)
    if taken_as == "drawings" and not gallery.keeps_drawings:
        raise BadArgument(
            f"The gallery {gallery.place} was made before there were drawings, and has no room for them. Make another."
        )
    gallery.require(model)
    if workers is not None and workers.fingerprint != model.fingerprint:
        raise BadArgument("The workers have another model than this run: give them the same folder.")
    return _index_all(gallery, model, places, labels, prune, workers, taken_as)


def _index_all(
    gallery: OpenGallery,
    model: Model,
    places: Sequence[Path],
    labels: Labels | None,
    prune: bool,
    workers: Workers | None,
    taken_as: TakenAs,
) -> Generator[Event, None, None]:
    done, total = 0, len(gallery.without_hash(sys.maxsize))
    for hashes in fill_hashes(gallery):
        yield from _write(gallery, model, partial(_put_hashes, hashes=hashes))
        done += len(hashes)
        yield Completing(done, max(done, total))
    for event in index_changes(gallery, model, places, labels, prune, workers, taken_as):
        if isinstance(event, Summary) and event.added + event.updated:
            gallery.settle()
        yield event


def _put_hashes(writer: Writer, hashes: Mapping[int, bytes]) -> None:
    writer.put_hashes(hashes)


def require_places(places: Iterable[Path]) -> None:
    """Raise `BadArgument` if a place is not there; a disk that is not mounted must not look like one without photos."""
    for place in places:
        if not place.is_dir() and not place.is_file():
            raise BadArgument(f"There is no folder or photo at {place}. Name one that is there.")


def index_changes(
    gallery: OpenGallery,
    model: Model,
    places: Sequence[Path],
    labels: Labels | None = None,
    prune: bool = False,
    workers: Workers | None = None,
    taken_as: TakenAs = "auto",
) -> Generator[Event, None, None]:
    """Bring the gallery up to date with ``places``, of which some may be gone; see `index_events`."""
    tally = _Tally()
    taken_as = taken_as if gallery.keeps_drawings else "photos"
    done, total = 0, sum(not isinstance(found, Skipped) for found in find_photos(places, taken_as))
    yield Progress(done, total)
    pool = (workers or WorkerThreads(model, _THREADS)).start(gallery)
    sifter = _Sifter(gallery, labels, taken_as)
    packs = PackReader(decoders.shared().run)
    found = packs.open_all(tally.count_skipped(find_photos(places, taken_as)))
    batches = (sifter.sift(batch) for batch in _batches(found))
    with closing(examine_in_order(pool, batches)) as examined:
        for settled, results in examined:
            outcomes = settled + (yield from _store(gallery, model, results, tally))
            tally.count(outcomes)
            yield from (outcome for outcome in outcomes if isinstance(outcome, Failure))
            done += len(outcomes)
            yield Progress(done, max(done, total + packs.packed), tally.encoded)
    if prune:
        tally.count((yield from _prune(gallery, model, places, packs)))
    yield tally.summary()


_Outcome = Change | Failure


@dataclass
class _Tally:
    """Counts what happens until there is a `Summary`."""

    changes: Counter[Change] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    encoded: int = 0

    def count_skipped(self, found: Iterable[Path | Failure | Skipped]) -> Iterator[Path | Failure]:
        """Count what is passed over, and yield the rest."""
        for each in found:
            if isinstance(each, Skipped):
                self.skipped[each.form] += 1
            else:
                yield each

    def count(self, outcomes: Iterable[_Outcome]) -> None:
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                self.failures.append(outcome)
            else:
                self.changes[outcome] += 1

    def summary(self) -> Summary:
        return Summary(
            added=self.changes[Change.ADDED],
            updated=self.changes[Change.UPDATED],
            moved=self.changes[Change.MOVED],
            unchanged=self.changes[Change.UNCHANGED],
            removed=self.changes[Change.REMOVED],
            failed=tuple(self.failures),
            described=self.changes[Change.DESCRIBED],
            skipped=dict(self.skipped),
        )


class _Sifter:
    """Tells what must be examined from what is as it was."""

    def __init__(self, gallery: OpenGallery, labels: Labels | None, taken_as: TakenAs) -> None:
        self._gallery = gallery
        self._labels = labels
        kinds: Mapping[TakenAs, PhotoKind] = {"photos": "photo", "drawings": "drawing"}
        self._kind = kinds.get(taken_as)
        self._keeps_details = gallery.keeps_details
        self._finder = SidecarFinder()

    def sift(self, batch: Sequence[Path | Packed | Failure]) -> tuple[list[_Outcome], list[Task]]:
        """Return what is settled without opening files, and the files that must be examined."""
        settled: list[_Outcome] = [each for each in batch if isinstance(each, Failure)]
        wanted = [self._task(each) for each in batch if not isinstance(each, Failure)]
        known = self._gallery.photos_at([task.path for task in wanted]) if wanted else {}
        tasks: list[Task] = []
        for task in wanted:
            try:
                if task.path in known and self._is_unchanged(known[task.path], task):
                    settled.append(Change.UNCHANGED)
                else:
                    tasks.append(task)
            except UnreadableImage as problem:
                settled.append(Failure(task.path, str(problem)))
        return settled, tasks

    def _task(self, found: Path | Packed) -> Task:
        path = found.path if isinstance(found, Packed) else found
        label = _folder_name(path) if self._labels == "folder" else None
        if isinstance(found, Packed):
            return Task(path, label or words_of(path), kind="drawing", packed=found)
        sidecars = self._finder.beside(path)
        return Task(path, label or sidecars.tagged.name, sidecars, self._kind)

    def _is_unchanged(self, known: PhotoRow, task: Task) -> bool:
        if task.label not in (None, known.photo.label) or task.kind not in (None, known.photo.kind):
            return False
        if task.packed is not None:
            return (task.packed.size, task.packed.mtime_ns) == (known.photo.size, known.photo.mtime_ns)
        try:
            status = task.path.stat()
        except OSError as problem:
            raise UnreadableImage(f"{problem.strerror}.") from problem
        if (status.st_size, status.st_mtime_ns) != (known.photo.size, known.photo.mtime_ns):
            return False
        details = known.details
        return not self._keeps_details or (details is not None and details.sidecars == task.sidecars.stamp)


def _folder_name(path: Path) -> str:
    # Names on disk may be any bytes; labels are shown and written to JSON, and must be text.
    return os.fsencode(path.parent.name).decode("utf-8", "backslashreplace")


def _store(
    gallery: OpenGallery, model: Model, results: Sequence[Examined], tally: _Tally
) -> Generator[Waiting, None, list[_Outcome]]:
    """Store the results that no worker has stored, at once, and return what became of each file."""
    outcomes: list[_Outcome] = [result for result in results if isinstance(result, Failure)]
    stored = [result for result in results if isinstance(result, Stored)]
    outcomes += (result.change for result in stored)
    news = [result for result in results if isinstance(result, Known | Encoded)]
    tally.encoded += sum(result.was_encoded for result in stored) + sum(isinstance(each, Encoded) for each in news)
    if news:
        changes = yield from _write(gallery, model, lambda writer: writer.store(news))
        outcomes += (change for change in changes if change is not None)
        both = zip(news, changes, strict=True)
        lost = [result.task for result, change in both if isinstance(result, Known) and change is None]
        if lost:  # the photos that had these contents were removed meanwhile
            outcomes += yield from _store(gallery, model, examine(model, lost, gallery.has_content), tally)
    return outcomes


def _prune(
    gallery: OpenGallery, model: Model, places: Iterable[Path], packs: PackReader
) -> Generator[Waiting, None, list[_Outcome]]:
    gone = [
        photo.id
        for place in outermost(places)
        for photo in gallery.within(place)
        if is_gone(photo.path) or packs.has_lost(photo.path)
    ]
    for batch in _batches(iter(gone), _REMOVED_AT_ONCE):
        yield from _write(gallery, model, partial(_remove, photos=batch))
    return [Change.REMOVED] * len(gone)


def _remove(writer: Writer, photos: Sequence[int]) -> int:
    return writer.remove(photos)


def _write(gallery: OpenGallery, model: Model, change: Callable[[Writer], _T]) -> Generator[Waiting, None, _T]:
    """Make a change, as soon as other writers let it."""
    while True:
        try:
            with gallery.writing(model) as writer:
                return change(writer)
        except BusyGallery:
            yield Waiting()


def _batches(items: Iterator[_T], size: int = _BATCH) -> Iterator[list[_T]]:
    while batch := list(islice(items, size)):
        yield batch
