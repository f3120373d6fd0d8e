"""A gallery as rows that can be carried elsewhere: ids, files, labels, codes and thumbnails stay what they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.schema import CodeMaker


@dataclass(frozen=True, slots=True)
class PhotoRow:
    """A photo and its packed code."""

    photo: PhotoRecord
    code: bytes

    def digest(self) -> int:
        """Give a number that rows share only if all of them is equal, but for one chance in 2**64."""
        photo = self.photo
        when = photo.indexed_at.isoformat()
        fields = (os.fsencode(photo.path), photo.sha256, photo.size, photo.mtime_ns, photo.label, when, self.code)
        return int.from_bytes(blake2b(repr(fields).encode("utf-8", "backslashreplace"), digest_size=8).digest(), "big")


class RowSource(Protocol):
    """A gallery whose rows can be read."""

    place: str
    maker: CodeMaker

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Give all rows, by id, in pages."""
        ...

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Give the small JPEGs of some photos; a photo that is gone has none."""
        ...


class RowTarget(RowSource, Protocol):
    """A gallery whose rows can be written too."""

    def put(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all that belongs to each; what was there under their ids is replaced."""
        ...

    def remove(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        ...

    def settle(self) -> None:
        """Be told that all is written, for now."""
        ...
