"""What a gallery keeps about a photo, and what can happen to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PhotoFile:
    """A photo's file as it was read; size and time tell, without reading, that it has not changed since."""

    path: Path
    sha256: str
    size: int
    mtime_ns: int
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoRecord(PhotoFile):
    """A photo in a gallery.

    An id stands for one content: a file that moves keeps it, a file whose content changes gets a new one. Ids
    grow, and none is ever used again, so whatever was fetched for an id stays true.
    """

    id: int
    indexed_at: datetime


class Change(Enum):
    """What bringing one file up to date came to."""

    ADDED = "added"
    UPDATED = "updated"
    MOVED = "moved"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or folder that was left out, and why."""

    path: Path
    reason: str
