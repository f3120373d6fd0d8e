"""The sidecars of a photo: small files beside it that tell more about it; see `sketchhash.imaging.details`.

XMP lies at ``photo.jpg.xmp`` or ``photo.xmp``. Google Takeout writes ``photo.jpg.json``, or nowadays
``photo.jpg.supplemental-metadata.json``, cuts what comes before ``.json`` at 46 characters, and puts the number of a
second ``photo(1).jpg`` at the end: ``photo.jpg.supplemental-metadata(1).json``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from sketchhash.errors import UnreadableImage
from sketchhash.gallery.photos import open_file
from sketchhash.imaging import Run
from sketchhash.imaging.details import MAX_SIDECAR_BYTES, Details, parse_details, read_details

_SUPPLEMENT = ".supplemental-metadata"
_LONGEST_TAKEOUT = 46
_NUMBERED = re.compile(r"(.+)(\(\d+\))(\.\w+)", re.DOTALL)
_EDITED = re.compile(r"(.+)-edited(\(\d+\))?(\.\w+)", re.DOTALL)
_FOLDERS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Sidecars:
    """The sidecars of one photo, and a number that changes when they do; 0 stands for none."""

    xmp: Path | None = None
    takeout: Path | None = None
    stamp: int = 0


NO_SIDECARS = Sidecars()


class SidecarFinder:
    """Finds sidecars; a folder is listed once for all of its photos that come one after the other."""

    def __init__(self) -> None:
        """Begin with no folder listed."""
        self._sidecars_in = lru_cache(_FOLDERS_KEPT)(_sidecars_in)

    def beside(self, photo: Path) -> Sidecars:
        """Return the sidecars of ``photo``."""
        there = self._sidecars_in(photo.parent)
        if not there:
            return NO_SIDECARS
        xmp = next((there[name] for name in _xmp_names(photo) if name in there), None)
        takeout = next((there[name] for name in _takeout_names(photo.name) if name in there), None)
        beside, exported = (None if name is None else photo.with_name(name) for name in (xmp, takeout))
        return Sidecars(beside, exported, _stamp(place for place in (beside, exported) if place is not None))


def describe(content: bytes, sidecars: Sidecars, run: Run) -> Details:
    """Return what a photo's file and its sidecars tell, decoded where ``run`` does it: nothing, if that fails."""
    try:
        answer = run(read_details, content, _read(sidecars.xmp), _read(sidecars.takeout))
    except UnreadableImage:
        return Details(sidecars=sidecars.stamp)
    return parse_details(answer, sidecars.stamp)


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
    return int.from_bytes(blake2b(repr(facts).encode(), digest_size=7).digest(), "big") if facts else 0


def _read(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        with open_file(path) as file:
            content = file.read(MAX_SIDECAR_BYTES + 1)
    except (OSError, UnreadableImage):
        return None
    return content if len(content) <= MAX_SIDECAR_BYTES else None
