"""Which group each id lives in, so that a few ids are found without reading all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Homes:
    """Ids in ascending order, and the number of the group of each, both ``(ids,)``."""

    ids: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def has(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which of these ids have a home."""
        known = np.zeros(len(ids), dtype=np.bool_)
        if len(self.ids):
            places = np.searchsorted(self.ids, ids)
            known[:] = self.ids[np.minimum(places, len(self.ids) - 1)] == ids
        return known

    def by_group(self, ids: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
        """Sort ids, all of which have a home, into their groups."""
        return by_number(self.numbers[np.searchsorted(self.ids, ids)], ids)

    def with_ids(self, ids: NDArray[np.int64], numbers: NDArray[np.int64]) -> Self:
        """Add ids that had no home."""
        together = np.concatenate((self.ids, ids))
        order = np.argsort(together, kind="stable")  # fast where most are in order already
        return type(self)(together[order], np.concatenate((self.numbers, numbers))[order])

    def without_ids(self, ids: NDArray[np.int64]) -> Self:
        """Remove ids, all of which have a home."""
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
