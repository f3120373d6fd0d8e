"""Drawings in galleries: those in fonts and packs of icons one by one, and the words that each is found by.

A pack counts as a folder: the drawing ``arrow-left`` of ``/icons/tabler.json`` is at ``/icons/tabler.json/arrow-left``.
So filters by folder, removing and pruning work with packs as with folders, and no two drawings share a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sketchhash.errors import UnreadableImage
from sketchhash.gallery.photos import Failure, PhotoFile, pack_of, read_file
from sketchhash.imaging import DEFAULT_LIMITS, Run
from sketchhash.imaging.formats import FONT, ICON_PACK, drawn_format
from sketchhash.imaging.packs import PackedDrawing, Page, read_page

_UNBOUND = re.compile(r"[-_\s]+")


@dataclass(frozen=True, slots=True)
class Packed:
    """A drawing of a pack, and the size and time of the pack's file, which tell that it has not changed since."""

    path: Path
    drawing: PackedDrawing
    size: int
    mtime_ns: int

    def file(self, label: str | None) -> tuple[PhotoFile, bytes]:
        """Return what stands for the drawing's file, and its content, which is SVG."""
        content = self.drawing.svg.encode()
        digest = sha256(content).hexdigest()
        return PhotoFile(self.path, digest, self.size, self.mtime_ns, label, "drawing"), content


class PackReader:
    """Opens fonts and packs among the files of a run, and remembers which drawings each has."""

    def __init__(self, run: Run) -> None:
        """Read packs where ``run`` does it."""
        self._run = run
        self.packed = 0
        self._read: dict[Path, set[Path]] = {}

    def open_all(self, found: Iterable[Path | Failure]) -> Iterator[Path | Packed | Failure]:
        """Yield the drawings of each pack in its place, and everything else as it is."""
        for each in found:
            if isinstance(each, Path) and drawn_format(each.suffix.lower()) in (FONT, ICON_PACK):
                yield from self._open(each)
            else:
                yield each

    def has_lost(self, path: Path) -> bool:
        """Tell whether a drawing was in a pack that has been read to its end, and is there no more."""
        return path.parent in self._read and path not in self._read[path.parent]

    def _open(self, pack: Path) -> Iterator[Packed | Failure]:
        seen: set[Path] = set()
        try:
            file, content = _read(pack)
            start: int | None = 0
            while start is not None:
                page = Page.of(self._run(read_page, content, start))
                yield from (Failure(pack, remark) for remark in page.remarks)
                for drawing in page.drawings:
                    self.packed += 1
                    seen.add(pack / drawing.name)
                    yield Packed(pack / drawing.name, drawing, file.size, file.mtime_ns)
                start = page.following
        except UnreadableImage as problem:
            yield Failure(pack, str(problem).removeprefix("Cannot read these bytes: "))
            return
        self._read[pack] = seen


def read_drawn(path: Path, run: Run, label: str | None = None) -> tuple[PhotoFile, bytes]:
    """Read a photo's file, or the drawing of a pack as if it had one of its own; see `read_file`.

    Raises:
        UnreadableImage: If it cannot be read, or the pack has no such drawing.
    """
    pack = pack_of(path)
    if pack is None:
        return read_file(path, label)
    file, content = _read(pack)
    page = Page.of(run(read_page, content, only=path.name))
    if not page.drawings:
        raise UnreadableImage("its pack has no such drawing any more.")
    return Packed(path, page.drawings[0], file.size, file.mtime_ns).file(label)


def words_of(path: Path) -> str:
    """Return the label of a drawing: the words of its file's name.

    >>> words_of(Path("/icons/arrow-left.svg"))
    'arrow left'
    """
    name = path.name if pack_of(path) is not None else path.stem
    return _UNBOUND.sub(" ", name.encode("utf-8", "backslashreplace").decode()).strip() or name


def _read(pack: Path) -> tuple[PhotoFile, bytes]:
    file, content = read_file(pack)
    if len(content) > DEFAULT_LIMITS.bytes:
        raise UnreadableImage(f"it is larger than {DEFAULT_LIMITS.bytes:,} bytes.")
    return file, content
