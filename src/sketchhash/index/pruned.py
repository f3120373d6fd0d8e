"""The pruned index: skip the codes that cannot be near, and find exactly what a scan finds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.arguments import (
    check_absent,
    check_addition,
    check_among,
    check_bits,
    check_codes,
    check_ids,
    check_k,
    check_present,
    check_radius,
)
from sketchhash.index.centres import centres_for, choose_centres
from sketchhash.index.groups import Groups
from sketchhash.index.hits import Hits, Wanted
from sketchhash.index.nearest import all_within, nearest

# Centres chosen for few codes are too few for many: they are chosen again when the index has grown so much.
GROWTH = 4


class PrunedIndex:
    """Codes in groups around centres; made for codes that cluster, and slower than a scan for those that do not.

    Adding and removing rewrite only the groups concerned, and the list of ids. The first addition chooses the
    centres, so give it as much as there is. Safe for concurrent searches; additions and removals need a lock
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
        check_absent(self._groups.homes.has(ids), ids)
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
        check_present(self._groups.homes.has(ids), ids)
        self._groups = self._groups.without_ids(ids)

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)
        if among is None:
            return self._groups.nearest(queries, Wanted(min(k, len(self)), self.bits)).hits()
        check_among(among)
        rows = self._groups.only(among)
        return nearest(rows, queries, Wanted(min(k, len(rows.ids)), self.bits)).hits()

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        check_codes(queries, self.bits)
        check_radius(radius)
        return all_within(self._groups.nearest, queries, min(radius, self.bits), len(self))
