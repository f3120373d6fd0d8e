"""How a photo is a row of Milvus: texts, numbers and flags; and what all rows come to.

Milvus keeps neither bytes nor nulls, and its filters are texts themselves: names are escaped, and flags say what is
missing.
"""

from __future__ import annotations

import os
from array import array
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from sketchhash.engines.milvus import LONGEST, Row, code_of
from sketchhash.gallery.filters import Condition, Filter
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.protocol import PhotoRow
from sketchhash.gallery.writer import DETAILS
from sketchhash.imaging.details import Details, moment_of
from sketchhash.tokens.shape import SHAPE_VERSION

TEXTS = {"path": LONGEST, "label": LONGEST, "sha256": 64}
SHAPE = {"shape": 1024}  # collections of before there were shapes have no such column, and cannot get one
NUMBERS = ("size", "mtime_ns", "has_label", "indexed_at_us")
# The same goes for details. Milvus keeps no null: then a text is empty and a number 0, and a flag says so.
DETAIL_TEXTS = {"camera": 1024, "description": 16_384}
DETAIL_NUMBERS = ("has_details", "has_date", "has_place", "taken_at", "width", "height", "sidecars")
DETAIL_REALS = ("latitude", "longitude")
DETAIL_COLUMNS = (*DETAIL_TEXTS, *DETAIL_NUMBERS, *DETAIL_REALS)
_EPOCH = datetime.fromtimestamp(0, UTC)
HASH = {"perceptual": 24}  # "" for none so far, and otherwise ":" and the hash in hexadecimal
DRAWING = ("is_drawing",)  # 1 or 0
OVERVIEW_COLUMNS = ("path", "label", "has_label", "indexed_at_us")
DATED_COLUMNS = ("has_date", "has_place", "taken_at")
_FLAGS = {"label": "has_label", "taken_at": "has_date", "latitude": "has_place", "longitude": "has_place"}
_SPECIAL = frozenset("%\"'\\")


def milvus_row(row: PhotoRow) -> Row:
    """Return a photo as Milvus keeps it, in all columns there are."""
    photo = row.photo
    return {
        "id": photo.id,
        "code": row.code,
        "path": stored_text(os.fsencode(photo.path)),
        "label": stored_text((photo.label or "").encode()),
        "has_label": int(photo.label is not None),
        "sha256": photo.sha256,
        "shape": "" if row.shape is None else f"{SHAPE_VERSION}:{b64encode(row.shape).decode('ascii')}",
        "size": photo.size,
        "mtime_ns": photo.mtime_ns,
        "indexed_at_us": (photo.indexed_at - _EPOCH) // timedelta(microseconds=1),
        "perceptual": "" if row.perceptual is None else f":{row.perceptual.hex()}",
        "is_drawing": int(photo.kind == "drawing"),
        **_detail_columns(row.details),
    }


def _detail_columns(details: Details | None) -> Row:
    known = details or Details()
    named: dict[str, Any] = dict(zip(DETAILS.split(", "), known.columns(), strict=True))
    texts = {name: stored_text((named.pop(name) or "").encode()) for name in DETAIL_TEXTS}
    numbers = {name: 0 if value is None else value for name, value in named.items()}
    flags = {
        "has_details": int(details is not None),
        "has_date": int(known.taken_at is not None),
        "has_place": int(known.latitude is not None),
    }
    return {**texts, **numbers, **flags, **{name: float(numbers[name]) for name in DETAIL_REALS}}


def _details(row: Row) -> Details | None:
    if not row.get("has_details"):
        return None
    named = {name: row[name] for name in DETAILS.split(", ")}
    named |= {name: name_of(row[name]).decode() or None for name in DETAIL_TEXTS}
    named |= {name: row[name] or None for name in ("width", "height")}
    named |= {} if row["has_date"] else {"taken_at": None}
    named |= {} if row["has_place"] else dict.fromkeys(DETAIL_REALS)
    return Details.of_columns(list(named.values()))


def taken_of(seconds: int | None) -> datetime | None:
    """Return the moment that a column ``taken_at`` stands for."""
    return None if seconds is None else moment_of(seconds)


def written(only: Filter) -> str:
    """Write a filter as Milvus reads it."""
    return " and ".join(map(_compared, only.conditions()))


def _compared(condition: Condition) -> str:
    column, operator, value = condition
    if isinstance(value, bytes | str):
        value = f'"{stored_text(value.encode() if isinstance(value, str) else value)}"'
    flag = f"{_FLAGS[column]} == 1 and " if column in _FLAGS else ""
    return f"{flag}{column} {'==' if operator == '=' else operator} {value}"


