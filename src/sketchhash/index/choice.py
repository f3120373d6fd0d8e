"""The indexes by name, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.index.kernel import Rows, levels, nearest
from sketchhash.index.protocol import Wanted, WeighingIndex
from sketchhash.index.pruned import Groups, PrunedIndex, centres_for, choose_centres, evenly
from sketchhash.index.reference import ReferenceIndex
from sketchhash.index.scan import ScanIndex

INDEXES: dict[str, Callable[[int], WeighingIndex]] = {
    "reference": ReferenceIndex,
    "scan": ScanIndex,
    "pruned": PrunedIndex,
}

# Below, a scan is as fast as finding the groups. Above, skipping pays if most codes are skipped.
FEWEST_TO_PRUNE = 50_000
LARGEST_SHARE_COMPARED = 0.1

SAMPLE = 32_768
SAMPLE_QUERIES = 64
USUAL_K = 100


def scan_index(ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> WeighingIndex:
    """Build the index that is ready soonest, for packed codes ``(ids, bits // 8)`` and few queries."""
    return _filled("scan", ids, codes)


def build_index(ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> WeighingIndex:
    """Build the faster exact index for packed codes ``(ids, bits // 8)``: pruned if they cluster, else a scan."""
    return _filled("pruned" if codes.ndim == 2 and _clusters(codes) else "scan", ids, codes)


def _filled(name: str, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> WeighingIndex:
    if codes.ndim != 2:
        raise BadArgument(f"Packed codes are rows of bytes, got shape {codes.shape}. Type: pack(values)")
    index = INDEXES[name](codes.shape[1] * 8)
    index.add(ids, codes)
    return index


def _clusters(codes: NDArray[np.uint8]) -> bool:
    """Try on a sample whether groups would let a search skip most codes."""
    if len(codes) < FEWEST_TO_PRUNE or not levels():
        return False
    sample = evenly(codes, SAMPLE)
    is_query = np.zeros(len(sample), dtype=np.bool_)
    is_query[:: len(sample) // SAMPLE_QUERIES] = True
    queries, gallery = sample[is_query], sample[~is_query]

    ids = np.arange(len(gallery))
    groups = Groups.around(choose_centres(gallery, centres_for(len(codes))), ids, gallery)
    # The k-th nearest of all codes is about as far as the (k * sample / all)-th of the sample.
    k = -(-USUAL_K * len(gallery) // len(codes))
    farthest = nearest(Rows.of(ids, gallery), queries, Wanted(k, codes.shape[1] * 8)).distances[:, -1]
    return groups.share_within(queries, farthest) <= LARGEST_SHARE_COMPARED
