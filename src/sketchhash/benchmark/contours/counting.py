"""One photo's scores against its annotators: what is found and what is right, at every threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.contours.matching import close_pairs, match
from sketchhash.errors import BadArgument
from sketchhash.imaging.thinning import thin as peel
from sketchhash.tokens import thin


@dataclass(frozen=True)
class Sweep:
    """How a detector is judged; the defaults are the standard of BSDS500.

    Args:
        steps: How many thresholds, evenly between 0 and 1; both ends are left out.
        tolerance: How far a right pixel may be from a traced one, as a share of the photo's diagonal.
    """

    steps: int = 99
    tolerance: float = 0.0075

    def __post_init__(self) -> None:
        """Refuse a sweep without a threshold."""
        if self.steps < 1:
            raise BadArgument(f"A sweep has at least 1 threshold; got steps={self.steps}.")

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The thresholds, ascending: ``(steps,)``."""
        return np.arange(1, self.steps + 1) / (self.steps + 1)


@dataclass(frozen=True, eq=False)
class Counts:
    """Pixels counted at each threshold, in one photo or summed over several; each ``(thresholds,)``.

    Args:
        found: Traced pixels with a partner, summed over the annotators.
        traced: All traced pixels, summed over the annotators.
        right: Detected pixels with a partner in at least one annotator's tracing.
        detected: All detected pixels.
    """

    found: NDArray[np.int64]
    traced: NDArray[np.int64]
    right: NDArray[np.int64]
    detected: NDArray[np.int64]

    @classmethod
    def total(cls, counts: Sequence[Counts]) -> Self:
        """Sum the counts of several photos."""
        return cls(
            found=np.sum([each.found for each in counts], axis=0),
            traced=np.sum([each.traced for each in counts], axis=0),
            right=np.sum([each.right for each in counts], axis=0),
            detected=np.sum([each.detected for each in counts], axis=0),
        )

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the traced pixels that are found; 0 where nothing was traced."""
        return self.found / np.maximum(self.traced, 1)

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the detected pixels that are right; 0 where nothing is detected."""
        return self.right / np.maximum(self.detected, 1)


def count(scores: NDArray[np.float32], tracings: NDArray[np.bool_], sweep: Sweep) -> Counts:
    """Compare scores ``(h, w)`` with what each annotator traced, ``(annotators, h, w)``.

    The lines left at each threshold are thinned once more, as the standard does: steps of a staircase would
    count as wrong. Each annotator is matched alone; a pixel is right if anyone traced it.
    """
    ridges = thin(scores)
    reach = sweep.tolerance * math.hypot(*scores.shape)
    candidates = ridges >= sweep.thresholds[0]
    pairs = [close_pairs(candidates, traced, reach) for traced in tracings]

    found, right, detected = np.zeros((3, sweep.steps), dtype=np.int64)
    for step, threshold in enumerate(sweep.thresholds):
        is_detected = peel(ridges >= threshold)[candidates]
        is_right = np.zeros_like(is_detected)
        for near in pairs:
            matched = match(near[:, is_detected[near[0]]])
            found[step] += len(matched)
            is_right[matched] = True
        right[step] = is_right.sum()
        detected[step] = is_detected.sum()
    return Counts(found, np.full(sweep.steps, tracings.sum()), right, detected)
