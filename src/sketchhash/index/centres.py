"""Choose centres for codes that cluster, as the codes of a learned model do.

A sample is covered by farthest-first traversal: each next centre is the code farthest from the centres so far,
so that every cluster gets one before any gets two. Then each centre moves to the majority of its codes, which
is the code with the smallest sum of distances to them.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack, unpack
from sketchhash.index.blocks import Rows
from sketchhash.index.hits import Wanted
from sketchhash.index.nearest import nearest

MOST_CENTRES = 512
LARGEST_SAMPLE = 16_384
MOVES = 2


def evenly(codes: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Take ``count`` of the codes, evenly spaced; all if there are fewer."""
    return codes[np.linspace(0, len(codes) - 1, min(count, len(codes))).astype(np.intp)]


def centres_for(size: int) -> int:
    """Say how many centres suit so many codes: a search meets all centres, and the codes of a few."""
    return max(1, min(isqrt(size), MOST_CENTRES))


def choose_centres(codes: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Choose up to ``count`` centres ``(centres, bits // 8)`` for packed codes; fewer if the codes repeat."""
    sample = evenly(codes, LARGEST_SAMPLE)
    centres = _farthest_first(sample, count)
    for _ in range(MOVES):
        centres = _majorities(sample, centres)
    return np.unique(centres, axis=0)  # several may have moved to the same place


def _farthest_first(sample: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    chosen = [0]
    distances = hamming(sample[:1], sample)[0]
    while len(chosen) < count and distances.max() > 0:
        farthest = int(distances.argmax())
        chosen.append(farthest)
        np.minimum(distances, hamming(sample[farthest : farthest + 1], sample)[0], out=distances)
    return sample[chosen]


def _majorities(sample: NDArray[np.uint8], centres: NDArray[np.uint8]) -> NDArray[np.uint8]:
    rows = Rows.of(np.arange(len(centres)), centres)
    members = nearest(rows, sample, Wanted(1, sample.shape[1] * 8)).ids[:, 0]
    order = np.argsort(members, kind="stable")
    present, starts = np.unique(members[order], return_index=True)
    votes = np.add.reduceat(unpack(sample[order]).astype(np.int32), starts)
    moved = centres.copy()
    moved[present] = pack(votes)
    return moved
