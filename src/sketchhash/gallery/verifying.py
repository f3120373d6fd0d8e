"""Check that a gallery is sound, and that it still tells the truth about its files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from sketchhash.codes import sign, unpack
from sketchhash.errors import BadArgument, DamagedState, UnreadableImage
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.reading import decode, read_file
from sketchhash.gallery.scanning import is_gone
from sketchhash.gallery.store import Gallery
from sketchhash.imaging import read_photo
from sketchhash.model import Model

# Another processor may round differently: values this close to zero may fall on either side.
_MARGIN = 1e-3


class Problem(Enum):
    """What may be wrong with a photo in a gallery."""

    NO_CODE = "its code is missing or has the wrong length"
    NO_THUMBNAIL = "its thumbnail is missing or broken"
    FILE_GONE = "its file is gone"
    FILE_UNREADABLE = "its file cannot be read"
    FILE_CHANGED = "its file has changed since it was indexed"
    OTHER_CODE = "the model gives it another code"


@dataclass(frozen=True)
class Verdict:
    """A photo, and what is wrong with it; most often nothing."""

    photo: PhotoRecord
    problems: tuple[Problem, ...]


def verify(gallery: Gallery, model: Model | None = None, every: int = 1) -> Iterator[Verdict]:
    """Check the gallery's file as a whole, and then each photo.

    Args:
        gallery: Is only read.
        model: Encodes photos again, to compare their codes; without one, codes are only measured.
        every: Encode one photo in so many.

    Raises:
        DamagedState: If the gallery's own file is not sound.
    """
    if every < 1:
        raise BadArgument(f"One photo in every 1 or more is encoded; got every {every}.")
    gallery.require(model)
    _require_sound(gallery)
    for number, photo in enumerate(gallery.photos()):
        yield Verdict(photo, tuple(_problems(gallery, photo, model if number % every == 0 else None)))


def _require_sound(gallery: Gallery) -> None:
    remarks = [remark.replace("\n", " ") for (remark,) in gallery.rows("PRAGMA integrity_check(3)")]
    if remarks != ["ok"]:
        raise DamagedState(
            f"{gallery.path} is damaged: {'; '.join(remarks)}. Restore it from a backup, "
            "or delete it and index the photos again with: sketchhash index"
        )


def _problems(gallery: Gallery, photo: PhotoRecord, model: Model | None) -> Iterator[Problem]:
    has_code = _has_code(gallery, photo)
    if not has_code:
        yield Problem.NO_CODE
    if not _has_thumbnail(gallery, photo):
        yield Problem.NO_THUMBNAIL
    if is_gone(photo.path):
        yield Problem.FILE_GONE
        return
    try:
        file, content = read_file(photo.path)
    except UnreadableImage:
        yield Problem.FILE_UNREADABLE
        return
    if file.sha256 != photo.sha256:
        yield Problem.FILE_CHANGED
    elif has_code and model is not None and not _gives_code(model, content, gallery.code(photo.id)):
        yield Problem.OTHER_CODE


def _has_code(gallery: Gallery, photo: PhotoRecord) -> bool:
    try:
        return len(gallery.code(photo.id)) == gallery.maker.bits // 8
    except BadArgument:
        return False


def _has_thumbnail(gallery: Gallery, photo: PhotoRecord) -> bool:
    try:
        read_photo(gallery.thumbnail(photo.id))
    except (BadArgument, UnreadableImage):
        return False
    return True


def _gives_code(model: Model, content: bytes, code: bytes) -> bool:
    values = model.encode_photos([decode(content)])
    stored = unpack(np.frombuffer(code, dtype=np.uint8)[np.newaxis])
    return not bool(np.any((sign(values) != stored) & (np.abs(values) > _MARGIN)))
