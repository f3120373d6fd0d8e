"""What lies within a Hamming radius of a query: the view of a search that looks codes up in buckets.

Ties play no part here: a ball holds all photos at a distance or none. As for all metrics, queries without a
relevant photo in the gallery are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.ties import Counts, TieGroups
from sketchhash.errors import BadArgument


@dataclass(frozen=True)
class BallScore:
    """Precision within a Hamming radius, with what is needed to judge it: long codes leave most balls empty.

    Attributes:
        radius: Largest distance inside the ball, in bits.
        value: Mean over queries of relevant photos in the ball / photos in the ball, 0 for an empty ball.
        empty: Share of queries whose ball holds no photo.
        mean_size: Mean number of photos in a ball.
    """

    radius: int
    value: float
    empty: float
    mean_size: float


@dataclass(frozen=True)
class RadiusCurve:
    """Precision and recall as the radius grows; recall is of all relevant photos in the gallery."""

    radii: tuple[int, ...]
    precision: tuple[float, ...]
    recall: tuple[float, ...]


def precision_within(groups: TieGroups, radius: int) -> BallScore:
    """Give the relevant share of the photos within a radius, query by query (HD2 is radius 2)."""
    sizes, relevant = _balls(groups)
    if not 0 <= radius < sizes.shape[1]:
        raise BadArgument(f"A radius lies between 0 and the {sizes.shape[1] - 1} bits of a code, got {radius}.")
    inside, hits = sizes[:, radius], relevant[:, radius]
    return BallScore(
        radius=radius,
        value=float(np.mean(hits / np.maximum(inside, 1))),
        empty=float(np.mean(inside == 0)),
        mean_size=float(np.mean(inside)),
    )


def pooled_radius_curve(groups: TieGroups) -> RadiusCurve:
    """Pool the pairs of all queries at each radius (micro average), as the hashing literature does.

    Radii at which every ball is empty have no precision and are left out.
    """
    sizes, relevant = (ball.sum(axis=0) for ball in _balls(groups))
    radii = np.flatnonzero(sizes)
    return _curve(radii, relevant[radii] / sizes[radii], relevant[radii] / relevant[-1])


def mean_radius_curve(groups: TieGroups) -> RadiusCurve:
    """Average precision and recall over the queries at each radius (macro average), 0 for an empty ball."""
    sizes, relevant = _balls(groups)
    precision, recall = relevant / np.maximum(sizes, 1), relevant / relevant[:, -1:]
    return _curve(np.arange(sizes.shape[1]), precision.mean(axis=0), recall.mean(axis=0))


def _balls(groups: TieGroups) -> tuple[Counts, Counts]:
    """Count photos and relevant photos within every radius, each ``(queries, bits + 1)``."""
    if groups.bits is None:
        raise BadArgument("Only rankings of binary codes have Hamming radii: rank packed codes with rank_codes.")
    answerable = groups.answerable()
    shape = len(answerable.labels), groups.bits + 1
    return answerable.sizes.reshape(shape).cumsum(axis=1), answerable.relevant.reshape(shape).cumsum(axis=1)


def _curve(radii: Counts, precision: NDArray[np.float64], recall: NDArray[np.float64]) -> RadiusCurve:
    return RadiusCurve(tuple(radii.tolist()), tuple(precision.tolist()), tuple(recall.tolist()))
