"""Order photos by the query's real values, and photos of nearly the same code by their shape.

How well a code agrees with the values is the weight of the bits that differ (`sketchhash.index.weighing`).

Photos of one kind share codes, or nearly: codes of different kinds lie far apart. So photos whose codes differ in few
bits from that of a better one stand behind it as a group, and within a group the shape of what was drawn decides. Kinds
keep their order, and only photos of a kind change places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack
from sketchhash.errors import BadArgument
from sketchhash.index.weighing import weigh, weighed_distances

NEARLY_EQUAL = 32
"""Codes are nearly equal if they differ in no more than one bit of so many."""

_GROUPS = 12  # photos behind so many groups are ordered by shape only if their codes agree equally well


@dataclass(frozen=True, eq=False)
class RankedHits:
    """Hits, best first: how many bits of each differ from the query's, and what these bits weigh."""

    ids: NDArray[np.int64]
    distances: NDArray[np.uint16]
    weighed: NDArray[np.uint16]


def rerank(
    ids: NDArray[np.int64],
    codes: NDArray[np.uint8],
    values: NDArray[Any],
    fits: NDArray[np.floating[Any]] | None = None,
) -> RankedHits:
    """Order photos by the weight of the bits that differ from the query's, equal ones by id.

    Args:
        ids: Of the photos, ``(photos,)``.
        codes: Their packed codes, ``(photos, bits // 8)``.
        values: The encoder's output for the query before its sign was taken, ``(bits,)``.
        fits: How well each photo fits the query's shape, ``(photos,)``, greater for a better fit: decides among
            photos of nearly equal codes.

    >>> values = np.array([3.0, 2.0, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0])
    >>> rerank(np.array([4, 9]), np.array([[0b01111111], [0b11011111]], dtype=np.uint8), values).ids
    array([9, 4])
    """
    if codes.shape != (len(ids), len(values) // 8):
        raise BadArgument(
            f"{len(ids)} photos and {len(values)} values need codes of shape {(len(ids), len(values) // 8)}, "
            f"got {codes.shape}."
        )
    query = values[np.newaxis]
    weighed = weighed_distances(pack(query)[0], weigh(query)[0], codes)
    order = np.lexsort((ids, weighed))
    if fits is not None and len(ids):
        order = order[np.lexsort((-fits[order], _groups(codes[order], weighed[order])))]
    return RankedHits(ids[order], hamming(pack(query), codes[order])[0], weighed[order])


def _groups(codes: NDArray[np.uint8], weighed: NDArray[np.uint16]) -> NDArray[np.intp]:
    """Number photos by group, ``(photos,)``: codes and weighed distances are in the order of the latter."""
    radius = 8 * codes.shape[1] // NEARLY_EQUAL
    groups = np.full(len(codes), -1, dtype=np.intp)
    rest = np.arange(len(codes))
    for group in range(_GROUPS):
        near = hamming(codes[rest[:1]], codes[rest])[0] <= radius
        groups[rest[near]] = group
        rest = rest[~near]
        if not len(rest):
            return groups
    groups[rest] = _GROUPS + np.unique(weighed[rest], return_inverse=True)[1]
    return groups
