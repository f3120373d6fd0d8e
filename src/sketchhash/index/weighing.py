"""How much each bit of a query counts: as much as the network is sure of it.

A code keeps the signs of a network's output. The size of a value tells how sure its sign is, so a photo is nearer that
differs in unsure bits only. The product of a query's values v with a photo's signs s says so, and needs nothing more of
the gallery than its codes:

    sum(v * s) = sum(|v|) - 2 * sum(|v| of the bits that differ)

So the best product is the smallest weight of the bits that differ: a Hamming distance in which every bit has a weight
of its own. Weights are whole numbers from 0 to 63, in proportion to |v|: sums of them are exact in every order, and fit
into 16 bits. Equal sums are ordered by id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

HEAVIEST = 63  # the weight of half a byte fits into a byte; native/hamming_hits.h knows it too

_BYTES = np.arange(256, dtype=np.uint8)


def weigh(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the weights of the bits of queries with these finite values, both ``(queries, bits)``.

    The largest value of a query weighs 63, and one half as large 32: halves are rounded to the even number.

    >>> weigh(np.array([[-2.0, 1.0, 0.01, 0.0]])).tolist()
    [[63, 32, 0, 0]]
    """
    sizes = np.abs(values.astype(np.float64))
    largest = sizes.max(axis=1, keepdims=True, initial=0.0)
    shares = np.divide(sizes, largest, out=np.zeros_like(sizes), where=largest > 0)
    weights: NDArray[np.uint8] = np.rint(HEAVIEST * shares).astype(np.uint8)
    return weights


def weighed_distances(
    query: NDArray[np.uint8], weights: NDArray[np.uint8], codes: NDArray[np.uint8]
) -> NDArray[np.uint16]:
    """Return the weight of the bits in which packed codes ``(codes, bits // 8)`` differ from one query: ``(codes,)``.

    >>> codes = np.array([[0b11110000], [0b01111111]], dtype=np.uint8)
    >>> weights = np.array([9, 1, 1, 1, 1, 1, 1, 1], dtype=np.uint8)
    >>> weighed_distances(np.array([255], dtype=np.uint8), weights, codes)
    array([4, 9], dtype=uint16)
    """
    differing = np.unpackbits(codes ^ query, axis=1).astype(np.float32)
    sums = differing @ weights.astype(np.float32)  # whole numbers below 2**24 are exact
    return np.asarray(sums.astype(np.uint16))


def weight_tables(query: NDArray[np.uint8], weights: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return what each byte that may be met differs by from a query's, in weight: ``(bits // 8, 256)``."""
    differing = np.unpackbits(query[:, None, None] ^ _BYTES[None, :, None], axis=2)
    tables: NDArray[np.uint16] = np.einsum("pbi,pi->pb", differing, weights.reshape(-1, 8), dtype=np.uint16)
    return tables
