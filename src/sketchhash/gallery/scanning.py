"""Walk folders for files that may be photos.

The name decides whether a file is tried, its content whether it is a photo. Names that begin with a dot are
left out, as `ls` does. A link to a file counts as a file; links to folders are not followed, so no walk goes in
circles. Pipes, sockets and devices are never opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from sketchhash.gallery.photos import Failure
from sketchhash.imaging import PICTURE_SUFFIXES


def find_photos(places: Iterable[Path]) -> Iterator[Path | Failure]:
    """Give the files in and below ``places``, in the order of their names, and the folders that cannot be read.

    Paths are absolute. A place may be a folder or a file; one that is not there holds nothing.
    """
    for place in outermost(places):
        if place.is_dir():
            yield from _walk(place)
        elif _is_named_like_a_photo(place.name) and place.is_file():
            yield place


def outermost(places: Iterable[Path]) -> list[Path]:
    """Make ``places`` absolute, and leave out those that lie below another."""
    all_places = set(map(absolute, places))
    return sorted(place for place in all_places if all_places.isdisjoint(place.parents))


def absolute(place: Path) -> Path:
    """Give the path in the form that galleries keep: absolute, without ``..``, links left as they are."""
    return Path(os.path.abspath(place))  # noqa: PTH100 - pathlib keeps '..'


def is_gone(path: Path) -> bool:
    """Tell whether no file is there any more; one that merely cannot be looked at counts as there."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _walk(top: Path) -> Iterator[Path | Failure]:
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
        yield from (Path(entry) for entry in entries if _is_named_like_a_photo(entry.name) and _is_file(entry))


def _is_named_like_a_photo(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in PICTURE_SUFFIXES  # noqa: PTH122 - five times as fast


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads nowhere
        return False
