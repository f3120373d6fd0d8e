"""Three numbers for a curve of precision over recall: ODS, OIS and average precision.

They are defined by Arbeláez, Maire, Fowlkes and Malik (PAMI 2011): F at the best threshold for all photos
together, F when each photo has its own best threshold, and the area under the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.contours.counting import Counts

Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """How well a detector follows people's contours; 1 is perfect, and people reach 0.80 among themselves.

    Args:
        ods: Best F with one threshold for the whole dataset ("optimal dataset scale").
        ois: F with the best threshold of each photo ("optimal image scale").
        average_precision: Area under precision over recall.
    """

    ods: float
    ois: float
    average_precision: float


def summarise(counts: Sequence[Counts]) -> Summary:
    """Summarise the counts of all photos, which share their thresholds."""
    total = Counts.total(counts)
    return Summary(
        ods=_best_f(total.recall, total.precision),
        ois=_f_at_own_thresholds(counts),
        average_precision=_area(total.recall, total.precision),
    )


def f_measure(recall: Shares, precision: Shares) -> Shares:
    """Give the harmonic mean of recall and precision; 0 where both are."""
    return 2 * recall * precision / np.maximum(recall + precision, np.finfo(np.float64).tiny)


def _best_f(recall: Shares, precision: Shares) -> float:
    """Look for the best F along the curve, between the thresholds too, as the standard does."""
    at = np.linspace(0, len(recall) - 1, 100 * (len(recall) - 1) + 1)
    steps = np.arange(len(recall))
    return float(f_measure(np.interp(at, steps, recall), np.interp(at, steps, precision)).max())


def _f_at_own_thresholds(counts: Sequence[Counts]) -> float:
    best = [int(f_measure(each.recall, each.precision).argmax()) for each in counts]
    found, traced, right, detected = np.sum(
        [(c.found[i], c.traced[i], c.right[i], c.detected[i]) for c, i in zip(counts, best, strict=True)], axis=0
    )
    return float(f_measure(found / max(traced, 1), right / max(detected, 1)))


def _area(recall: Shares, precision: Shares) -> float:
    """Sum precision at every hundredth of recall; what the curve does not reach counts as zero."""
    levels, first = np.unique(recall, return_index=True)
    return float(np.interp(np.linspace(0, 1, 101), levels, precision[first], left=0, right=0).sum() / 100)
