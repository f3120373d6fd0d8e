"""Order hits anew by the query's real values, and photos of nearly the same code by their shape.

A sketch's code keeps only the signs of the network's output. The values themselves tell how sure each sign is, so
their product with a photo's signs is finer than a Hamming distance, and needs nothing more of the gallery.

Photos of one kind share codes, or nearly: codes of different kinds lie far apart. So hits whose codes differ in few
bits from that of a better hit stand behind it as a group, and within a group the shape of what was drawn decides. Kinds
keep their order, and only photos of a kind change places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, unpack
from sketchhash.errors import BadArgument
from sketchhash.index.protocol import Hits

NEARLY_EQUAL = 32
"""Codes are nearly equal if they differ in no more than one bit of so many."""

_GROUPS = 12  # hits behind so many groups are ordered by shape only if their codes agree equally well


@dataclass(frozen=True, eq=False)
class ScoredHits:
    """Hits, best first, and the score of each: how well its code agrees with the query's values."""

    ids: NDArray[np.int64]
    distances: NDArray[np.uint16]
    scores: NDArray[np.float64]


def rerank(
    hits: Hits,
    codes: NDArray[np.uint8],
    values: NDArray[np.floating[Any]],
    fits: NDArray[np.floating[Any]] | None = None,
) -> ScoredHits:
    """Order hits by the product of the query's ``values`` ``(bits,)`` with their signs, equal ones by (distance, id).

    Args:
        hits: What a search found for the signs of the values.
        codes: The packed codes of the hits, in their order, ``(hits, bits // 8)``.
        values: The encoder's output before its sign was taken.
        fits: How well each hit fits the query's shape, ``(hits,)``, greater for a better fit: decides among hits of
            nearly equal codes.

    >>> hits = Hits(np.array([4, 9]), np.array([1, 1], dtype=np.uint16))
    >>> values = np.array([3.0, 2.0, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0])
    >>> rerank(hits, np.array([[0b01111111], [0b11011111]], dtype=np.uint8), values).ids
    array([9, 4])
    """
    if codes.shape != (len(hits), len(values) // 8):
        raise BadArgument(
            f"{len(hits)} hits and {len(values)} values need codes of shape {(len(hits), len(values) // 8)}, "
            f"got {codes.shape}."
        )
    scores = unpack(codes).astype(np.float64) @ values.astype(np.float64)
    order = np.argsort(-scores, kind="stable")
    if fits is not None and len(hits):
        order = order[np.lexsort((-fits[order], _groups(codes[order], scores[order])))]
    return ScoredHits(hits.ids[order], hits.distances[order], scores[order])


def _groups(codes: NDArray[np.uint8], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number the hits by group, ``(hits,)``: codes and scores are in the order of the scores."""
    radius = 8 * codes.shape[1] // NEARLY_EQUAL
    groups = np.full(len(codes), -1, dtype=np.intp)
    rest = np.arange(len(codes))
    for group in range(_GROUPS):
        near = hamming(codes[rest[:1]], codes[rest])[0] <= radius
        groups[rest[near]] = group
        rest = rest[~near]
        if not len(rest):
            return groups
    groups[rest] = _GROUPS + np.unique(-scores[rest], return_inverse=True)[1]
    return groups
