"""Photos and sketches as methods are given them: sequences that decode a picture when it is asked for."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import overload
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Item, photo_pixels, sketch_ink
from sketchhash.errors import UnwritableState
from sketchhash.files import replacing

Picture = NDArray[np.uint8]

SKETCH_SIDE = 224  # the largest that a method looks at
_LONGEST = 2 * SKETCH_SIDE


@dataclass(frozen=True)
class Pictures(Sequence[Picture]):
    """Items that ``read`` decodes, each time they are asked for."""

    items: Sequence[Item]
    read: Callable[[Item], Picture]

    def __len__(self) -> int:
        """Count the pictures."""
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> Picture: ...
    @overload
    def __getitem__(self, place: slice) -> Pictures: ...
    def __getitem__(self, place: int | slice) -> Picture | Pictures:
        """Decode one picture, or narrow to some."""
        return Pictures(self.items[place], self.read) if isinstance(place, slice) else self.read(self.items[place])


def photo_pictures(items: Sequence[Item]) -> Pictures:
    """Give photos ``(height, width, 3)``; a file is decoded no finer than the methods look."""
    return Pictures(items, lambda item: photo_pixels(item, _LONGEST))


class InkStore:
    """Sketches in their normal form ``(224, 224)``, which is slow to reach and small to keep."""

    def __init__(self, items: Sequence[Item], packed: Sequence[bytes]) -> None:
        """Hold what was packed, one of each item."""
        self._packed = {item.id: content for item, content in zip(items, packed, strict=True)}

    @classmethod
    def open(cls, path: Path, items: Sequence[Item], advance: Callable[[], None] = lambda: None) -> InkStore:
        """Read a store from a file; make it where there is none, with all cores."""
        packed = _read(path, len(items))
        if packed is None:
            packed = []
            with ThreadPoolExecutor() as pool:
                for content in pool.map(lambda item: zlib.compress(sketch_ink(item, SKETCH_SIDE).tobytes(), 1), items):
                    packed.append(content)
                    advance()
            _write(path, packed)
        return cls(items, packed)

    def pictures(self, items: Sequence[Item]) -> Pictures:
        """Give some of the sketches."""
        return Pictures(items, self._ink)

    def _ink(self, item: Item) -> Picture:
        pixels = np.frombuffer(zlib.decompress(self._packed[item.id]), dtype=np.uint8)
        return pixels.reshape(SKETCH_SIDE, SKETCH_SIDE)


def _read(path: Path, count: int) -> list[bytes] | None:
    """Give what `_write` wrote, or nothing if it is absent or damaged."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            content, ends = stored["content"].tobytes(), stored["ends"].tolist()
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None
    starts = [0, *ends[:-1]]
    return [content[start:end] for start, end in zip(starts, ends, strict=True)] if len(ends) == count else None


def _write(path: Path, packed: Sequence[bytes]) -> None:
    content = np.frombuffer(b"".join(packed), dtype=np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez(file, content=content, ends=np.cumsum([len(each) for each in packed]))
    except OSError as problem:
        raise UnwritableState(f"{path} cannot be written: {problem}. Make room or choose another --cache.") from problem
