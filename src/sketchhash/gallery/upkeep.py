"""Look after a gallery: check it against its files, and fill in what older versions did not keep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np

from sketchhash.codes import sign, unpack
from sketchhash.errors import BadArgument, DamagedState, UnreadableImage
from sketchhash.gallery.examining import read_either_kind
from sketchhash.gallery.packs import read_drawn
from sketchhash.gallery.photos import PhotoRecord, is_gone
from sketchhash.gallery.protocol import OpenGallery
from sketchhash.imaging import perceptual_hash, read_photo, run
from sketchhash.imaging.drawings import DrawingPicture
from sketchhash.model import Model
from sketchhash.tokens.shape import describe_contours

# Another processor may round differently: values this close to zero may fall on either side.
_MARGIN = 1e-3

_BLOCK = 256


class PhotoProblem(Enum):
    """What may be wrong with a photo in a gallery."""

    NO_CODE = "its code is missing or has the wrong length"
    NO_THUMBNAIL = "its thumbnail is missing or broken"
    FILE_GONE = "its file is gone"
    FILE_UNREADABLE = "its file cannot be read"
    FILE_CHANGED = "its file has changed since it was indexed"
    OTHER_CODE = "the model gives it another code"


@dataclass(frozen=True)
class Checked:
    """A photo, and what is wrong with it; most often nothing."""

    photo: PhotoRecord
    problems: tuple[PhotoProblem, ...]


def verify(gallery: OpenGallery, model: Model | None = None, every: int = 1) -> Iterator[Checked]:
    """Check the gallery's file as a whole, and then each photo.

    Args:
        gallery: Is only read.
        model: Encodes photos again, to compare their codes; without one, only their lengths are checked.
        every: Encode one photo in this many.

    Raises:
        DamagedState: If the gallery's own file is damaged.
    """
    if every < 1:
        raise BadArgument(f"One photo in every 1 or more is encoded; got every {every}.")
    gallery.require(model)
    _require_undamaged(gallery)
    for number, photo in enumerate(gallery.photos()):
        yield Checked(photo, tuple(_problems(gallery, photo, model if number % every == 0 else None)))


def fill_shapes(gallery: OpenGallery, model: Model) -> Iterator[int]:
    """Describe the photos that have no shape, and yield after each page how many were.

    Their contours are found in the thumbnails: no file is read, and no photo is encoded. A photo whose thumbnail is
    broken stays without; a model that knows no contours describes none.
    """
    gallery.require(model)
    if not gallery.keeps_shapes:
        return
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        for page in gallery.pages():
            missing = [row.photo.id for row in page if row.shape is None]
            for ids in (missing[start : start + _BLOCK] for start in range(0, len(missing), _BLOCK)):
                described = threads.map(partial(_describe, model), gallery.thumbnails(ids).items())
                shapes = {photo: shape for photo, shape in described if shape is not None}
                with gallery.writing(model) as writer:
                    writer.put_shapes(shapes)
                yield len(shapes)


def fill_hashes(gallery: OpenGallery) -> Iterator[dict[int, bytes]]:
    """Yield the perceptual hashes of photos that have none, by id, for the caller to store before it goes on.

    They are made from the thumbnails: no file is read, and no photo is encoded. A photo whose thumbnail is broken or
    missing gets an empty one.
    """
    if not gallery.keeps_hashes:
        return
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        while ids := gallery.without_hash(_BLOCK):
            small = gallery.thumbnails(ids)
            yield dict(zip(ids, threads.map(_hash, (small.get(each, b"") for each in ids)), strict=True))


def _hash(thumbnail: bytes) -> bytes:
    try:
        return perceptual_hash(read_photo(thumbnail))
    except UnreadableImage:
        return b""


def _describe(model: Model, thumbnail: tuple[int, bytes]) -> tuple[int, bytes | None]:
    photo, jpeg = thumbnail
    try:
        contours = model.find_contours([read_photo(jpeg)])
    except UnreadableImage:
        contours = None
    return photo, describe_contours(contours[0]) if contours else None


def _require_undamaged(gallery: OpenGallery) -> None:
    if remarks := gallery.damage():
        raise DamagedState(
            f"{gallery.place} is damaged: {'; '.join(remarks)}. Restore it from a backup, "
            f"or delete it and index the photos again with: sketchhash index FOLDER --gallery {gallery.place}"
        )


def _problems(gallery: OpenGallery, photo: PhotoRecord, model: Model | None) -> Iterator[PhotoProblem]:
    has_code = _has_code(gallery, photo)
    if not has_code:
        yield PhotoProblem.NO_CODE
    if not _has_thumbnail(gallery, photo):
        yield PhotoProblem.NO_THUMBNAIL
    if is_gone(photo.path):
        yield PhotoProblem.FILE_GONE
        return
    try:
        file, content = read_drawn(photo.path, run)
    except UnreadableImage:
        yield PhotoProblem.FILE_UNREADABLE
        return
    if file.sha256 != photo.sha256:
        yield PhotoProblem.FILE_CHANGED
    elif has_code and model is not None and not _gives_code(model, content, photo, gallery.code(photo.id)):
        yield PhotoProblem.OTHER_CODE


def _has_code(gallery: OpenGallery, photo: PhotoRecord) -> bool:
    try:
        return len(gallery.code(photo.id)) == gallery.model.bits // 8
    except BadArgument:
        return False


def _has_thumbnail(gallery: OpenGallery, photo: PhotoRecord) -> bool:
    try:
        read_photo(gallery.thumbnail(photo.id))
    except (BadArgument, UnreadableImage):
        return False
    return True


def _gives_code(model: Model, content: bytes, photo: PhotoRecord, code: bytes) -> bool:
    picture = read_either_kind(content, model, photo.kind, run)
    if isinstance(picture, DrawingPicture):
        values = model.encode_sketches(picture.ink[np.newaxis])
    else:
        values = model.encode_photos([picture])
    stored = unpack(np.frombuffer(code, dtype=np.uint8)[np.newaxis])
    return not bool(np.any((sign(values) != stored) & (np.abs(values) > _MARGIN)))
