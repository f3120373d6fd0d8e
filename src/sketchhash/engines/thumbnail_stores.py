"""Where the thumbnails of a gallery on Milvus are kept: in a collection of its own, or as files beside it.

Milvus holds what it stores in memory. Thumbnails are most of a gallery and are looked at one by one: as files, in a
folder or in object storage, they cost no memory, and the engine holds codes and metadata alone. A place is a URL as
`fsspec` has it: ``file:///srv/thumbnails``, ``s3://bucket/thumbnails``. A file is written before its photo is, under
the photo's id, and never changed: an id stands for one content.

Files need ``pip install 'sketchhash[storage]'``, and what `fsspec` needs for the kind of URL, such as ``s3fs``.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from sketchhash.engines.milvus import LONGEST, Collection, CollectionLayout, Row
from sketchhash.errors import BadArgument, EngineProblem, require

_PIECE = LONGEST - LONGEST % 4  # whole groups of base64
_PIECES = {"jpeg": LONGEST, "jpeg_end": LONGEST}
_NO_CODE = bytes(1)  # Milvus has no collection without vectors

THUMBNAIL_LAYOUT = CollectionLayout(8, _PIECES)

_AT_ONCE = 16  # files that are read or written at the same time: each may be far away
_FOLDERS = 1000  # so that no folder holds too many files


class ThumbnailStore(Protocol):
    """Small JPEGs by the ids of their photos."""

    def get(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the thumbnails of some photos; a photo that has none is left out."""
        ...

    def put(self, thumbnails: Mapping[int, bytes]) -> None:
        """Write thumbnails."""
        ...

    def remove(self, ids: Sequence[int]) -> None:
        """Remove thumbnails; ids that are not there do not matter."""
        ...


class CollectionThumbnails:
    """Thumbnails in a collection, as text."""

    def __init__(self, rows: Collection) -> None:
        """Take a collection of the `THUMBNAIL_LAYOUT`."""
        self._rows = rows

    def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the thumbnails of some photos."""
        found = self._rows.rows(ids, list(_PIECES))
        return {photo: bytes_of(row["jpeg"], row["jpeg_end"]) for photo, row in found.items()}

    def put(self, thumbnails: Mapping[int, bytes]) -> None:
        """Write thumbnails."""
        self._rows.put([_row(photo, jpeg) for photo, jpeg in thumbnails.items()])

    def remove(self, ids: Sequence[int]) -> None:
        """Remove thumbnails."""
        self._rows.remove(ids)


class FileThumbnails:
    """Thumbnails as files below a URL."""

    def __init__(self, url: str) -> None:
        """Take a folder of any file system that `fsspec` knows; it, or its bucket, is made when something is written.

        Raises:
            BadArgument: If there is no such kind of URL.
            MissingExtra: If a package is missing.
        """
        fsspec = require("fsspec", "storage")
        self._url = url
        try:
            self._files: Any = fsspec.url_to_fs(url)[0]
            self._root = str(fsspec.url_to_fs(url)[1]).rstrip("/")
        except (ValueError, ImportError) as problem:
            raise BadArgument(
                f"Thumbnails cannot be kept at {url}: {problem}. Name a folder such as file:///srv/thumbnails."
            ) from problem

    def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the thumbnails of some photos."""
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            found = list(zip(ids, threads.map(self._read, ids), strict=True))
        return {photo: jpeg for photo, jpeg in found if jpeg is not None}

    def put(self, thumbnails: Mapping[int, bytes]) -> None:
        """Write thumbnails."""
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(self._write, thumbnails.items()))

    def remove(self, ids: Sequence[int]) -> None:
        """Remove thumbnails."""
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(self._delete, ids))

    def _read(self, photo: int) -> bytes | None:
        try:
            return bytes(self._files.cat_file(self._path(photo)))
        except FileNotFoundError:
            return None
        except Exception as problem:  # each kind of storage has errors of its own
            raise self._problem(problem) from problem

    def _write(self, thumbnail: tuple[int, bytes]) -> None:
        path, jpeg = self._path(thumbnail[0]), thumbnail[1]
        try:
            try:
                self._files.pipe_file(path, jpeg)
            except FileNotFoundError:  # to look for the folder first would be another request for each file
                self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
                self._files.pipe_file(path, jpeg)
        except Exception as problem:
            raise self._problem(problem) from problem

    def _delete(self, photo: int) -> None:
        try:
            self._files.rm_file(self._path(photo))
        except FileNotFoundError:
            pass
        except Exception as problem:
            raise self._problem(problem) from problem

    def _path(self, photo: int) -> str:
        return f"{self._root}/{photo % _FOLDERS:03}/{photo}.jpg"

    def _problem(self, problem: Exception) -> EngineProblem:
        return EngineProblem("The storage of thumbnails", self._url, str(problem) or type(problem).__name__)


def stored_bytes(content: bytes) -> tuple[str, str]:
    """Write bytes as two texts, the second usually empty: one field has no room for the largest thumbnails."""
    text = b64encode(content).decode("ascii")
    return text[:_PIECE], text[_PIECE:]


def bytes_of(first: str, second: str) -> bytes:
    r"""Return the bytes that were stored as two texts.

    >>> bytes_of(*stored_bytes(b"\x00\xff"))
    b'\x00\xff'
    """
    return b64decode(first + second)


def _row(photo_id: int, jpeg: bytes) -> Row:
    first, second = stored_bytes(jpeg)
    return {"id": photo_id, "code": _NO_CODE, "jpeg": first, "jpeg_end": second}
