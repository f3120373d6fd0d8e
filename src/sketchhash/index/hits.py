"""What a search should find, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of one query, ordered by (distance, id): ids and distances ``(hits,)``."""

    ids: NDArray[np.int64]
    distances: NDArray[np.uint16]

    def __len__(self) -> int:
        """Count the hits."""
        return len(self.ids)


@dataclass(frozen=True)
class Wanted:
    """What a search should find: the ``k`` nearest, none of them farther than ``radius``."""

    k: int
    radius: int


@dataclass(frozen=True, eq=False)
class Found:
    """The hits of many queries, ``(queries, k)``; each row is filled up to its entry in ``counts``."""

    ids: NDArray[np.int64]
    distances: NDArray[np.uint16]
    counts: NDArray[np.int64]

    @classmethod
    def nothing(cls, queries: int, k: int) -> Self:
        """Make room for the hits of so many queries."""
        return cls(
            np.empty((queries, k), dtype=np.int64),
            np.empty((queries, k), dtype=np.uint16),
            np.zeros(queries, dtype=np.int64),
        )

    def hits(self) -> list[Hits]:
        """Give the hits of each query."""
        rows = zip(self.ids, self.distances, self.counts.tolist(), strict=True)
        return [Hits(ids[:count], distances[:count]) for ids, distances, count in rows]
