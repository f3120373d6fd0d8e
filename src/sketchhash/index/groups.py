"""Codes grouped around centres, so that a search can skip those that cannot be near.

For a query q, a centre c and a code x, the triangle inequality says |d(q, c) - d(c, x)| <= d(q, x). Inside a
group the codes are ordered by their distance to the centre, so what may be within a distance of the query lies in
one stretch, and for a far centre the stretch is empty. Skipping is exact: the hits are those of a full scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming
from sketchhash.index.blocks import Rows
from sketchhash.index.hits import Found, Wanted
from sketchhash.index.homes import Homes, by_number
from sketchhash.index.kernel import GroupsView, GroupView, Level, hamming_kernel, run_in_batches
from sketchhash.index.nearest import nearest, ranked


@dataclass(frozen=True, eq=False)
class Group:
    """Rows ordered by (distance to the centre, id).

    The rows at distance r are ``shells[r]`` up to ``shells[r + 1]``; shells are ``(bits + 2,)``.
    """

    rows: Rows
    shells: NDArray[np.int32]

    @classmethod
    def of(cls, ids: NDArray[np.int64], codes: NDArray[np.uint8], distances: NDArray[np.uint16]) -> Self:
        """Order codes ``(rows, bits // 8)`` by their distances to the centre, ``(rows,)``."""
        order = np.lexsort((ids, distances))
        shells = np.searchsorted(distances[order], np.arange(codes.shape[1] * 8 + 2)).astype(np.int32)
        return cls(Rows.of(ids[order], codes[order]), shells)

    @cached_property
    def view(self) -> GroupView:
        """Point at this group, which must outlive it."""
        return GroupView(self.rows.view, self.shells.ctypes.data)

    @cached_property
    def radius(self) -> int:
        """The distance of the farthest row to the centre; -1 without rows."""
        return int(np.searchsorted(self.shells, len(self.rows.ids))) - 1

    @cached_property
    def _in_id_order(self) -> NDArray[np.intp]:
        return np.argsort(self.rows.ids)

    def rows_of(self, ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """Find the rows of ids, all of which are in this group."""
        return self._in_id_order[np.searchsorted(self.rows.ids, ids, sorter=self._in_id_order)]

    def distances(self) -> NDArray[np.uint16]:
        """Give each row's distance to the centre, ``(rows,)``."""
        return np.repeat(np.arange(len(self.shells) - 1, dtype=np.uint16), np.diff(self.shells))


class Groups:
    """Groups in the order of their centres, ready to be searched; they do not change."""

    def __init__(self, centres: Rows, groups: Sequence[Group], homes: Homes) -> None:
        """Take centres whose ids are 0, 1, 2, ..., a group for each, and which group each id lives in."""
        self.centres = centres
        self.groups = groups
        self.homes = homes
        self._radii = np.array([group.radius for group in groups], dtype=np.int32)
        views = (GroupView * len(groups))(*(group.view for group in groups))
        self._view = GroupsView(centres.view, views, self._radii.ctypes.data, self.size)

    @classmethod
    def around(cls, centres: NDArray[np.uint8], ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> Self:
        """Group codes ``(rows, bits // 8)`` around the nearest of ``(centres, bits // 8)``."""
        nothing = Group.of(ids[:0], codes[:0], np.empty(0, dtype=np.uint16))
        numbered = Rows.of(np.arange(len(centres)), centres)
        nobody = Homes(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        return cls(numbered, [nothing] * len(centres), nobody).with_codes(ids, codes)

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.homes.ids)

    @property
    def nbytes(self) -> int:
        """The memory that codes and ids take."""
        rows = sum(group.rows.blocks.nbytes + group.rows.ids.nbytes for group in self.groups)
        return rows + self.homes.ids.nbytes + self.homes.numbers.nbytes

    def with_codes(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> Self:
        """Add codes to the groups of their nearest centres; the other groups are shared."""
        found = nearest(self.centres, codes, Wanted(1, codes.shape[1] * 8))
        numbers, distances = found.ids[:, 0], found.distances[:, 0]
        groups = list(self.groups)
        for number, members in by_number(numbers, np.arange(len(ids))).items():
            group = groups[number]
            groups[number] = Group.of(
                np.concatenate((group.rows.ids, ids[members])),
                np.concatenate((group.rows.codes(), codes[members])),
                np.concatenate((group.distances(), distances[members])),
            )
        return type(self)(self.centres, groups, self.homes.with_ids(ids, numbers))

    def without_ids(self, ids: NDArray[np.int64]) -> Self:
        """Remove ids from their groups; the other groups are shared."""
        groups = list(self.groups)
        for number, leaving in self.homes.by_group(ids).items():
            group = groups[number]
            kept = np.delete(np.arange(len(group.rows.ids)), group.rows_of(leaving))
            groups[number] = Group.of(group.rows.ids[kept], group.rows.codes()[kept], group.distances()[kept])
        return type(self)(self.centres, groups, self.homes.without_ids(ids))

    def only(self, ids: NDArray[np.int64]) -> Rows:
        """Copy the rows of those ids that are here, given in ascending order."""
        known = ids[self.homes.has(ids)]
        codes = np.empty((len(known), self.centres.blocks.shape[1]), dtype=np.uint8)
        for number, some in self.homes.by_group(known).items():
            rows = self.groups[number].rows
            codes[np.searchsorted(known, some)] = rows.codes_at(self.groups[number].rows_of(some))
        return Rows.of(known, codes)

    def ids(self) -> NDArray[np.int64]:
        """Give the ids of all rows, group by group."""
        return np.concatenate([group.rows.ids for group in self.groups])

    def codes(self) -> NDArray[np.uint8]:
        """Give the packed codes of all rows, group by group."""
        return np.concatenate([group.rows.codes() for group in self.groups])

    def nearest(self, queries: NDArray[np.uint8], wanted: Wanted, level: Level | None = None) -> Found:
        """Find what is wanted in all groups; without the kernel nothing is skipped."""
        kernel = hamming_kernel()
        if kernel is None:
            everything = Rows.of(self.ids(), self.codes())
            return ranked(queries, wanted, everything.ids, everything.distances)
        return run_in_batches(
            queries,
            wanted,
            level,
            lambda task: kernel.nearest_in_groups(task, self._view),
        )

    def share_within(self, queries: NDArray[np.uint8], distances: NDArray[np.uint16]) -> float:
        """Give the share of rows that may be within a distance of a query, and so must be compared with it."""
        bits = queries.shape[1] * 8
        to_centres = hamming(queries, self.centres.codes()).astype(np.intp)
        shells = np.stack([group.shells for group in self.groups])
        first = np.maximum(to_centres - distances[:, None], 0)
        last = np.minimum(to_centres + distances[:, None], bits)
        number = np.arange(len(self.groups))
        compared = shells[number, last + 1] - shells[number, first]
        return float(compared.sum(axis=1).mean() / self.size)
