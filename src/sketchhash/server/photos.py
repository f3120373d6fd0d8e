"""The pictures of a gallery, by id, and the folders they are in, as clients see them.

A file is sent only while it holds, byte for byte, what was indexed: a path that now leads to something else, such as
a link to a private file, is not followed.

A gallery keeps absolute paths. Clients see folders below the deepest one that all photos share. A folder in a request
only narrows a search down: whatever it says, nothing but photos of the gallery can be found in it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from PIL import ExifTags, Image

from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery import OpenGallery, PhotoRecord
from sketchhash.gallery.photos import read_file
from sketchhash.imaging import read_photo, thumbnail
from sketchhash.imaging.decode import FORMATS
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
_LARGEST_CONVERTED = 4096  # pixels a side

_SIDEWAYS = (5, 6, 7, 8)  # the EXIF orientations that exchange width and height


@dataclass(frozen=True)
class Picture:
    """A file to show."""

    content: bytes
    media_type: str


class Photos:
    """Photos of a gallery by id: their records, thumbnails and files."""

    def __init__(self, gallery: OpenGallery) -> None:
        """Read from an open ``gallery``."""
        self._gallery = gallery

    def record(self, photo_id: int) -> PhotoRecord:
        """Return a photo's record."""
        with unknown_photo_is_not_found(photo_id):
            return self._gallery.photo(photo_id)

    def thumbnail(self, photo_id: int) -> bytes:
        """Return the small JPEG of a photo."""
        with unknown_photo_is_not_found(photo_id):
            return self._gallery.thumbnail(photo_id)

    def picture(self, record: PhotoRecord) -> Picture:
        """Return the photo's file as it is, or as a JPEG if browsers would not show it."""
        content = _read(record)
        for offset, signature, media_type in _SHOWN_BY_BROWSERS:
            if content[offset:].startswith(signature):
                return Picture(content, media_type)
        return Picture(thumbnail(read_photo(content), _LARGEST_CONVERTED), "image/jpeg")

    def details(self, photo_id: int) -> DetailsAnswer:
        """Return all that is known about a photo."""
        record = self.record(photo_id)
        width: int | None = None
        height: int | None = None
        taken: datetime | None = None
        with suppress(NoSuchPhoto):
            width, height, taken = _measure(_read(record))
        return DetailsAnswer(
            id=record.id,
            path=display_name(os.fsencode(record.path)),
            label=record.label,
            size=record.size,
            indexed_at=record.indexed_at,
            taken_at=taken,
            modified_at=datetime.fromtimestamp(record.mtime_ns / 1e9, UTC),
            width=width,
            height=height,
        )


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


def _read(record: PhotoRecord) -> bytes:
    try:
        file, content = read_file(record.path)
    except UnreadableImage as error:
        raise NoSuchPhoto(f"The file of photo {record.id} cannot be read: {error} Index its folder again.") from error
    if file.sha256 != record.sha256:
        raise NoSuchPhoto(f"The file of photo {record.id} has changed. Index its folder again.")
    return content


def _measure(content: bytes) -> tuple[int, int, datetime | None]:
    """Return width and height of the upright picture, and when it was taken, if its file says so."""
    with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
        width, height = picture.size
        exif = picture.getexif()
        if exif.get(ExifTags.Base.Orientation) in _SIDEWAYS:
            width, height = height, width
        return width, height, _time_taken(exif)


def _time_taken(exif: Image.Exif) -> datetime | None:
    try:
        written = exif.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.DateTimeOriginal)
        return datetime.strptime(str(written).strip("\0 "), "%Y:%m:%d %H:%M:%S")
    except Exception:  # on broken bytes Pillow raises nearly anything
        return None
