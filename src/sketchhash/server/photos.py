"""The pictures of a gallery, by id, and the folders they are in, as clients see them.

A file is sent only while it holds, byte for byte, what was indexed: a path that now leads to something else, such as
a link to a private file, is not followed.

A gallery keeps absolute paths. Clients see folders below the deepest one that all photos share. A folder in a request
only narrows a search down: whatever it says, nothing but photos of the gallery can be found in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery import OpenGallery, PhotoRecord
from sketchhash.gallery.packs import read_drawn
from sketchhash.gallery.photos import open_file, pack_of
from sketchhash.gallery.sidecars import NO_SIDECARS, describe
from sketchhash.imaging import Run, run
from sketchhash.imaging.details import Details
from sketchhash.imaging.photos import read_as_jpeg
from sketchhash.imaging.svg import cleaned, is_svg
from sketchhash.server.errors import NoSuchPhoto
from sketchhash.server.schemas import DetailsAnswer

# The formats that browsers show, by offset and signature.
_SHOWN_BY_BROWSERS = (
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
)
_SIGNATURE_BYTES = 16
_CHUNK_BYTES = 1 << 20
_LARGEST_CONVERTED = 4096  # pixels a side


@dataclass(frozen=True)
class PictureFile:
    """A photo's file, open, and its type; None if browsers would not show it."""

    file: BinaryIO
    size: int
    media_type: str | None


class Photos:
    """Photos of a gallery by id: their records, thumbnails and files."""

    def __init__(self, gallery: OpenGallery, run: Run = run) -> None:
        """Read from an open ``gallery``, and decode files where ``run`` does it."""
        self._gallery = gallery
        self._run = run

    def record(self, photo_id: int) -> PhotoRecord:
        """Return a photo's record."""
        with unknown_photo_is_not_found(photo_id):
            return self._gallery.photo(photo_id)

    def thumbnail(self, photo_id: int) -> bytes:
        """Return the small JPEG of a photo."""
        with unknown_photo_is_not_found(photo_id):
            return self._gallery.thumbnail(photo_id)

    def open(self, record: PhotoRecord) -> PictureFile:
        """Open the photo's file, which the caller closes."""
        file = self._open(record)
        head = file.read(_SIGNATURE_BYTES)
        file.seek(0)
        shown = (kind for offset, signature, kind in _SHOWN_BY_BROWSERS if head[offset:].startswith(signature))
        return PictureFile(file, record.size, next(shown, None))

    def svg(self, record: PhotoRecord) -> str:
        """Return the SVG of a drawing, without scripts and references to other files.

        Raises:
            NoSuchPhoto: If it is none, or its file is not what was indexed.
        """
        content = self._read(record)
        if not is_svg(content):
            raise NoSuchPhoto(f"Photo {record.id} is no SVG.")
        try:
            return cleaned(content)
        except UnreadableImage as error:
            raise NoSuchPhoto(f"The SVG of drawing {record.id} cannot be read: {error}") from error

    def converted(self, record: PhotoRecord) -> bytes:
        """Return the photo as a JPEG that browsers show."""
        try:
            return self._run(read_as_jpeg, self._read(record), _LARGEST_CONVERTED).tobytes()
        except UnreadableImage as error:
            reason = str(error).removeprefix("Cannot read these bytes: ")
            raise NoSuchPhoto(f"Photo {record.id} cannot be shown: {reason}") from error

    def details(self, photo_id: int) -> DetailsAnswer:
        """Return all that is known about a photo."""
        record = self.record(photo_id)
        known = self._gallery.details([photo_id]).get(photo_id) or self._described(record)
        return DetailsAnswer(
            id=record.id,
            path=display_name(os.fsencode(record.path)),
            label=record.label,
            size=record.size,
            indexed_at=record.indexed_at,
            taken_at=known.taken_at,
            modified_at=datetime.fromtimestamp(record.mtime_ns / 1e9, UTC),
            width=known.width,
            height=known.height,
            camera=known.camera,
            latitude=known.latitude,
            longitude=known.longitude,
            description=known.description,
        )

    def _described(self, record: PhotoRecord) -> Details:
        """Read what the file tells of a photo that was indexed before details were kept."""
        try:
            return describe(self._read(record), NO_SIDECARS, self._run)
        except NoSuchPhoto:
            return Details()

    def _read(self, record: PhotoRecord) -> bytes:
        with self._open(record) as file:
            return file.read()

    def _open(self, record: PhotoRecord) -> BinaryIO:
        """Open a photo's file, or the drawing of a pack as if it had one."""
        if pack_of(record.path) is None:
            return _open(record)
        try:
            file, content = read_drawn(record.path, self._run)
        except UnreadableImage as error:
            raise NoSuchPhoto(f"Drawing {record.id} cannot be read: {error} Index its pack again.") from error
        if file.sha256 != record.sha256:
            raise NoSuchPhoto(f"Drawing {record.id} has changed. Index its pack again.")
        return BytesIO(content)


@contextmanager
def unknown_photo_is_not_found(photo_id: int) -> Iterator[None]:
    """Raise `NoSuchPhoto` where a gallery raises `BadArgument` for an id that it does not have."""
    try:
        yield
    except BadArgument as error:
        raise NoSuchPhoto(f"There is no photo {photo_id} in this gallery. Search again.") from error


def common_root(gallery: OpenGallery) -> bytes:
    """Return the deepest folder that holds all photos, as it is stored, with a slash at its end."""
    ends = gallery.path_ends()
    if ends is None:
        return b""
    # In byte order, every path lies between the first and the last, so it begins with whatever those two share.
    shared = bytes(os.path.commonprefix(ends) or b"")  # noqa: RUF071 - the next line cuts at a separator
    return shared[: shared.rfind(os.fsencode(os.sep)) + 1]


def folder_below(root: bytes, path: Path) -> str:
    """Return the folder of a photo as clients see it; "" is the root itself.

    >>> folder_below(b"/photos/", Path("/photos/2024/summer/cat.jpg"))
    '2024/summer'
    """
    return display_name(os.path.join(os.fsencode(path.parent), b"").removeprefix(root)[:-1])  # noqa: PTH118 - bytes


def folder_path(root: bytes, folder: str) -> Path:
    """Return the path of a folder that a client has named."""
    return Path(os.fsdecode(root)) / folder.lstrip("/\\")


def display_name(name: bytes) -> str:
    r"""Decode a file name; bytes that are not UTF-8 become ``\xff``, and separators become slashes."""
    return name.decode("utf-8", "backslashreplace").replace(os.sep, "/")


def _open(record: PhotoRecord) -> BinaryIO:
    """Open the file of a photo, if it holds what was indexed; it is read once for that, and never held in memory."""
    try:
        file = open_file(record.path)
    except UnreadableImage as error:
        raise NoSuchPhoto(f"The file of photo {record.id} cannot be read: {error} Index its folder again.") from error
    try:
        is_same = os.fstat(file.fileno()).st_size == record.size and _sha256(file) == record.sha256
    except OSError as error:
        file.close()
        raise NoSuchPhoto(
            f"The file of photo {record.id} cannot be read: {error.strerror}. Index its folder again."
        ) from error
    if is_same:
        file.seek(0)
        return file
    file.close()
    raise NoSuchPhoto(f"The file of photo {record.id} has changed. Index its folder again.")


def _sha256(file: BinaryIO) -> str:
    digest = sha256()
    for chunk in iter(partial(file.read, _CHUNK_BYTES), b""):
        digest.update(chunk)
    return digest.hexdigest()
