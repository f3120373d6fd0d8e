"""Find photos that a gallery has more than once."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.searching import read_codes
from sketchhash.gallery.store import Gallery
from sketchhash.index import build_index

_BLOCK = 256

_NOT_ALONE = """
    SELECT id FROM photos
    WHERE sha256 IN (SELECT sha256 FROM photos GROUP BY sha256 HAVING count(*) > 1)
    ORDER BY id
"""


def exact_duplicates(gallery: Gallery) -> list[list[PhotoRecord]]:
    """Give the groups of photos whose files are equal byte for byte, each by id."""
    groups: dict[str, list[PhotoRecord]] = defaultdict(list)
    with gallery.snapshot():
        for (photo,) in gallery.rows(_NOT_ALONE):
            record = gallery.photo(photo)
            groups[record.sha256].append(record)
    return list(groups.values())


def near_duplicates(gallery: Gallery, radius: int) -> list[list[PhotoRecord]]:
    """Give the groups of photos whose codes differ in at most ``radius`` bits, each by id.

    Likeness is passed on: if a is like b and b like c, all three are one group. Codes are made to agree for
    photos of one kind of thing, so a wide radius gathers kinds, not copies.
    """
    if radius < 0:
        raise BadArgument(f"The radius is a number of bits, 0 or more; got {radius}.")
    with gallery.snapshot():
        ids, codes = read_codes(gallery)
        # Photos of one kind often share one code, and a million photos have far fewer codes to compare.
        distinct, code_of = np.unique(codes, axis=0, return_inverse=True)
        groups = _groups_within(distinct, radius)
        members: dict[int, list[int]] = defaultdict(list)
        for photo, row in zip(ids.tolist(), code_of.tolist(), strict=True):
            members[groups.first(row)].append(photo)
        return [[gallery.photo(photo) for photo in group] for group in members.values() if len(group) > 1]


class _Groups:
    """Rows that belong together: each leads, over others, to the first of its group."""

    def __init__(self, rows: int) -> None:
        self._towards = list(range(rows))

    def join(self, one: int, other: int) -> None:
        """Make one group of the groups of two rows."""
        small, large = sorted((self.first(one), self.first(other)))
        self._towards[large] = small

    def first(self, row: int) -> int:
        """Give the first row of a row's group."""
        while self._towards[row] != row:
            self._towards[row] = self._towards[self._towards[row]]  # halves the way for next time
            row = self._towards[row]
        return row


def _groups_within(codes: NDArray[np.uint8], radius: int) -> _Groups:
    rows = np.arange(len(codes))
    index, groups = build_index(rows, codes), _Groups(len(codes))
    for start in range(0, len(codes), _BLOCK):
        block = slice(start, start + _BLOCK)
        for row, hits in zip(rows[block].tolist(), index.within(codes[block], radius), strict=True):
            for other in hits.ids.tolist():
                groups.join(row, other)
    return groups
