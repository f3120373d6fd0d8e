"""Changes of a gallery on Milvus, call by call: it has no transactions and no sequences.

So an id is made from a photo's path and content: whoever stores the same file, once more after a crash or at the same
time as another, stores the same row.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from sketchhash.engines.milvus_rows import any_of, stored_path
from sketchhash.gallery.photos import PhotoFile
from sketchhash.gallery.protocol import GalleryModel, PhotoRow
from sketchhash.gallery.writer import Writer
from sketchhash.model import Model

if TYPE_CHECKING:
    from sketchhash.engines.milvus_gallery import MilvusGallery

_ID_BITS = 53  # what numbers in a browser hold exactly


class MilvusWriter(Writer):
    """Changes a gallery, call by call; get one from `MilvusGallery.writing`."""

    def __init__(self, gallery: MilvusGallery) -> None:
        """Write to a gallery that was opened to be written."""
        self._gallery = gallery
        self._taken: set[int] = set()

    def find(self, files: Sequence[PhotoFile]) -> list[PhotoRow]:
        """Return the rows at the path of any of the files, or with the content of any."""
        conditions = [
            any_of("path", (stored_path(file.path) for file in files)),
            any_of("sha256", (file.sha256 for file in files)),
            f"id in {[made_id(file) for file in files]}",
        ]
        found = list(self._gallery.selected(" or ".join(conditions)))
        self._taken.update(row.photo.id for row in found)
        wanted = {file.path for file in files}, {file.sha256 for file in files}
        return [row for row in found if row.photo.path in wanted[0] or row.photo.sha256 in wanted[1]]

    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Return the rows of some ids, by id."""
        return self._gallery.rows(ids)

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos."""
        return self._gallery.thumbnails(ids)

    def new_id(self, file: PhotoFile) -> int:
        """Return an id that is made from the file; another if a photo that moved away, or any other, has that."""
        attempt = 0
        while (photo := made_id(file, attempt)) in self._taken or (attempt and self._gallery.rows([photo])):
            attempt += 1
        self._taken.add(photo)
        return photo

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write rows; those with the same ids are replaced, and keep their thumbnails if none is given."""
        self._gallery.put(rows, thumbnails)

    def remove(self, photos: Iterable[int]) -> int:
        """Remove photos by id, and count those that were there."""
        ids = list(photos)
        there = len(self._gallery.rows(ids)) if ids else 0
        self._gallery.drop(ids)
        return there

    def start_over(self, model: Model) -> None:
        """Remove every photo, and expect codes of ``model`` from now on; see `MilvusGallery.start_over`."""
        self._gallery.start_over(GalleryModel.of(model))


def made_id(file: PhotoFile, attempt: int = 0) -> int:
    """Return an id that follows from a file's path and content, 1 or more."""
    text = b"%d\0%s\0%s" % (attempt, file.sha256.encode(), os.fsencode(file.path))
    digest = blake2b(text, digest_size=8).digest()
    return int.from_bytes(digest, "big") % ((1 << _ID_BITS) - 1) + 1
