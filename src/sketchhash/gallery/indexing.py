"""Bring a gallery up to date with folders of photos.

    walk ──► sift (new or changed?) ──► examine (many workers: read, hash, decode, encode) ──► store ──► events

A file whose size and time are as stored is not even opened. A file whose content is known is not encoded: it
was touched, moved or copied. Workers may be anywhere (`workplaces`); this process alone writes. Each batch is one
transaction, and is reported once it is kept, so indexing can stop at any moment and the next run finds the rest.
Files that cannot be read are not remembered: every run tries them again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from sketchhash.errors import BadArgument, BusyGallery, UnreadableImage
from sketchhash.gallery.examining import Encoded, Errand, Finding, examine
from sketchhash.gallery.photos import Change, Failure, PhotoFile
from sketchhash.gallery.progress import Event, Progress, Tally, Waiting
from sketchhash.gallery.scanning import find_photos, is_gone, outermost
from sketchhash.gallery.store import Gallery
from sketchhash.gallery.workplaces import ThisProcess, Workplace, in_order
from sketchhash.gallery.writing import Writer
from sketchhash.model import Model

Labels = Literal["folder"]

_BATCH = 16  # the model's own
_THREADS = os.cpu_count() or 1
_REMOVED_AT_ONCE = 1000

_Outcome = Change | Failure
_T = TypeVar("_T")


def index_photos(
    gallery: Gallery,
    model: Model,
    places: Sequence[Path],
    labels: Labels | None = None,
    prune: bool = False,
    workplace: Workplace | None = None,
) -> Generator[Event, None, None]:
    """Bring the gallery up to date with all photos in and below ``places``.

    Nothing happens until the events are asked for; the last one is the `Summary`.

    Args:
        gallery: Made with ``model``.
        model: Encodes the photos that are new or changed.
        places: Folders or files.
        labels: "folder" labels each photo with the name of its folder; otherwise labels stay as they are.
        prune: Remove photos below ``places`` whose file is gone.
        workplace: Where photos are read and encoded; on threads of this process if nothing is said.

    Raises:
        BadArgument: If a place is not there; a disk that is not mounted must not look like one without photos.
    """
    for place in places:
        if not place.is_dir() and not place.is_file():
            raise BadArgument(f"There is no folder or photo at {place}. Name one that is there.")
    gallery.require(model)
    if workplace is not None and workplace.fingerprint != model.fingerprint:
        raise BadArgument("The workers have another model than this run: give them the same folder.")
    return index_changes(gallery, model, places, labels, prune, workplace)


def index_changes(
    gallery: Gallery,
    model: Model,
    places: Sequence[Path],
    labels: Labels | None = None,
    prune: bool = False,
    workplace: Workplace | None = None,
) -> Generator[Event, None, None]:
    """Bring the gallery up to date with ``places``, of which some may be gone; see `index_photos`."""
    tally = Tally()
    done, total = 0, sum(1 for _ in find_photos(places))
    yield Progress(done, total)
    team = (workplace or ThisProcess(model, _THREADS)).open(gallery)
    batches = (_sift(gallery, labels, batch) for batch in _batches(find_photos(places)))
    with closing(in_order(team, batches)) as examined:
        for settled, findings in examined:
            outcomes = settled + (yield from _store(gallery, model, findings))
            tally.count(outcomes)
            yield from (outcome for outcome in outcomes if isinstance(outcome, Failure))
            done += len(outcomes)
            yield Progress(done, max(done, total))
    if prune:
        tally.count((yield from _prune(gallery, model, places)))
    yield tally.summary()


def _sift(
    gallery: Gallery, labels: Labels | None, batch: Iterable[Path | Failure]
) -> tuple[list[_Outcome], list[Errand]]:
    """Give what is settled without opening files, and those that must be examined."""
    settled: list[_Outcome] = []
    errands: list[Errand] = []
    for path in batch:
        if isinstance(path, Failure):
            settled.append(path)
            continue
        label = _folder_name(path) if labels == "folder" else None
        try:
            if _is_unchanged(gallery, path, label):
                settled.append(Change.UNCHANGED)
            else:
                errands.append(Errand(path, label))
        except UnreadableImage as problem:
            settled.append(Failure(path, str(problem)))
    return settled, errands


def _is_unchanged(gallery: Gallery, path: Path, label: str | None) -> bool:
    known = gallery.at(path)
    if known is None or label not in (None, known.label):
        return False
    try:
        status = path.stat()
    except OSError as problem:
        raise UnreadableImage(f"{problem.strerror}.") from problem
    return (status.st_size, status.st_mtime_ns) == (known.size, known.mtime_ns)


def _folder_name(path: Path) -> str:
    # Names on disk may be any bytes; labels are shown and written to JSON, and must be text.
    return os.fsencode(path.parent.name).decode("utf-8", "backslashreplace")


def _store(gallery: Gallery, model: Model, findings: Sequence[Finding]) -> Generator[Waiting, None, list[_Outcome]]:
    """Store what was found in one transaction, and give what became of each file."""
    outcomes: list[_Outcome] = [finding for finding in findings if isinstance(finding, Failure)]
    news = [finding for finding in findings if not isinstance(finding, Failure)]
    if news:
        stored = yield from _write(gallery, model, lambda writer: [_put(writer, finding) for finding in news])
        outcomes += (change for change in stored if change is not None)
        both = zip(news, stored, strict=True)
        lost = [file for file, change in both if isinstance(file, PhotoFile) and change is None]
        if lost:  # the photos that had these contents were removed meanwhile
            again = [Errand(file.path, file.label) for file in lost]
            outcomes += yield from _store(gallery, model, examine(model, again, gallery.has_content))
    return outcomes


def _put(writer: Writer, finding: PhotoFile | Encoded) -> Change | None:
    if isinstance(finding, PhotoFile):
        return writer.put_known(finding)
    return writer.put(finding.file, finding.code, finding.thumbnail)


def _prune(gallery: Gallery, model: Model, places: Iterable[Path]) -> Generator[Waiting, None, list[_Outcome]]:
    gone = [photo.id for place in outermost(places) for photo in gallery.within(place) if is_gone(photo.path)]
    for batch in _batches(iter(gone), _REMOVED_AT_ONCE):
        yield from _write(gallery, model, partial(Writer.remove, photos=batch))
    return [Change.REMOVED] * len(gone)


def _write(gallery: Gallery, model: Model, change: Callable[[Writer], _T]) -> Generator[Waiting, None, _T]:
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
