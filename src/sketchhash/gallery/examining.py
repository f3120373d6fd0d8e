"""Examine files: read, hash, describe and decode them, and encode those whose content a gallery does not have.

Where many may write to a gallery at once, as on an engine, each worker stores its own batches, and only what became of
the files comes back. Otherwise codes and thumbnails do, and the process that started the run writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import UnreadableImage
from sketchhash.gallery.packs import words_of
from sketchhash.gallery.photos import Failure, PhotoFile, PhotoKind, decode, read_file
from sketchhash.gallery.protocol import Opener, OpenGallery
from sketchhash.gallery.sidecars import Describing, describe
from sketchhash.gallery.writer import Change, Encoded, Known, Task, retried
from sketchhash.imaging import Run, decoders, perceptual_hash, thumbnail
from sketchhash.imaging.details import Details
from sketchhash.imaging.drawings import DrawingPicture, drawing_reader, may_be_drawing, read_either
from sketchhash.imaging.svg import is_svg
from sketchhash.model import Model
from sketchhash.model.model import photo_reader
from sketchhash.tokens.shape import describe_contours, describe_ink

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
    photos: list[tuple[PhotoFile, Details, NDArray[np.uint8]]] = []
    drawings: list[tuple[PhotoFile, Details, DrawingPicture]] = []
    run = decoders.shared().run
    for task in tasks:
        try:
            file, content = read_file(task.path, task.label) if task.packed is None else task.packed.file(task.label)
            # Whatever kind a picture is taken for, an SVG is a drawing, so one that is known is known as such.
            if (task.kind is None or is_svg(content)) and is_known(file.sha256):
                results.append(Known(_labelled(file, content), _described(task, content, run), task))
                continue
            picture, details = _read_and_described(task, content, model, run)
            if isinstance(picture, DrawingPicture):
                file = replace(file, kind="drawing", label=file.label or words_of(file.path))
                drawings.append((file, details, picture))
            else:
                photos.append((file, details, picture))
        except UnreadableImage as problem:
            results.append(Failure(task.path, str(problem)))
    results += _encoded_photos(model, photos)
    results += _encoded_drawings(model, drawings)
    return results


def read_either_kind(
    content: bytes, model: Model, kind: PhotoKind | None, run: Run
) -> NDArray[np.uint8] | DrawingPicture:
    """Decode a file as a photo or a drawing, as ``kind`` says or, if it is None, as its content looks.

    Raises:
        UnreadableImage: If it cannot be decoded. The text does not name the file: callers know it.
    """
    ink = model.manifest.ink
    as_drawing = drawing_reader(ink.size, ink.style)
    if kind is None and not is_svg(content) and not may_be_drawing(content):
        kind = "photo"
    if kind == "photo":
        return decode(content, model, run)
    try:
        if kind == "drawing" or is_svg(content):
            return DrawingPicture.of(run(as_drawing, content))
        pixels = run(read_either, content, as_drawing, photo_reader(model.manifest))
    except UnreadableImage as problem:
        raise UnreadableImage(str(problem).partition("these bytes: ")[2] or str(problem)) from problem.__cause__
    return DrawingPicture.of(pixels) if pixels.ndim == 1 else pixels


def _labelled(file: PhotoFile, content: bytes) -> PhotoFile:
    return replace(file, label=file.label or words_of(file.path), kind="drawing") if is_svg(content) else file


def _read_and_described(
    task: Task, content: bytes, model: Model, run: Run
) -> tuple[NDArray[np.uint8] | DrawingPicture, Details]:
    if task.packed is not None or is_svg(content):
        return read_either_kind(content, model, task.kind, run), _described(task, content, run)
    describing = Describing(task.sidecars, run)
    return read_either_kind(content, model, task.kind, describing), describing.details


def _described(task: Task, content: bytes, run: Run) -> Details:
    if task.packed is not None:
        return Details(description=task.packed.drawing.words or None)
    if is_svg(content):
        return Details(description=task.sidecars.tagged.tags or None, sidecars=task.sidecars.stamp)
    return describe(content, task.sidecars, run)


def _encoded_photos(model: Model, photos: Sequence[tuple[PhotoFile, Details, NDArray[np.uint8]]]) -> Iterator[Encoded]:
    encodings = _encode(model, [pixels for _, _, pixels in photos])
    for (file, details, pixels), (code, shape) in zip(photos, encodings, strict=True):
        yield Encoded(file, details, code, thumbnail(pixels), shape, perceptual_hash(pixels))


def _encoded_drawings(model: Model, drawings: Sequence[tuple[PhotoFile, Details, DrawingPicture]]) -> Iterator[Encoded]:
    if not drawings:
        return
    codes = pack(model.encode_sketches(np.stack([picture.ink for _, _, picture in drawings])))
    for (file, details, picture), code in zip(drawings, codes, strict=True):
        # No perceptual hash: two icons that differ in a small sign are no copies of one another.
        yield Encoded(file, details, code.tobytes(), thumbnail(picture.looks), describe_ink(picture.ink), b"")


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
