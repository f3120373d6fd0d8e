"""Photo files: find them in folders, read them once, decode them at the size that everything is made from.

The name decides whether a file is tried, its content whether it is a photo. Names that begin with a dot are left
out, as `ls` does. A link to a file counts as a file; links to folders are not followed, so no walk goes in circles.
Pipes, sockets and devices are never opened.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import UnreadableImage
from sketchhash.imaging import Limits, Run, run
from sketchhash.imaging.formats import ICON_PACK, drawn_format, is_readable, missing_format
from sketchhash.imaging.packs import looks_like_pack
from sketchhash.model import Model, read_photo_for

PhotoKind = Literal["photo", "drawing"]
"""What a gallery holds: a photo was encoded by the image network, a drawing, such as an icon, by the sketch network."""

TakenAs = Literal["photos", "drawings", "auto"]
"""What files are taken for: all for photos, all for drawings, or each for what its content looks like."""

_LIMITS = Limits()
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)

# What differs from file to file in the reason of a failure.
_PARTICULARS = re.compile(r" \(.*\)|\d+ × \d+ ")


@dataclass(frozen=True, slots=True)
class PhotoFile:
    """A photo's file as it was read; size and time tell, without reading, that it has not changed since."""

    path: Path
    sha256: str
    size: int
    mtime_ns: int
    label: str | None = None
    kind: PhotoKind = "photo"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoRecord(PhotoFile):
    """A photo in a gallery.

    An id stands for one content: a file that moves keeps it, a file whose content changes gets a new one. Ids
    grow, and none is ever used again, so whatever was fetched for an id stays true.
    """

    id: int
    indexed_at: datetime


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or folder that was left out, and why."""

    path: Path
    reason: str

    @property
    def cause(self) -> str:
        """The reason without what is particular to this file, so that failures can be counted by cause.

        >>> Failure(Path("a.jpg"), "its content is broken (image file is truncated (3 bytes left)).").cause
        'its content is broken.'
        """
        return _PARTICULARS.sub("", self.reason)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was passed over, as the package that reads its format is not installed."""

    path: Path
    form: str


def find_photos(places: Iterable[Path], taken_as: TakenAs = "photos") -> Iterator[Path | Failure | Skipped]:
    """Yield the files in and below ``places``, in the order of their names, and the folders that cannot be read.

    Paths are absolute. A place may be a folder or a file; one that is not there holds nothing. SVG files, fonts and
    packs of icons are among them unless all are ``taken_as`` photos.
    """
    by_name = _photo_by_name if taken_as == "photos" else _by_name
    for place in outermost(places):
        if place.is_dir():
            yield from _walk(place, by_name)
        elif place.is_file() and (found := by_name(place, place.name)) is not None:
            yield found


def outermost(places: Iterable[Path]) -> list[Path]:
    """Make ``places`` absolute, and leave out those that lie below another."""
    all_places = set(map(absolute, places))
    return sorted(place for place in all_places if all_places.isdisjoint(place.parents))


def absolute(place: Path) -> Path:
    """Return the path in the form that galleries keep: absolute, without ``..``, links left as they are."""
    return Path(os.path.abspath(place))  # noqa: PTH100 - pathlib keeps '..'


def path_range(folder: Path) -> tuple[bytes, bytes]:
    """Return two paths, as galleries keep them, between which lies everything below ``folder``.

    >>> path_range(Path("/photos/cats"))
    (b'/photos/cats/', b'/photos/cats0')
    """
    start = os.fsencode(os.path.join(absolute(folder), ""))  # noqa: PTH118 - pathlib drops the last slash
    return start, start[:-1] + bytes([start[-1] + 1])


def is_gone(path: Path) -> bool:
    """Tell whether no file is there any more; one that merely cannot be looked at counts as there."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True
    except NotADirectoryError:  # a drawing in a pack has the pack's path, and its name below that
        return pack_of(path) is None
    except OSError:
        return False


def pack_of(path: Path) -> Path | None:
    """Return the font or the pack of icons that the drawing at a path is in; None if the path is not in such a file."""
    form = drawn_format(path.parent.suffix.lower())
    return path.parent if form is not None and path.parent.is_file() else None


def read_file(path: Path, label: str | None = None) -> tuple[PhotoFile, bytes]:
    """Read a photo's file once, so that its hash, size, time and content belong together.

    Raises:
        UnreadableImage: If it cannot be read, or is not a regular file.
    """
    try:
        with open_file(path) as file:
            status = os.fstat(file.fileno())
            content = file.read(_LIMITS.bytes + 1)
    except OSError as problem:
        raise UnreadableImage(f"{problem.strerror}.") from problem
    return PhotoFile(path, sha256(content).hexdigest(), status.st_size, status.st_mtime_ns, label), content


def open_file(path: Path) -> BinaryIO:
    """Open a regular file to read it, or raise `UnreadableImage`."""
    try:
        # Without O_NONBLOCK, to open a pipe that took the place of a file would wait for its writer.
        # With an opener the descriptor is closed on every path, also that of a folder, which is never made a file.
        file = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115 - the caller closes it
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
    except OSError as problem:
        raise UnreadableImage(f"{problem.strerror}.") from problem
    file.close()
    raise UnreadableImage("it is not a regular file.")


def decode(content: bytes, model: Model | None = None, run: Run = run) -> NDArray[np.uint8]:
    """Decode a photo at the size that the model takes and thumbnails are made from: ``(height, width, 3)``.

    Without a model it is the size of those that name none. It is done where ``run`` does it.

    Raises:
        UnreadableImage: If it cannot be decoded. The text does not name the file: callers know it.
    """
    try:
        return read_photo_for(model.manifest if model else None, content, _LIMITS, run)
    except UnreadableImage as problem:
        reason = str(problem).removeprefix("Cannot read these bytes: ")
        raise UnreadableImage(reason) from problem.__cause__


def _open_without_waiting(path: str, _: int) -> int:
    return os.open(path, _OPEN_FLAGS)


_ByName = Callable[[os.PathLike[str], str], Path | Skipped | None]


def _walk(top: Path, by_name: _ByName) -> Iterator[Path | Failure | Skipped]:
    folders = [top]  # a stack: folders may be nested deeper than Python recurses
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda e: e.name)
        except OSError as problem:
            yield Failure(folder, f"{problem.strerror}.")
            continue
        folders += (Path(entry) for entry in reversed(entries) if entry.is_dir(follow_symlinks=False))
        for entry in entries:
            photo = by_name(entry, entry.name)
            if photo is not None and _is_file(entry):
                yield photo


def _by_name(place: os.PathLike[str], name: str) -> Path | Skipped | None:
    """Return a file that is named like a photo, or holds drawings; None if it is neither."""
    form = drawn_format(os.path.splitext(name)[1].lower())  # noqa: PTH122 - five times as fast
    if form is None:
        return _photo_by_name(place, name)
    path = Path(place)
    if form is ICON_PACK and not _is_pack(path):
        return None
    return path if form.is_installed else Skipped(path, form.name)


def _is_pack(path: Path) -> bool:
    """Tell whether a JSON file is a pack of icons; most are something else, and no business of ours."""
    try:
        with open_file(path) as file:
            return looks_like_pack(file.read(_LIMITS.bytes))
    except (OSError, UnreadableImage):
        return False


def _photo_by_name(place: os.PathLike[str], name: str) -> Path | Skipped | None:
    """Return a file that is named like a photo, None if it is not."""
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 - five times as fast
    if is_readable(suffix):
        return Path(place)
    form = missing_format(suffix)
    return None if form is None else Skipped(Path(place), form)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads nowhere
        return False
