"""Order hits anew by the query's real values.

A sketch's code keeps only the signs of the network's output. The values themselves tell how sure each sign is, so
their product with a photo's signs is finer than a Hamming distance, and needs nothing more of the gallery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import unpack
from sketchhash.errors import BadArgument
from sketchhash.index.protocol import Hits


@dataclass(frozen=True, eq=False)
class ScoredHits:
    """Hits ordered by score, best first, and among equal scores by (distance, id)."""

    ids: NDArray[np.int64]
    distances: NDArray[np.uint16]
    scores: NDArray[np.float64]


def rerank(hits: Hits, codes: NDArray[np.uint8], values: NDArray[np.floating[Any]]) -> ScoredHits:
    """Order hits by the product of the query's ``values`` ``(bits,)`` with their signs.

    Args:
        hits: What a search found for the signs of the values.
        codes: The packed codes of the hits, in their order, ``(hits, bits // 8)``.
        values: The encoder's output before its sign was taken.

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
    return ScoredHits(hits.ids[order], hits.distances[order], scores[order])
