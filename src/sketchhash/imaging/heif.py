"""HEIF files, such as a phone's HEIC: a look at how one is built, and the small picture that it holds beside the large.

HEVC cannot be decoded at a fraction of its size, as JPEG can. But phones put a thumbnail of some hundred pixels a side
beside each photo: where it is large enough, it is decoded instead, for a hundredth of the time. To a decoder the photo
is the *primary item*: a copy of the file that names the thumbnail there, and forgets that it is one, is all it takes.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from sketchhash.errors import UnreadableImage

_MOST_BOXES = 2000  # some hundred are usual
_MOST_ITEMS = 5000  # a photo of 200 megapixels in tiles of 512 × 512 has 800
_MOST_META = 4_000_000  # bytes that describe the items
_SAME_ASPECT = 0.02
_TURNING = (b"irot", b"imir")
_CROPPING = b"clap"
_NO_REFERENCE = b"free"


def check_heif(content: bytes) -> None:
    """Raise `UnreadableImage` if a file has far more parts than any photo.

    What is broken passes: the decoder says so better.
    """
    try:
        _Items.of(content)
    except (struct.error, IndexError):
        return


def with_thumbnail_first(content: bytes, longest: int, is_longest_enough: bool, most: int) -> bytes:
    """Return the file so that its smallest thumbnail that is large enough is decoded; as it is, if none is.

    With ``is_longest_enough`` the longest side counts, otherwise the shortest. A photo of more than ``most`` pixels
    cannot be decoded, and any thumbnail is large enough then.
    """
    try:
        items = _Items.of(content)
    except (struct.error, IndexError):
        return content
    side = max if is_longest_enough else min
    fit = [item for item in items.thumbnails() if side(items.sizes[item]) >= longest]
    if fit:
        return items.with_primary(content, min(fit, key=lambda item: items.sizes[item]))
    if items.thumbnails() and prod(items.sizes[items.primary]) > most:
        return items.with_primary(content, max(items.thumbnails(), key=lambda item: items.sizes[item]))
    return content


@dataclass
class _Items:
    """The items of a file: sizes and turns by id, and which are thumbnails of which."""

    primary: int = 0
    primary_place: int = 0
    primary_width: int = 2
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)
    turns: dict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    cropped: set[int] = field(default_factory=set)
    thumbnails_of: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    references: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, content: bytes) -> _Items:
        items = cls()
        for kind, start, end in _boxes(content, 0, len(content)):
            if kind == b"meta":
                if end - start > _MOST_META:
                    raise _overbuilt()
                items._read(content, start + 4, end)
        return items

    def thumbnails(self) -> list[int]:
        """Return the thumbnails of the photo that show all of it, upright in the same way."""
        size = self.sizes.get(self.primary)
        if size is None or self.primary in self.cropped or 0 in size:
            return []
        return [
            item
            for item in self.thumbnails_of[self.primary]
            if item in self.sizes
            and 0 not in self.sizes[item]
            and self.turns[item] == self.turns[self.primary]
            and item not in self.cropped
            and abs(self.sizes[item][0] * size[1] / (self.sizes[item][1] * size[0]) - 1) < _SAME_ASPECT
        ]

    def with_primary(self, content: bytes, item: int) -> bytes:
        changed = bytearray(content)
        changed[self.primary_place : self.primary_place + self.primary_width] = item.to_bytes(self.primary_width, "big")
        for place in self.references:
            changed[place : place + 4] = _NO_REFERENCE
        return bytes(changed)

    def _read(self, content: bytes, start: int, end: int) -> None:
        for kind, first, last in _boxes(content, start, end):
            if kind == b"pitm":
                self.primary_width = 2 if content[first] == 0 else 4
                self.primary_place = first + 4
                self.primary = _number(content, first + 4, self.primary_width)
            elif kind == b"iinf":
                wide = content[first] != 0
                if _number(content, first + 4, 4 if wide else 2) > _MOST_ITEMS:
                    raise _overbuilt()
            elif kind == b"iref":
                self._read_references(content, first, last)
            elif kind == b"iprp":
                self._read_properties(content, first, last)

    def _read_references(self, content: bytes, start: int, end: int) -> None:
        width = 2 if content[start] == 0 else 4
        for kind, first, last in _boxes(content, start + 4, end):
            if kind == b"thmb" and content[first - 4 : first] == kind:
                self.references.append(first - 4)
                count = min(_number(content, first + width, 2), (last - first) // width)
                for number in range(count):
                    shown = _number(content, first + width + 2 + number * width, width)
                    self.thumbnails_of[shown].append(_number(content, first, width))

    def _read_properties(self, content: bytes, start: int, end: int) -> None:
        properties: list[tuple[bytes, bytes]] = []
        for kind, first, last in _boxes(content, start, end):
            if kind == b"ipco":
                properties += [(name, content[a : min(b, a + 64)]) for name, a, b in _boxes(content, first, last)]
            elif kind == b"ipma":
                for item, index in _associations(content, first, last):
                    if 0 < index <= len(properties):
                        self._note(item, *properties[index - 1])

    def _note(self, item: int, kind: bytes, value: bytes) -> None:
        if kind == b"ispe":
            width, height = struct.unpack_from(">II", value, 4)
            self.sizes[item] = width, height
        elif kind in _TURNING:
            self.turns[item].append(kind + value)
        elif kind == _CROPPING:
            self.cropped.add(item)


def _associations(content: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ids of items and the numbers, from 1 on, of their properties."""
    width = 2 if content[start] == 0 else 4
    step = 2 if content[start + 3] & 1 else 1
    mask = 0x7FFF if step == 2 else 0x7F
    entries = _number(content, start + 4, 4)
    if entries > _MOST_ITEMS:
        raise _overbuilt()
    place = start + 8
    for _ in range(entries):
        if place + width >= end:
            return
        item, count = _number(content, place, width), content[place + width]
        place += width + 1
        for _ in range(count):
            yield item, _number(content, place, step) & mask
            place += step


def _boxes(content: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the boxes between two places: the kind of each, where its content begins, and where it ends."""
    for _ in range(_MOST_BOXES):
        if start + 8 > end:
            return
        size, kind = struct.unpack_from(">I4s", content, start)
        head = 8
        if size == 1:
            (size,) = struct.unpack_from(">Q", content, start + 8)
            head = 16
        size = size or end - start
        if size < head:
            return
        yield kind, start + head, min(start + size, end)
        start += size
    raise _overbuilt()


def _number(content: bytes, place: int, width: int) -> int:
    if place + width > len(content):
        raise IndexError(place)
    return int.from_bytes(content[place : place + width], "big")


def _overbuilt() -> UnreadableImage:
    return UnreadableImage("it is a HEIF with more parts than any photo has. Save it anew.")
