"""The pruned index: skip the codes that cannot be near, and find exactly what a scan finds.

Codes are grouped around centres. For a query q, a centre c and a code x, the triangle inequality says
|d(q, c) - d(c, x)| <= d(q, x). Inside a group the codes are ordered by their distance to the centre, so what may be
within a distance of the query lies in one stretch, and for a far centre the stretch is empty. Skipping is exact: the
hits are those of a full scan.

In a search by values the same holds for the weights of the bits that differ. Of a code and its centre only the number
of these bits is known: they weigh no less than the lightest of the query, and no more than the heaviest.

Centres are chosen for codes that cluster, as the codes of a learned model do. A sample is covered by farthest-first
traversal: each next centre is the code farthest from the centres so far, so that every cluster gets one before any
gets two. Then each centre moves to the majority of its codes, which is the code with the smallest sum of distances to
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack, unpack
from sketchhash.index.kernel import (
    GroupsView,
    GroupView,
    Level,
    Rows,
    all_within,
    hamming_kernel,
    nearest,
    ranked,
    run_in_batches,
)
from sketchhash.index.protocol import (
    Found,
    Hits,
    Wanted,
    check_absent,
    check_addition,
    check_among,
    check_bits,
    check_codes,
    check_ids,
    check_k,
    check_present,
    check_radius,
    check_values,
)
from sketchhash.index.weighing import HEAVIEST, weigh

MOST_CENTRES = 512
LARGEST_SAMPLE = 16_384
MOVES = 2

# Centres chosen for few codes are too few for many: they are chosen again when the index has grown so much.
GROWTH = 4


class PrunedIndex:
    """Codes in groups around centres; made for codes that cluster, and slower than a scan for those that do not.

    Adding and removing rewrite only the groups concerned, and the list of ids. The first addition chooses the
    centres, so add as many codes as there are at once. Safe for concurrent searches; additions and removals need a lock
    around all of them.

    >>> index = PrunedIndex(bits=8)
    >>> index.add(np.array([7, 3]), np.array([[0b1111], [0b0011]], dtype=np.uint8))
    >>> index.search(np.array([[0b0111]], dtype=np.uint8), k=1)[0].ids
    array([3])
    """

    def __init__(self, bits: int) -> None:
        """Start without codes."""
        check_bits(bits)
        self.bits = bits
        self._size_at_choice = 0
        nothing = np.empty((0, bits // 8), dtype=np.uint8)
        self._groups = Groups.around(np.zeros((1, bits // 8), dtype=np.uint8), np.empty(0, dtype=np.int64), nothing)

    def __len__(self) -> int:
        """Count the codes."""
        return self._groups.size

    @property
    def nbytes(self) -> int:
        """The memory that codes and ids take, with the room for more."""
        return self._groups.nbytes

    def add(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``."""
        check_addition(ids, codes, self.bits)
        check_absent(self._groups.table.has(ids), ids)
        size = len(self) + len(ids)
        if size <= GROWTH * self._size_at_choice:
            self._groups = self._groups.with_codes(ids, codes)
        elif size:
            all_codes = np.concatenate((self._groups.codes(), codes))
            all_ids = np.concatenate((self._groups.ids(), ids))
            self._groups = Groups.around(choose_centres(all_codes, centres_for(size)), all_ids, all_codes)
            self._size_at_choice = size

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes."""
        check_ids(ids)
        check_present(self._groups.table.has(ids), ids)
        self._groups = self._groups.without_ids(ids)

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)
        return self._search(queries, Wanted(k, self.bits), among)

    def search_by_values(self, values: NDArray[Any], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` codes nearest to values ``(queries, bits)``, by the weight of the bits that differ."""
        check_values(values, self.bits)
        check_k(k)
        return self._search(pack(values), Wanted(k, HEAVIEST * self.bits, weigh(values)), among)

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        check_codes(queries, self.bits)
        check_radius(radius)
        return all_within(self._groups.nearest, queries, min(radius, self.bits), len(self))

    def _search(self, queries: NDArray[np.uint8], wanted: Wanted, among: NDArray[np.int64] | None) -> list[Hits]:
        if among is None:
            return self._groups.nearest(queries, replace(wanted, k=min(wanted.k, len(self)))).hits()
        check_among(among)
        rows = self._groups.only(among)
        return nearest(rows, queries, replace(wanted, k=min(wanted.k, len(rows.ids)))).hits()


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
        """Return each row's distance to the centre, ``(rows,)``."""
        return np.repeat(np.arange(len(self.shells) - 1, dtype=np.uint16), np.diff(self.shells))


