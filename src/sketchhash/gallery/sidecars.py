"""The sidecars of a photo: small files beside it that tell more about it; see `sketchhash.imaging.details`.

XMP lies at ``photo.jpg.xmp`` or ``photo.xmp``. Google Takeout writes ``photo.jpg.json``, or nowadays
``photo.jpg.supplemental-metadata.json``, cuts what comes before ``.json`` at 46 characters, and puts the number of a
second ``photo(1).jpg`` at the end: ``photo.jpg.supplemental-metadata(1).json``.

What is known of an SVG file lies in one file for the whole set of icons, in the same folder or in one of the two above
it: see `sketchhash.imaging.tags`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from numpy.typing import NDArray

from sketchhash.errors import UnreadableImage
from sketchhash.gallery.photos import open_file
from sketchhash.imaging import Run, decoders
from sketchhash.imaging.details import MAX_SIDECAR_BYTES, Details, parse_details, read_details, read_with_details
from sketchhash.imaging.tags import MAX_TAG_FILE_BYTES, NOT_TAGGED, Tagged, read_tags, tags_of

_SUPPLEMENT = ".supplemental-metadata"
_LONGEST_TAKEOUT = 46
_NUMBERED = re.compile(r"(.+)(\(\d+\))(\.\w+)", re.DOTALL)
_EDITED = re.compile(r"(.+)-edited(\(\d+\))?(\.\w+)", re.DOTALL)
_FOLDERS_KEPT = 8
_TAG_FILES = ("tags.json", "icons.json", "openmoji.json", "data/openmoji.json")
_FOLDERS_UP = 2

_P = ParamSpec("_P")
_R = TypeVar("_R", bound=NDArray[Any] | tuple[NDArray[Any], ...])


@dataclass(frozen=True, slots=True)
class Sidecars:
    """The sidecars of one photo, or the tags of an SVG file, and a number that changes when they do; 0 for none."""

    xmp: Path | None = None
    takeout: Path | None = None
    stamp: int = 0
    tagged: Tagged = NOT_TAGGED


NO_SIDECARS = Sidecars()


class SidecarFinder:
    """Finds sidecars; a folder is listed once for all of its photos that come one after the other."""

    def __init__(self, run: Run | None = None) -> None:
        """Begin with no folder listed; files of tags are read where ``run`` does it."""
        self._sidecars_in = lru_cache(_FOLDERS_KEPT)(_sidecars_in)
        self._tag_files = lru_cache(_FOLDERS_KEPT)(_tag_files)
        self._tags_in = lru_cache(_FOLDERS_KEPT)(partial(_tags_in, run=run or decoders.shared().run))

    def beside(self, photo: Path) -> Sidecars:
        """Return the sidecars of ``photo``."""
        if photo.suffix.lower() == ".svg":
            return self._tagged(photo)
        there = self._sidecars_in(photo.parent)
        if not there:
            return NO_SIDECARS
        xmp = next((there[name] for name in _xmp_names(photo) if name in there), None)
        takeout = next((there[name] for name in _takeout_names(photo.name) if name in there), None)
        beside, exported = (None if name is None else photo.with_name(name) for name in (xmp, takeout))
        return Sidecars(beside, exported, _stamp(place for place in (beside, exported) if place is not None))

    def _tagged(self, drawing: Path) -> Sidecars:
        for file in self._tag_files(drawing.parent):
            tagged = self._tags_in(file).get(drawing.stem)
            if tagged is not None:
                return Sidecars(stamp=_digest(tagged), tagged=tagged)
        return NO_SIDECARS


def describe(content: bytes, sidecars: Sidecars, run: Run) -> Details:
    """Return what a photo's file and its sidecars tell, decoded where ``run`` does it: nothing, if that fails."""
    try:
        answer = run(read_details, content, _read(sidecars.xmp), _read(sidecars.takeout))
    except UnreadableImage:
        return Details(sidecars=sidecars.stamp)
    return parse_details(answer, sidecars.stamp)


class Describing:
    """Decodes a photo where ``run`` does, and keeps its `details` on the way: asking a process twice costs time."""

    def __init__(self, sidecars: Sidecars, run: Run) -> None:
        """Know nothing yet, but whether there are sidecars."""
        self.details = Details(sidecars=sidecars.stamp)
        self._sidecars = sidecars
        self._run = run

    def __call__(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Return what ``function`` returns, which reads the content that is its first argument; see `Run`."""
        beside = {"xmp": _read(self._sidecars.xmp), "takeout": _read(self._sidecars.takeout)}
        read = cast(Callable[..., NDArray[Any]], partial(function, **kwargs))
        try:
            pixels, answer = self._run(read_with_details, read, *args, **beside)
        except UnreadableImage as refusal:
            if not decoders.died_over(refusal):
                raise
            return self._run(function, *args, **kwargs)  # it may be the details that take too much
        self.details = parse_details(answer, self._sidecars.stamp)
        return cast(_R, pixels)


def _sidecars_in(folder: Path) -> dict[str, str]:
    """List what may be sidecars: their names, by their names in small letters."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except OSError:
        return {}
    return {name.lower(): name for name in sorted(names) if name.lower().endswith((".xmp", ".json"))}


def _xmp_names(photo: Path) -> Iterator[str]:
    yield f"{photo.name}.xmp".lower()
    yield f"{photo.stem}.xmp".lower()


def _takeout_names(name: str) -> Iterator[str]:
    """Yield the names, in small letters, under which Google Takeout may have put what it knows of a photo."""
    numbered, edited = _NUMBERED.fullmatch(name), _EDITED.fullmatch(name)
    plain, number = (numbered[1] + numbered[3], numbered[2]) if numbered else (name, "")
    for base, suffix in ((plain, number), (name, "")):
        for end in (_SUPPLEMENT, ""):
            yield f"{(base + end)[:_LONGEST_TAKEOUT]}{suffix}.json".lower()
    if edited:
        yield from _takeout_names(edited[1] + (edited[2] or "") + edited[3])


def _stamp(paths: Iterable[Path]) -> int:
    facts: list[object] = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        facts.append((os.fsencode(path.name), status.st_size, status.st_mtime_ns))
    return _digest(facts) if facts else 0


def _digest(facts: object) -> int:
    return int.from_bytes(blake2b(repr(facts).encode("utf-8", "backslashreplace"), digest_size=7).digest(), "big")


def _tag_files(folder: Path) -> list[Path]:
    """Return the files that may hold the tags of SVG files in a folder, the nearest first."""
    folders = (folder, *folder.parents[:_FOLDERS_UP])
    return [each / name for each in folders for name in _TAG_FILES if (each / name).is_file()]


def _tags_in(file: Path, run: Run) -> dict[str, Tagged]:
    """Return the tags that a file lists, by the names of SVG files; none, if it cannot be read."""
    content = _read(file, MAX_TAG_FILE_BYTES)
    try:
        return tags_of(run(read_tags, content)) if content is not None else {}
    except UnreadableImage:
        return {}


def _read(path: Path | None, most: int = MAX_SIDECAR_BYTES) -> bytes | None:
    if path is None:
        return None
    try:
        with open_file(path) as file:
            content = file.read(most + 1)
    except (OSError, UnreadableImage):
        return None
    return content if len(content) <= most else None
