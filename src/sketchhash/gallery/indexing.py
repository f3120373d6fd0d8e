"""Bring a gallery up to date with folders of photos.

    walk ──► batches ──► examine (many threads: read, hash, decode, encode) ──► store (one thread) ──► events

A file whose size and time are as stored is not even opened. A file whose content is known is not encoded: it
was touched, moved or copied. Each batch is one transaction, and is reported once it is kept, so indexing can
stop at any moment and the next run finds the rest. Files that cannot be read are not remembered: every run
tries them again.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, BusyGallery, UnreadableImage
from sketchhash.gallery.photos import Change, Failure, PhotoFile
from sketchhash.gallery.progress import Event, Progress, Tally, Waiting
from sketchhash.gallery.reading import decode, encode, read_file
from sketchhash.gallery.scanning import find_photos, is_gone, outermost
from sketchhash.gallery.store import Gallery
from sketchhash.gallery.writing import Writer
from sketchhash.imaging import thumbnail
from sketchhash.model import Model

Labels = Literal["folder"]

_BATCH = 16  # the model's own
_THREADS = os.cpu_count() or 1
_REMOVED_AT_ONCE = 1000


def index_photos(
    gallery: Gallery, model: Model, places: Sequence[Path], labels: Labels | None = None, prune: bool = False
) -> Generator[Event, None, None]:
    """Bring the gallery up to date with all photos in and below ``places``.

    Nothing happens until the events are asked for; the last one is the `Summary`.

    Args:
        gallery: Made with ``model``.
        model: Encodes the photos that are new or changed.
        places: Folders or files.
        labels: "folder" labels each photo with the name of its folder; otherwise labels stay as they are.
        prune: Remove photos below ``places`` whose file is gone.

    Raises:
        BadArgument: If a place is not there; a disk that is not mounted must not look like one without photos.
    """
    for place in places:
        if not place.is_dir() and not place.is_file():
            raise BadArgument(f"There is no folder or photo at {place}. Name one that is there.")
    gallery.require(model)
    return index_changes(gallery, model, places, labels, prune)


def index_changes(
    gallery: Gallery, model: Model, places: Sequence[Path], labels: Labels | None = None, prune: bool = False
) -> Generator[Event, None, None]:
    """Bring the gallery up to date with ``places``, of which some may be gone; see `index_photos`."""
    tally = Tally()
    done, total = 0, sum(1 for _ in find_photos(places))
    yield Progress(done, total)
    examine = partial(_examine, gallery, model, labels)
    for findings in _in_parallel(examine, _batches(find_photos(places))):
        outcomes = yield from _store(gallery, model, findings, examine)
        tally.count(outcomes)
        yield from (outcome for outcome in outcomes if isinstance(outcome, Failure))
        done += len(findings)
        yield Progress(done, max(done, total))
    if prune:
        tally.count((yield from _prune(gallery, model, places)))
    yield tally.summary()


@dataclass(frozen=True)
class _Encoded:
    """A photo that is new to the gallery, ready to be stored."""

    file: PhotoFile
    code: bytes
    thumbnail: bytes


# A file alone stands for one whose content is in the gallery.
_Finding = Change | Failure | PhotoFile | _Encoded
_Outcome = Change | Failure
_T = TypeVar("_T")


def _examine(gallery: Gallery, model: Model, labels: Labels | None, batch: Iterable[Path | Failure]) -> list[_Finding]:
    """Find out what there is to do about some files, and do all of it but the storing."""
    findings: list[_Finding] = []
    fresh: list[tuple[PhotoFile, NDArray[np.uint8]]] = []
    for path in batch:
        if isinstance(path, Failure):
            findings.append(path)
            continue
        label = _folder_name(path) if labels == "folder" else None
        try:
            if _is_unchanged(gallery, path, label):
                findings.append(Change.UNCHANGED)
                continue
            file, content = read_file(path, label)
            if gallery.has_content(file.sha256):
                findings.append(file)
            else:
                fresh.append((file, decode(content)))
        except UnreadableImage as problem:
            findings.append(Failure(path, str(problem)))
    codes = encode(model, [pixels for _, pixels in fresh])
    findings += (_Encoded(file, code, thumbnail(pixels)) for (file, pixels), code in zip(fresh, codes, strict=True))
    return findings


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


def _store(
    gallery: Gallery, model: Model, findings: Sequence[_Finding], examine: Callable[[list[Path]], list[_Finding]]
) -> Generator[Waiting, None, list[_Outcome]]:
    """Store what was found in one transaction, and give what became of each file."""
    outcomes: list[_Outcome] = [finding for finding in findings if isinstance(finding, Change | Failure)]
    news = [finding for finding in findings if isinstance(finding, PhotoFile | _Encoded)]
    if news:
        stored = yield from _write(gallery, model, lambda writer: [_put(writer, finding) for finding in news])
        outcomes += (change for change in stored if change is not None)
        both = zip(news, stored, strict=True)
        lost = [finding.path for finding, change in both if isinstance(finding, PhotoFile) and change is None]
        if lost:  # the photos that had these contents were removed meanwhile
            outcomes += yield from _store(gallery, model, examine(lost), examine)
    return outcomes


def _put(writer: Writer, finding: PhotoFile | _Encoded) -> Change | None:
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


def _in_parallel(work: Callable[[_T], list[_Finding]], batches: Iterable[_T]) -> Iterator[list[_Finding]]:
    """Give what ``work`` makes of each batch, in order; a few batches are in the making at any time."""
    pool = ThreadPoolExecutor(_THREADS, "indexing")
    pending: deque[Future[list[_Finding]]] = deque()
    try:
        for batch in batches:
            pending.append(pool.submit(work, batch))
            if len(pending) > 2 * _THREADS:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _batches(items: Iterator[_T], size: int = _BATCH) -> Iterator[list[_T]]:
    while batch := list(islice(items, size)):
        yield batch
