"""The contract of every index."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.hits import Hits


class Index(Protocol):
    """Packed codes by id, searched exactly: hits are ordered by (distance, id), whatever the order of arrival.

    Ids are any distinct int64. Any number of threads may search at the same time; who adds or removes must keep
    all others away meanwhile. What is refused raises `BadArgument` and changes nothing.
    """

    @property
    def bits(self) -> int:
        """The width of the codes."""
        ...

    def __len__(self) -> int:
        """Count the codes."""
        ...

    def add(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``. An id that is there already is refused, not replaced."""
        ...

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes. An id that is not there is refused."""
        ...

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``; all if there are fewer.

        Args:
            queries: Packed codes. A batch is spread over all cores, a single query stays on one.
            k: At least 1.
            among: Search these ids only, in ascending order; those that are not in the index do not count.
        """
        ...

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        ...
