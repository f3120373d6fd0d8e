"""A gallery on Milvus seen as a whole.

Milvus does not group and count: all rows are read, without codes, and what is to be told is kept.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sketchhash.gallery.engines.milvus_text import name_of
from sketchhash.index.milvus.collection import Row

COLUMNS = ("path", "label", "has_label", "indexed_at_us")


@dataclass
class Overview:
    """The numbers of a gallery; ``folders`` counts the photos that lie directly in each."""

    ids: array[int] = field(default_factory=lambda: array("q"))
    labels: Counter[str] = field(default_factory=Counter)
    folders: Counter[bytes] = field(default_factory=Counter)
    ends: tuple[bytes, bytes] | None = None
    last_indexed_us: int | None = None

    @classmethod
    def of(cls, pages: Iterable[Sequence[Row]]) -> Overview:
        """Read rows with the ``COLUMNS``."""
        overview = cls()
        for page in pages:
            for row in page:
                overview._count(row)
        return overview

    def top_folders(self, start: int, most: int) -> list[tuple[bytes, int]]:
        """Count the photos of each folder that is named from byte ``start`` of the paths on; the fullest first."""
        tops: Counter[bytes] = Counter()
        for folder, photos in self.folders.items():
            top, separator, _ = (folder + os.fsencode(os.sep))[start:].partition(os.fsencode(os.sep))
            if separator and top:
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