def photo_row(row: Row) -> PhotoRow:
    """Return the photo of a row; what an older collection has no column for is missing."""
    photo = PhotoRecord(
        Path(os.fsdecode(name_of(row["path"]))),
        row["sha256"],
        row["size"],
        row["mtime_ns"],
        name_of(row["label"]).decode() if row["has_label"] else None,
        "drawing" if row.get("is_drawing") else "photo",
        id=row["id"],
        indexed_at=when_of(row["indexed_at_us"]),
    )
    version, _, shape = row.get("shape", "").partition(":")
    kept = b64decode(shape) if version == str(SHAPE_VERSION) else None
    return PhotoRow(photo, code_of(row), kept, _details(row), hash_of(row))


def hash_of(row: Row) -> bytes | None:
    """Return the perceptual hash of a row, or None if it has none so far."""
    written = row.get("perceptual", "")
    return bytes.fromhex(written[1:]) if written else None


def when_of(microseconds: int) -> datetime:
    """Return the moment that a column ``indexed_at_us`` stands for."""
    return _EPOCH + timedelta(microseconds=microseconds)


def any_of(column: str, texts: Iterable[str]) -> str:
    """Return the condition that a column holds one of some stored texts."""
    listed = ", ".join(f'"{text}"' for text in texts)
    return f"{column} in [{listed}]"


def stored_path(path: Path) -> str:
    """Write a path as it is stored."""
    return stored_text(os.fsencode(path))


def stored_text(name: bytes) -> str:
    r"""Write a name as text that stays readable: what is not UTF-8, not printable or special is written as ``%FF``.

    Each character is written by itself, so names that begin alike are stored alike, and a folder is a range of texts.

    >>> print(stored_text("/photos/café 100%.jpg".encode()), stored_text(b"\xff\"\n"))
    /photos/café 100%25.jpg %FF%22%0A
    """
    return "".join(
        character if character.isprintable() and character not in _SPECIAL else _escaped(character)
        for character in name.decode("utf-8", "surrogateescape")
    )


def name_of(text: str) -> bytes:
    r"""Return the name that was stored as this text.

    >>> name_of(stored_text(b"\xff\"%41\n"))
    b'\xff"%41\n'
    """
    return unquote_to_bytes(text)


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))


@dataclass
class RowOverview:
    """The numbers of a gallery; ``folders`` counts the photos that lie directly in each.

    Milvus does not group and count: all rows are read, without their codes, and only the numbers are kept.
    """

    ids: array[int] = field(default_factory=lambda: array("q"))
    labels: Counter[str] = field(default_factory=Counter)
    folders: Counter[bytes] = field(default_factory=Counter)
    ends: tuple[bytes, bytes] | None = None
    last_indexed_us: int | None = None
    dated: int = 0
    placed: int = 0
    taken: tuple[int, int] | None = None
    drawings: int = 0

    @classmethod
    def of(cls, pages: Iterable[Sequence[Row]]) -> RowOverview:
        """Read rows with the ``OVERVIEW_COLUMNS``."""
        overview = cls()
        for page in pages:
            for row in page:
                overview._count(row)
        return overview

    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``, which ends with a slash; the fullest first."""
        tops: Counter[bytes] = Counter()
        for folder, photos in self.folders.items():
            path = folder + os.fsencode(os.sep)
            top, separator, _ = path[len(below) :].partition(os.fsencode(os.sep))
            if path.startswith(below) and separator and top:
                tops[top] += photos
        return sorted(tops.items(), key=lambda each: (-each[1], each[0]))[:most]

    def _count(self, row: Row) -> None:
        path = name_of(row["path"])
        self.ids.append(row["id"])
        self.folders[os.path.dirname(path)] += 1  # noqa: PTH120 - bytes
        if row["has_label"]:
            self.labels[name_of(row["label"]).decode("utf-8")] += 1
        first, last = self.ends or (path, path)
        self.ends = min(first, path), max(last, path)
        self.last_indexed_us = max(self.last_indexed_us or 0, row["indexed_at_us"])
        self.placed += row.get("has_place", 0)
        self.drawings += row.get("is_drawing", 0)
        if row.get("has_date"):
            self.dated += 1
            earliest, latest = self.taken or (row["taken_at"], row["taken_at"])
            self.taken = min(earliest, row["taken_at"]), max(latest, row["taken_at"])
