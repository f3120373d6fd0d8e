"""The contract of every index: its queries, its results and the errors it raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import MAX_BITS
from sketchhash.errors import BadArgument


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of one query, ordered by (distance, id): ids and distances ``(hits,)``.

    A distance is the number of bits that differ or, in a search by values, what they weigh.
    """

    ids: NDArray[np.int64]
    distances: NDArray[np.uint16]

    def __len__(self) -> int:
        """Count the hits."""
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a search should find: the ``k`` nearest, none of them farther than ``radius``.

    With ``weights`` ``(queries, bits)``, as `weigh` returns them, every bit that differs counts as much as it weighs;
    without, 1.
    """

    k: int
    radius: int
    weights: NDArray[np.uint8] | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """The hits of many queries, ``(queries, k)``; each row is filled up to its entry in ``counts``."""

    ids: NDArray[np.int64]
    distances: NDArray[np.uint16]
    counts: NDArray[np.int64]

    @classmethod
    def nothing(cls, queries: int, k: int) -> Self:
        """Make room for ``k`` hits of each query."""
        return cls(
            np.empty((queries, k), dtype=np.int64),
            np.empty((queries, k), dtype=np.uint16),
            np.zeros(queries, dtype=np.int64),
        )

    def hits(self) -> list[Hits]:
        """Return the hits of each query."""
        rows = zip(self.ids, self.distances, self.counts.tolist(), strict=True)
        return [Hits(ids[:count], distances[:count]) for ids, distances, count in rows]


class Index(Protocol):
    """Packed codes by id, searched exactly: hits are ordered by (distance, id), whatever the order of arrival.

    Ids are any distinct int64. Any number of threads may search at the same time; adding and removing need a lock
    around all of them. A bad argument raises `BadArgument` and changes nothing.
    """

    @property
    def bits(self) -> int:
        """The width of the codes."""
        ...

    def __len__(self) -> int:
        """Count the codes."""
        ...

    def add(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``, or raise if an id is there already."""
        ...

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes, or raise if an id is not there."""
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


class WeighingIndex(Index, Protocol):
    """An index in memory: it also finds the codes that agree best with real values."""

    def search_by_values(self, values: NDArray[Any], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` codes nearest to the output of a network ``(queries, bits)``; all if there are fewer.

        Bits that differ count as much as they weigh (`weigh`), and distances are such weights.

        Args:
            values: Finite; their signs are the codes of the queries.
            k: At least 1.
            among: As in `search`.
        """
        ...


def check_bits(bits: int) -> None:
    """Raise if no code has this width."""
    if bits not in range(8, MAX_BITS + 1, 8):
        raise BadArgument(f"Codes have 8, 16, ... {MAX_BITS} bits, not {bits}.")


def check_codes(codes: NDArray[Any], bits: int) -> None:
    """Raise unless these are packed codes of the index's width."""
    if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != bits // 8:
        raise BadArgument(
            f"This index holds codes of {bits} bits, rows of {bits // 8} bytes, and got {codes.dtype} of shape "
            f"{codes.shape}. Encode with the model that the index was made for."
        )


def check_values(values: NDArray[Any], bits: int) -> None:
    """Raise unless these are finite values, one for each bit."""
    if values.ndim != 2 or values.shape[1] != bits:
        raise BadArgument(
            f"This index holds codes of {bits} bits, and got values of shape {values.shape}: give rows of {bits}."
        )
    if not np.isfinite(values).all():
        raise BadArgument("A value of a query is not a finite number: check the network it comes from.")


def check_ids(ids: NDArray[Any]) -> None:
    """Raise unless these are a row of distinct ids."""
    if ids.dtype != np.int64 or ids.ndim != 1:
        raise BadArgument(f"Ids are a row of int64, got {ids.dtype} of shape {ids.shape}.")
    ordered = np.sort(ids)
    if len(twice := ordered[1:][ordered[1:] == ordered[:-1]]):
        raise BadArgument(f"Ids must differ, and {twice[0]} is given twice.")


def check_addition(ids: NDArray[Any], codes: NDArray[Any], bits: int) -> None:
    """Raise unless there is one code for each id."""
    check_ids(ids)
    check_codes(codes, bits)
    if len(ids) != len(codes):
        raise BadArgument(f"There are {len(ids):,} ids for {len(codes):,} codes: give one each.")


def check_absent(known: NDArray[np.bool_], ids: NDArray[np.int64]) -> None:
    """Raise if any of the ids to add is ``known``, ``(ids,)``."""
    if known.any():
        raise BadArgument(f"Id {ids[known][0]} is in the index already: remove it before adding it again.")


def check_present(known: NDArray[np.bool_], ids: NDArray[np.int64]) -> None:
    """Raise unless all ids to remove are ``known``, ``(ids,)``."""
    if not known.all():
        raise BadArgument(f"Id {ids[~known][0]} is not in the index: nothing was removed.")


def check_among(among: NDArray[Any]) -> None:
    """Raise unless the ids to search among are in ascending order."""
    if among.dtype != np.int64 or among.ndim != 1 or (among[1:] <= among[:-1]).any():
        raise BadArgument("The ids to search among are a row of int64 in ascending order. Type: np.unique(ids)")


def check_k(k: int) -> None:
    """Raise if no hits are wanted."""
    if k < 1:
        raise BadArgument(f"Ask for at least one hit, not {k}.")


def check_radius(radius: int) -> None:
    """Raise if the radius is negative."""
    if radius < 0:
        raise BadArgument(f"A radius is at least 0, not {radius}.")
