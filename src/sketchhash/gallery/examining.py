"""Examine files: read, hash, describe and decode them, and encode those whose content a gallery does not have.

Where many may write to a gallery at once, as on an engine, each worker stores its own batches, and only what became of
the files comes back. Otherwise codes and thumbnails do, and the process that started the run writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import UnreadableImage
from sketchhash.gallery.photos import Failure, PhotoFile, decode, read_file
from sketchhash.gallery.protocol import Opener, OpenGallery
from sketchhash.gallery.sidecars import describe
from sketchhash.gallery.writer import Change, Encoded, Known, Task, retried
from sketchhash.imaging import decoders, perceptual_hash, thumbnail
from sketchhash.imaging.details import Details
from sketchhash.model import Model
from sketchhash.tokens.shape import describe_contours

_PREFIX = 8  # bytes of a SHA-256


@dataclass(frozen=True, slots=True)
class Stored:
    """A file that a worker has brought the gallery up to date with."""

    change: Change
    was_encoded: bool


Examined = Failure | Known | Encoded | Stored


@dataclass(frozen=True, eq=False)
class KnownContents:
    """The contents that a gallery had at one moment, for workers that cannot ask it: 8 bytes a photo.

    It keeps the beginning of each hash only: once in many millions of galleries a new photo counts as known.
    """

    prefixes: NDArray[np.uint64]

    @classmethod
    def of(cls, gallery: OpenGallery) -> Self:
        """Note what ``gallery`` has now."""
        return cls(np.frombuffer(gallery.content_prefixes(_PREFIX), dtype=">u8").astype(np.uint64))

    def __contains__(self, sha256: str) -> bool:
        """Tell whether a photo had this content."""
        prefix = np.uint64(int(sha256[: 2 * _PREFIX], 16))
        place = np.searchsorted(self.prefixes, prefix)
        return bool(place < len(self.prefixes) and self.prefixes[place] == prefix)


def examine(model: Model, tasks: Iterable[Task], is_known: Callable[[str], bool]) -> list[Examined]:
    """Read and describe files, and encode those whose content, by its SHA-256, is not known."""
    results: list[Examined] = []
    fresh: list[tuple[PhotoFile, Details, NDArray[np.uint8]]] = []
    run = decoders.shared().run
    for task in tasks:
        try:
            file, content = read_file(task.path, task.label)
            if is_known(file.sha256):
                results.append(Known(file, describe(content, task.sidecars, run), task))
            else:
                pixels = decode(content, model, run)
                fresh.append((file, describe(content, task.sidecars, run), pixels))
        except UnreadableImage as problem:
            results.append(Failure(task.path, str(problem)))
    encodings = _encode(model, [pixels for _, _, pixels in fresh])
    for (file, details, pixels), (code, shape) in zip(fresh, encodings, strict=True):
        results.append(Encoded(file, details, code, thumbnail(pixels), shape, perceptual_hash(pixels)))
    return results


def examine_and_store(model: Model, tasks: Iterable[Task], gallery: OpenGallery) -> list[Examined]:
    """Examine files, and store them at once; files whose content was removed meanwhile are left to the caller."""
    results = examine(model, tasks, gallery.has_content)
    news = [result for result in results if isinstance(result, Known | Encoded)]
    if not news:
        return results

    def store() -> list[Change | None]:
        with gallery.writing(model) as writer:
            return writer.store(news)

    stored: list[Examined] = [
        result if change is None else Stored(change, isinstance(result, Encoded))
        for result, change in zip(news, retried(store), strict=True)
    ]
    return stored + [result for result in results if isinstance(result, Failure)]


@dataclass(frozen=True)
class Setup:
    """What workers elsewhere need to know of a gallery: how to open it, or else which contents it has."""

    opener: Opener | None
    known: KnownContents | None

    @classmethod
    def of(cls, gallery: OpenGallery) -> Self:
        """Describe ``gallery``; it is read through if it cannot be opened elsewhere."""
        return cls(gallery.opener, KnownContents.of(gallery) if gallery.opener is None else None)

    def examining(self, model: Model) -> Callable[[Sequence[Task]], list[Examined]]:
        """Return a function that examines files in the way that fits the gallery, which it opens."""
        if self.opener is not None:
            gallery = self.opener()
            return lambda tasks: examine_and_store(model, tasks, gallery)
        assert self.known is not None  # one of both is given
        is_known = self.known.__contains__
        return lambda tasks: examine(model, tasks, is_known)


def _encode(model: Model, photos: Sequence[NDArray[np.uint8]]) -> list[tuple[bytes, bytes | None]]:
    """Return the packed code of each photo, and its shape if the model knows contours."""
    contours = model.find_contours(photos)
    codes = pack(model.encode_photos(photos, contours))
    shapes = [None] * len(photos) if contours is None else map(describe_contours, contours)
    return [(code.tobytes(), shape) for code, shape in zip(codes, shapes, strict=True)]
