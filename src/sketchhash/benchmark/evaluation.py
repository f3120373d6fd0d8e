"""The numbers of a model card: a trained network scored on its split's queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.metrics import mean_average_precision, precision_at
from sketchhash.benchmark.ranking import rank_codes
from sketchhash.benchmark.scores import DEPTH
from sketchhash.benchmark.ties import TieGroups
from sketchhash.codes import pack
from sketchhash.datasets import Item, Partition


class Encoder(Protocol):
    """Gives values ``(n, bits)`` whose signs are codes."""

    def photo_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode photos."""
        ...

    def sketch_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode sketches."""
        ...


def rank_partition(encoder: Encoder, parts: Partition) -> TieGroups:
    """Rank the gallery of a partition for each of its queries, by Hamming distance."""
    queries, gallery = pack(encoder.sketch_values(parts.queries)), pack(encoder.photo_values(parts.gallery))
    return rank_codes(queries, gallery, labels(parts.queries), labels(parts.gallery))


def evaluate(encoder: Encoder, parts: Partition) -> dict[str, float]:
    """Give tie-aware mAP@all and precision at 200, by the names they have on a card."""
    groups = rank_partition(encoder, parts)
    return {"mAP@all": mean_average_precision(groups).value, f"P@{DEPTH}": precision_at(groups, DEPTH).value}


def labels(items: Sequence[Item]) -> NDArray[np.int64]:
    """Read the labels off items."""
    return np.array([item.label for item in items], dtype=np.int64)
