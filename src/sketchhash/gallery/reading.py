"""From a photo's file to what a gallery keeps of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import UnreadableImage
from sketchhash.gallery.photos import PhotoFile
from sketchhash.imaging import Limits, read_photo, shrink
from sketchhash.model import Model

# Encoders look at 256 pixels or fewer. Twice that leaves resampling its choice, keeps a batch in memory small
# whatever the photos' sizes, and lets large JPEGs be decoded at a fraction of their size.
_LONGEST_SIDE = 512

_LIMITS = Limits()
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


def read_file(path: Path, label: str | None = None) -> tuple[PhotoFile, bytes]:
    """Read a photo's file once, so that its hash, size, time and content belong together.

    Raises:
        UnreadableImage: If it cannot be read, or is not a regular file.
    """
    try:
        # Without O_NONBLOCK, to open a pipe that took the place of a file would wait for its writer.
        with os.fdopen(os.open(path, _OPEN_FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableImage("it is not a regular file.")
            content = file.read(_LIMITS.bytes + 1)
    except OSError as problem:
        raise UnreadableImage(f"{problem.strerror}.") from problem
    return PhotoFile(path, sha256(content).hexdigest(), status.st_size, status.st_mtime_ns, label), content


def decode(content: bytes) -> NDArray[np.uint8]:
    """Decode a photo at the size that codes and thumbnails are made from: ``(height, width, 3)``.

    Raises:
        UnreadableImage: If there is no picture to be had.
    """
    try:
        return shrink(read_photo(content, _LIMITS, longest=_LONGEST_SIDE), _LONGEST_SIDE)
    except UnreadableImage as problem:
        reason = str(problem).removeprefix("Cannot read these bytes: ")  # callers know the file, and name it
        raise UnreadableImage(reason) from problem.__cause__


def encode(model: Model, photos: Sequence[NDArray[np.uint8]]) -> list[bytes]:
    """Give the packed code of each photo."""
    return [code.tobytes() for code in pack(model.encode_photos(photos))]
