"""The pictures of a gallery, by id.

A file is given out only while it holds, byte for byte, what was indexed: a path that leads to something else by
now, such as a link to a private file, gives nothing.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import ExifTags, Image

from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery import PhotoRecord, ServedGallery
from sketchhash.gallery.reading import read_file
from sketchhash.imaging import read_photo, thumbnail
from sketchhash.imaging.decode import FORMATS
from sketchhash.server.errors import NoSuchPhoto
from sketchhash.server.schemas import DetailsAnswer

# What browsers show, by the bytes that such files begin with: at which place, and which.
_SHOWN_AS_THEY_ARE = (
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
)
_LARGEST_CONVERTED = 4096

_LYING = (5, 6, 7, 8)  # the EXIF orientations that exchange width and height


@dataclass(frozen=True)
class Picture:
    """A file to show."""

    content: bytes
    media_type: str


class Photos:
    """Looks photos up, and reads their files."""

    def __init__(self, gallery: ServedGallery) -> None:
        """Take an open gallery."""
        self._gallery = gallery

    def record(self, photo_id: int) -> PhotoRecord:
        """Give what the gallery knows about a photo."""
        with known(photo_id):
            return self._gallery.photo(photo_id)

    def thumbnail(self, photo_id: int) -> bytes:
        """Give the small JPEG of a photo."""
        with known(photo_id):
            return self._gallery.thumbnail(photo_id)

    def picture(self, record: PhotoRecord) -> Picture:
        """Give the photo's file as it is, or as a JPEG if browsers would not show it."""
        content = _read(record)
        for start, mark, media_type in _SHOWN_AS_THEY_ARE:
            if content[start:].startswith(mark):
                return Picture(content, media_type)
        return Picture(thumbnail(read_photo(content), _LARGEST_CONVERTED), "image/jpeg")

    def details(self, photo_id: int) -> DetailsAnswer:
        """Give all there is to tell about a photo."""
        record = self.record(photo_id)
        sides: tuple[int, int] | tuple[None, None]
        try:
            sides = _measure(_read(record))
        except NoSuchPhoto:
            sides = None, None
        return DetailsAnswer(
            id=record.id,
            path=text_of(os.fsencode(record.path)),
            label=record.label,
            size=record.size,
            indexed_at=record.indexed_at,
            width=sides[0],
            height=sides[1],
        )


@contextmanager
def known(photo_id: int) -> Iterator[None]:
    """Say in the service's words that a photo is not in the gallery."""
    try:
        yield
    except BadArgument as problem:
        raise NoSuchPhoto(f"There is no photo {photo_id} in this gallery. Search again.") from problem


def _read(record: PhotoRecord) -> bytes:
    try:
        file, content = read_file(record.path)
    except UnreadableImage as problem:
        raise NoSuchPhoto(
            f"The file of photo {record.id} cannot be read: {problem} Index its folder again."
        ) from problem
    if file.sha256 != record.sha256:
        raise NoSuchPhoto(f"The file of photo {record.id} has changed. Index its folder again.")
    return content


def _measure(content: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
        width, height = picture.size
        is_lying = picture.getexif().get(ExifTags.Base.Orientation) in _LYING
    return (height, width) if is_lying else (width, height)


def common_root(gallery: ServedGallery) -> bytes:
    """Give the deepest folder that holds all photos, as it is stored, with a slash at its end."""
    ends = gallery.path_ends()
    if ends is None:
        return b""
    # In the order of bytes, everything lies between the first and the last, and begins as they both do.
    shared = bytes(os.path.commonprefix(ends) or b"")  # noqa: RUF071 - what follows cuts at a separator
    return shared[: shared.rfind(os.fsencode(os.sep)) + 1]


def folder_below(root: bytes, path: Path) -> str:
    """Give the folder of a photo, as clients see it; "" is the root itself.

    >>> folder_below(b"/photos/", Path("/photos/2024/summer/cat.jpg"))
    '2024/summer'
    """
    return text_of(os.path.join(os.fsencode(path.parent), b"").removeprefix(root)[:-1])  # noqa: PTH118 - bytes


def folder_named(root: bytes, folder: str) -> Path:
    """Give the path of a folder that a client has named."""
    return Path(os.fsdecode(root)) / folder.lstrip("/\\")


def text_of(name: bytes) -> str:
    r"""Give a name as text: a byte that is not UTF-8 is written as ``\xff``, a separator as a slash."""
    return name.decode("utf-8", "backslashreplace").replace(os.sep, "/")
