"""Which detected pixels are right: those matched, one to one, with the pixels a person traced.

A line detected twice is right once, so a pixel has at most one partner. Martin, Fowlkes and Malik (PAMI 2004)
look for the cheapest assignment, where a pixel without a partner costs a hundred times the longest distance
allowed: as many pixels as possible get partners, and distances only break ties. Scores count partners alone,
so we look for a largest matching and no further.

A largest matching is a largest flow through pipes of width one, source → traced → detected → sink. SciPy's flow
(Dinic) takes about 5 ms a tracing; its matching (Hopcroft–Karp) took up to 20 s on some.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

Pairs = NDArray[np.int32]


def close_pairs(detected: NDArray[np.bool_], traced: NDArray[np.bool_], reach: float) -> Pairs:
    """Pair the pixels of two masks ``(h, w)`` that are at most ``reach`` pixels apart: ``(2, pairs)``.

    The first row numbers the detected pixels, the second the traced ones, each in reading order.
    """
    frame = math.floor(reach)
    number = np.full(np.add(detected.shape, 2 * frame), -1, dtype=np.int32)
    height, width = detected.shape
    number[frame : frame + height, frame : frame + width][detected] = np.arange(np.count_nonzero(detected))

    rows, columns = np.nonzero(traced)
    tracing = np.arange(len(rows), dtype=np.int32)
    pairs = []
    for down in range(2 * frame + 1):
        for right in range(2 * frame + 1):
            if math.hypot(down - frame, right - frame) <= reach:
                near = number[rows + down, columns + right]
                pairs.append(np.stack((near, tracing))[:, near >= 0])
    return np.concatenate(pairs, axis=1)


def match(pairs: Pairs) -> NDArray[np.int32]:
    """Give the detected pixels that have a partner, when as many have one as possible.

    >>> detected, traced = [0, 1, 2], [7, 7, 7]
    >>> match(np.array([detected, traced], dtype=np.int32)).size
    1
    """
    if pairs.size == 0:
        return np.empty(0, dtype=np.int32)
    detected, detected_end = np.unique_inverse(pairs[0])
    traced, traced_end = np.unique_inverse(pairs[1])
    source = len(traced) + len(detected)
    sink = source + 1
    starts = np.concatenate([np.full(len(traced), source), traced_end, np.arange(len(traced), source)])
    ends = np.concatenate([np.arange(len(traced)), len(traced) + detected_end, np.full(len(detected), sink)])
    pipes = csr_array((np.ones(len(starts), dtype=np.int32), (starts, ends)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(pipes, source, sink, method="dinic").flow

    traced_rows = slice(flow.indptr[len(traced)])
    partners = flow.indices[traced_rows][flow.data[traced_rows] > 0]
    matched: NDArray[np.int32] = detected[partners - len(traced)]
    return matched
