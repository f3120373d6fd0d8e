"""Find all pairs of codes that are near each other: a search of a set in itself.

If two codes differ in at most r bits, and the bits are divided into r + 1 parts, then at least one part is equal in
both. So codes are put into groups by the value of one part, for each part in turn, and compared only within a group.
With a radius of 8, a million codes of 64 bits are compared with some thousands each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.index.kernel import Rows, nearest
from sketchhash.index.protocol import Wanted, check_radius

_ROOM = 4  # for the hits of a code, one of which is itself; those that have more are asked again with more room
_MORE_ROOM = 16

_FEWEST = 64  # codes: below, to divide them is slower than to compare them all


def near_pairs(codes: NDArray[np.uint8], radius: int) -> NDArray[np.int64]:
    """Return the rows ``(pairs, 2)`` of all packed codes that differ in at most ``radius`` bits, each pair once.

    The first row of a pair is the smaller one, and pairs are in ascending order. Codes that are equal are pairs as any
    others: of a thousand equal ones there are half a million.
    """
    check_radius(radius)
    if codes.ndim != 2:
        raise BadArgument(f"Packed codes are rows of bytes, got shape {codes.shape}. Type: pack(values)")
    found = [pairs for group in _groups(codes, radius) for pairs in _pairs_within(codes, group, radius)]
    all_pairs = np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)
    keys = np.unique(all_pairs[:, 0] * len(codes) + all_pairs[:, 1])
    return np.stack(np.divmod(keys, max(len(codes), 1)), axis=1)


def _groups(codes: NDArray[np.uint8], radius: int) -> Iterator[NDArray[np.int64]]:
    """Yield groups of rows such that any two codes within the radius share one."""
    bits = np.unpackbits(codes, axis=1)
    parts = radius + 1
    if len(codes) < _FEWEST or parts * 2 > bits.shape[1]:
        yield np.arange(len(codes))
        return
    for part in range(parts):
        # Every so many-th bit: neighbours depend on each other, and would make a few groups large.
        keys = np.packbits(bits[:, part::parts], axis=1)
        order = np.lexsort(keys.T)  # stable: rows of a group stay in ascending order
        starts = np.flatnonzero((keys[order][1:] != keys[order][:-1]).any(axis=1)) + 1
        yield from (group for group in np.split(order, starts) if len(group) > 1)


def _pairs_within(codes: NDArray[np.uint8], group: NDArray[np.int64], radius: int) -> Iterator[NDArray[np.int64]]:
    """Yield the pairs among some rows, which are in ascending order, in pieces."""
    rows = Rows.of(group, codes[group])
    places, room = np.arange(len(group)), min(_ROOM, len(group))
    while len(places):
        found = nearest(rows, codes[group[places]], Wanted(room, radius))
        is_whole = (found.counts < room) | (room == len(group))
        is_hit = (np.arange(room) < found.counts[:, np.newaxis]) & is_whole[:, np.newaxis]
        ours, theirs = np.repeat(group[places], is_hit.sum(axis=1)), found.ids[is_hit]
        yield np.stack((ours, theirs), axis=1)[ours < theirs]
        places, room = places[~is_whole], min(_MORE_ROOM * room, len(group))
