"""Look after a gallery: check it against its files, find photos that it has more than once, fill in shapes."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import sign, unpack
from sketchhash.errors import BadArgument, DamagedState, UnreadableImage
from sketchhash.gallery.database import GalleryFile
from sketchhash.gallery.photos import PhotoRecord, decode, is_gone, read_file
from sketchhash.imaging import read_photo
from sketchhash.index import build_index
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


def verify(gallery: GalleryFile, model: Model | None = None, every: int = 1) -> Iterator[Checked]:
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


def exact_duplicates(gallery: GalleryFile) -> list[list[PhotoRecord]]:
    """Return the groups of photos whose files are equal byte for byte, each by id."""
    groups: dict[str, list[PhotoRecord]] = defaultdict(list)
    for photo in gallery.with_equal_files():
        groups[photo.sha256].append(photo)
    return list(groups.values())


def near_duplicates(gallery: GalleryFile, radius: int) -> list[list[PhotoRecord]]:
    """Return the groups of photos whose codes differ in at most ``radius`` bits, each by id.

    Groups are chained: if a is like b and b like c, all three are one group. Codes are made to agree for
    photos of one kind of thing, so a wide radius gathers kinds, not copies.
    """
    if radius < 0:
        raise BadArgument(f"The radius is a number of bits, 0 or more; got {radius}.")
    with gallery.snapshot():
        ids, codes = gallery.read_codes()
        # Photos of one kind often share one code, and a million photos have far fewer codes to compare.
        distinct, code_of = np.unique(codes, axis=0, return_inverse=True)
        groups = _groups_within(distinct, radius)
        members: dict[int, list[int]] = defaultdict(list)
        for photo, row in zip(ids.tolist(), code_of.tolist(), strict=True):
            members[groups.first(row)].append(photo)
        return [[gallery.photo(photo) for photo in group] for group in members.values() if len(group) > 1]


def fill_shapes(gallery: GalleryFile, model: Model) -> Iterator[int]:
    """Describe the photos that have no shape, and yield after each batch how many were.

    Their contours are found in the thumbnails: no file is read, and no photo is encoded. A photo whose thumbnail is
    broken stays without; a model that knows no contours describes none.
    """
    gallery.require(model)
    last = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        while ids := gallery.without_shape(last, _BLOCK):
            described = threads.map(partial(_describe, model), gallery.thumbnails(ids).items())
            shapes = {photo: shape for photo, shape in described if shape is not None}
            with gallery.writing(model) as writer:
                writer.put_shapes(shapes)
            yield len(shapes)
            last = ids[-1]


def _describe(model: Model, thumbnail: tuple[int, bytes]) -> tuple[int, bytes | None]:
    photo, jpeg = thumbnail
    try:
        contours = model.find_contours([read_photo(jpeg)])
    except UnreadableImage:
        contours = None
    return photo, describe_contours(contours[0]) if contours else None


def _require_undamaged(gallery: GalleryFile) -> None:
    if remarks := gallery.damage():
        raise DamagedState(
            f"{gallery.path} is damaged: {'; '.join(remarks)}. Restore it from a backup, "
            f"or delete it and index the photos again with: sketchhash index FOLDER --gallery {gallery.path}"
        )


def _problems(gallery: GalleryFile, photo: PhotoRecord, model: Model | None) -> Iterator[PhotoProblem]:
    has_code = _has_code(gallery, photo)
    if not has_code:
        yield PhotoProblem.NO_CODE
    if not _has_thumbnail(gallery, photo):
        yield PhotoProblem.NO_THUMBNAIL
    if is_gone(photo.path):
        yield PhotoProblem.FILE_GONE
        return
    try:
        file, content = read_file(photo.path)
    except UnreadableImage:
        yield PhotoProblem.FILE_UNREADABLE
        return
    if file.sha256 != photo.sha256:
        yield PhotoProblem.FILE_CHANGED
    elif has_code and model is not None and not _gives_code(model, content, gallery.code(photo.id)):
        yield PhotoProblem.OTHER_CODE


def _has_code(gallery: GalleryFile, photo: PhotoRecord) -> bool:
    try:
        return len(gallery.code(photo.id)) == gallery.model.bits // 8
    except BadArgument:
        return False


def _has_thumbnail(gallery: GalleryFile, photo: PhotoRecord) -> bool:
    try:
        read_photo(gallery.thumbnail(photo.id))
    except (BadArgument, UnreadableImage):
        return False
    return True


def _gives_code(model: Model, content: bytes, code: bytes) -> bool:
    values = model.encode_photos([decode(content, model)])
    stored = unpack(np.frombuffer(code, dtype=np.uint8)[np.newaxis])
    return not bool(np.any((sign(values) != stored) & (np.abs(values) > _MARGIN)))


class _Groups:
    """Sets of rows that belong together, as a union-find forest."""

    def __init__(self, rows: int) -> None:
        self._towards = list(range(rows))

    def join(self, one: int, other: int) -> None:
        """Make one group of the groups of two rows."""
        small, large = sorted((self.first(one), self.first(other)))
        self._towards[large] = small

    def first(self, row: int) -> int:
        """Return the first row of a row's group."""
        while self._towards[row] != row:
            self._towards[row] = self._towards[self._towards[row]]  # halves the way for next time
            row = self._towards[row]
        return row


def _groups_within(codes: NDArray[np.uint8], radius: int) -> _Groups:
    rows = np.arange(len(codes))
    index, groups = build_index(rows, codes), _Groups(len(codes))
    for start in range(0, len(codes), _BLOCK):
        block = slice(start, start + _BLOCK)
        for row, hits in zip(rows[block].tolist(), index.within(codes[block], radius), strict=True):
            for other in hits.ids.tolist():
                groups.join(row, other)
    return groups