class Groups:
    """Groups in the order of their centres, ready to be searched; they do not change."""

    def __init__(self, centres: Rows, groups: Sequence[Group], table: GroupTable) -> None:
        """Take centres whose ids are 0, 1, 2, ..., a group for each, and which group each id is in."""
        self.centres = centres
        self.groups = groups
        self.table = table
        self._radii = np.array([group.radius for group in groups], dtype=np.int32)
        views = (GroupView * len(groups))(*(group.view for group in groups))
        self._view = GroupsView(centres.view, views, self._radii.ctypes.data, self.size)

    @classmethod
    def around(cls, centres: NDArray[np.uint8], ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> Self:
        """Group codes ``(rows, bits // 8)`` around the nearest of ``(centres, bits // 8)``."""
        nothing = Group.of(ids[:0], codes[:0], np.empty(0, dtype=np.uint16))
        numbered = Rows.of(np.arange(len(centres)), centres)
        no_ids = GroupTable(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        return cls(numbered, [nothing] * len(centres), no_ids).with_codes(ids, codes)

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.table.ids)

    @property
    def nbytes(self) -> int:
        """The memory that codes and ids take."""
        rows = sum(group.rows.blocks.nbytes + group.rows.ids.nbytes for group in self.groups)
        return rows + self.table.ids.nbytes + self.table.numbers.nbytes

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
        return type(self)(self.centres, groups, self.table.with_ids(ids, numbers))

    def without_ids(self, ids: NDArray[np.int64]) -> Self:
        """Remove ids from their groups; the other groups are shared."""
        groups = list(self.groups)
        for number, leaving in self.table.by_group(ids).items():
            group = groups[number]
            kept = np.delete(np.arange(len(group.rows.ids)), group.rows_of(leaving))
            groups[number] = Group.of(group.rows.ids[kept], group.rows.codes()[kept], group.distances()[kept])
        return type(self)(self.centres, groups, self.table.without_ids(ids))

    def only(self, ids: NDArray[np.int64]) -> Rows:
        """Copy the rows of those ids that are here, given in ascending order."""
        known = ids[self.table.has(ids)]
        codes = np.empty((len(known), self.centres.blocks.shape[1]), dtype=np.uint8)
        for number, some in self.table.by_group(known).items():
            rows = self.groups[number].rows
            codes[np.searchsorted(known, some)] = rows.codes_at(self.groups[number].rows_of(some))
        return Rows.of(known, codes)

    def ids(self) -> NDArray[np.int64]:
        """Return the ids of all rows, group by group."""
        return np.concatenate([group.rows.ids for group in self.groups])

    def codes(self) -> NDArray[np.uint8]:
        """Return the packed codes of all rows, group by group."""
        return np.concatenate([group.rows.codes() for group in self.groups])

    def nearest(self, queries: NDArray[np.uint8], wanted: Wanted, level: Level | None = None) -> Found:
        """Find what is wanted in all groups; without the kernel nothing is skipped."""
        kernel = hamming_kernel()
        if kernel is None:
            return ranked(Rows.of(self.ids(), self.codes()), queries, wanted)
        return run_in_batches(
            queries,
            wanted,
            level,
            lambda call: kernel.nearest_in_groups(call, self._view),
        )

    def share_within(self, queries: NDArray[np.uint8], distances: NDArray[np.uint16]) -> float:
        """Return the share of rows that may be within a distance of a query, and so must be compared with it."""
        bits = queries.shape[1] * 8
        to_centres = hamming(queries, self.centres.codes()).astype(np.intp)
        shells = np.stack([group.shells for group in self.groups])
        first = np.maximum(to_centres - distances[:, None], 0)
        last = np.minimum(to_centres + distances[:, None], bits)
        number = np.arange(len(self.groups))
        compared = shells[number, last + 1] - shells[number, first]
        return float(compared.sum(axis=1).mean() / self.size)


@dataclass(frozen=True, eq=False)
class GroupTable:
    """Which group each id is in: ids in ascending order, and the number of the group of each, both ``(ids,)``."""

    ids: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def has(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of these ids are in a group."""
        known = np.zeros(len(ids), dtype=np.bool_)
        if len(self.ids):
            places = np.searchsorted(self.ids, ids)
            known[:] = self.ids[np.minimum(places, len(self.ids) - 1)] == ids
        return known

    def by_group(self, ids: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
        """Sort ids, all of which are in a group, into their groups."""
        return by_number(self.numbers[np.searchsorted(self.ids, ids)], ids)

    def with_ids(self, ids: NDArray[np.int64], numbers: NDArray[np.int64]) -> Self:
        """Add ids that are in no group yet."""
        together = np.concatenate((self.ids, ids))
        order = np.argsort(together, kind="stable")  # fast where most are in order already
        return type(self)(together[order], np.concatenate((self.numbers, numbers))[order])

    def without_ids(self, ids: NDArray[np.int64]) -> Self:
        """Remove ids, all of which are in a group."""
        places = np.searchsorted(self.ids, ids)
        return type(self)(np.delete(self.ids, places), np.delete(self.numbers, places))


def by_number(numbers: NDArray[np.int64], values: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """Collect the values of each number.

    >>> by_number(np.array([4, 2, 4]), np.array([10, 11, 12]))
    {2: array([11]), 4: array([10, 12])}
    """
    order = np.argsort(numbers, kind="stable")
    present, starts = np.unique(numbers[order], return_index=True)
    return dict(zip(present.tolist(), np.split(values[order], starts[1:]), strict=True)) if len(present) else {}


def evenly(codes: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Take ``count`` of the codes, evenly spaced; all if there are fewer."""
    return codes[np.linspace(0, len(codes) - 1, min(count, len(codes))).astype(np.intp)]


def centres_for(size: int) -> int:
    """Return how many centres suit ``size`` codes: a search compares all centres, and the codes of a few."""
    return max(1, min(isqrt(size), MOST_CENTRES))


def choose_centres(codes: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Choose up to ``count`` centres ``(centres, bits // 8)`` for packed codes; fewer if the codes repeat."""
    sample = evenly(codes, LARGEST_SAMPLE)
    centres = _farthest_first(sample, count)
    for _ in range(MOVES):
        centres = _majorities(sample, centres)
    return np.unique(centres, axis=0)  # several may have moved to the same place


def _farthest_first(sample: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    chosen = [0]
    distances = hamming(sample[:1], sample)[0]
    while len(chosen) < count and distances.max() > 0:
        farthest = int(distances.argmax())
        chosen.append(farthest)
        np.minimum(distances, hamming(sample[farthest : farthest + 1], sample)[0], out=distances)
    return sample[chosen]


def _majorities(sample: NDArray[np.uint8], centres: NDArray[np.uint8]) -> NDArray[np.uint8]:
    rows = Rows.of(np.arange(len(centres)), centres)
    members = nearest(rows, sample, Wanted(1, sample.shape[1] * 8)).ids[:, 0]
    order = np.argsort(members, kind="stable")
    present, starts = np.unique(members[order], return_index=True)
    votes = np.add.reduceat(unpack(sample[order]).astype(np.int32), starts)
    moved = centres.copy()
    moved[present] = pack(votes)
    return moved
