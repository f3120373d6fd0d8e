"""The scan: compare every code with the query, at the speed of memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.index.kernel import BLOCK, Rows, all_within, blocks_for, empty_blocks, nearest, write_codes
from sketchhash.index.protocol import (
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


class ScanIndex:
    """Codes in the order of their ids: among equal distances the first row wins, and no id need be compared.

    Takes ``bits // 8`` bytes for a code and 8 for its id, and up to twice that after additions. Adding ids above
    those that are there costs only the new codes; other additions, and removals, rewrite the rows from the
    lowest id concerned. Safe for concurrent searches; additions and removals need a lock around all of them.

    >>> index = ScanIndex(bits=8)
    >>> index.add(np.array([7, 3]), np.array([[0b1111], [0b0011]], dtype=np.uint8))
    >>> index.search(np.array([[0b0111]], dtype=np.uint8), k=1)[0].ids
    array([3])
    """

    def __init__(self, bits: int) -> None:
        """Start without codes."""
        check_bits(bits)
        self.bits = bits
        self._room_for_ids = np.empty(0, dtype=np.int64)
        self._rows = Rows(empty_blocks(0, bits // 8), self._room_for_ids)

    def __len__(self) -> int:
        """Count the codes."""
        return len(self._rows.ids)

    @property
    def nbytes(self) -> int:
        """The memory that codes and ids take, with the room for more."""
        return self._rows.blocks.nbytes + self._room_for_ids.nbytes

    def add(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``."""
        check_addition(ids, codes, self.bits)
        check_absent(self._has(ids), ids)
        if not len(ids):
            return
        first = self._first_row(ids)
        together = np.concatenate((self._rows.ids[first:], ids))
        order = np.argsort(together)
        self._rewrite(first, together[order], np.concatenate((self._rows.codes(first), codes))[order])

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes."""
        check_ids(ids)
        check_present(self._has(ids), ids)
        if not len(ids):
            return
        first = self._first_row(ids)
        later = self._rows.ids[first:]
        staying = ~np.isin(later, ids)
        self._rewrite(first, later[staying], self._rows.codes(first)[staying])

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)
        rows = self._rows_among(among)
        return nearest(rows, queries, Wanted(min(k, len(rows.ids)), self.bits)).hits()

    def search_by_values(self, values: NDArray[Any], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` codes nearest to values ``(queries, bits)``, by the weight of the bits that differ."""
        check_values(values, self.bits)
        check_k(k)
        rows = self._rows_among(among)
        wanted = Wanted(min(k, len(rows.ids)), HEAVIEST * self.bits, weigh(values))
        return nearest(rows, pack(values), wanted).hits()

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        check_codes(queries, self.bits)
        check_radius(radius)
        return all_within(partial(nearest, self._rows), queries, min(radius, self.bits), len(self))

    def _has(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        if not len(self):
            return np.zeros(len(ids), dtype=np.bool_)
        rows = np.searchsorted(self._rows.ids, ids)
        known: NDArray[np.bool_] = self._rows.ids[np.minimum(rows, len(self) - 1)] == ids
        return known

    def _first_row(self, ids: NDArray[np.int64]) -> int:
        """Find where the block starts that the lowest of these ids belongs to."""
        return int(np.searchsorted(self._rows.ids, ids.min())) // BLOCK * BLOCK

    def _rewrite(self, first: int, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Replace the rows from the start of a block on; without room for them, double it."""
        size, block = first + len(ids), first // BLOCK
        blocks = self._rows.blocks
        if len(blocks) < blocks_for(size):
            room = max(2 * len(blocks), blocks_for(size))
            blocks = empty_blocks(room, self.bits // 8)
            blocks[:block] = self._rows.blocks[:block]
            self._room_for_ids = np.empty(room * BLOCK, dtype=np.int64)
            self._room_for_ids[:first] = self._rows.ids[:first]
        write_codes(blocks[block:], codes)
        self._room_for_ids[first:size] = ids
        self._rows = Rows(blocks, self._room_for_ids[:size])

    def _rows_among(self, among: NDArray[np.int64] | None) -> Rows:
        if among is None:
            return self._rows
        check_among(among)
        rows = np.searchsorted(self._rows.ids, among[self._has(among)])
        return Rows.of(self._rows.ids[rows], self._rows.codes_at(rows))
