"""All numbers of one run together, as tables and figures read them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np

from sketchhash.benchmark.metrics import (
    CategoryScore,
    RankCurve,
    Score,
    category_scores,
    map_at,
    mean_average_precision,
    precision_at,
    rank_curve,
)
from sketchhash.benchmark.radius import (
    BallScore,
    RadiusCurve,
    mean_radius_curve,
    pooled_radius_curve,
    precision_within,
)
from sketchhash.benchmark.tie_breaking import best_case, by_chance, worst_case
from sketchhash.benchmark.ties import TieGroups

DEPTH = 200
RADIUS = 2


@dataclass(frozen=True)
class RadiusScores:
    """What only binary codes have.

    Attributes:
        precision_within_2: Precision within Hamming radius 2, mean over queries, 0 for an empty ball (HD2).
        pooled_curve: Precision and recall by radius over the pooled pairs of all queries (micro).
        mean_curve: Precision and recall by radius, mean over queries (macro).
    """

    precision_within_2: BallScore
    pooled_curve: RadiusCurve
    mean_curve: RadiusCurve


@dataclass(frozen=True)
class Scores:
    """Every metric of one run; means are over the queries that have a relevant photo.

    Attributes:
        mean_average_precision: mAP@all, expected over all orders of tied photos: the number to compare by.
        seeded: mAP@all of one random order of tied photos, as papers report it.
        seed: The seed that drew this order.
        optimistic: mAP@all with the relevant photos of each tie first.
        pessimistic: mAP@all with the relevant photos of each tie last.
        precision_at_200: Expected hits among the first 200 ranks / 200.
        map_at_200: Expected average precision over the first 200 ranks, divided by min(relevant photos, 200).
        rank_curve: Precision at a grid of recalls along the ranking, mean over queries.
        categories: mAP@all of the queries of each label.
        radius: Metrics of Hamming balls; None for real-valued vectors.
    """

    mean_average_precision: Score
    seeded: Score
    seed: int
    optimistic: Score
    pessimistic: Score
    precision_at_200: Score
    map_at_200: Score
    rank_curve: RankCurve
    categories: tuple[CategoryScore, ...]
    radius: RadiusScores | None

    def to_json(self) -> str:
        """Write all numbers as JSON text, under the names of the attributes."""
        return json.dumps(asdict(self), indent=2, allow_nan=False)


def score(groups: TieGroups, seed: int = 0) -> Scores:
    """Compute every metric of a run; ``seed`` draws the order behind the `Scores.seeded` number alone."""
    return Scores(
        mean_average_precision=mean_average_precision(groups),
        seeded=mean_average_precision(by_chance(groups, np.random.default_rng(seed))),
        seed=seed,
        optimistic=mean_average_precision(best_case(groups)),
        pessimistic=mean_average_precision(worst_case(groups)),
        precision_at_200=precision_at(groups, DEPTH),
        map_at_200=map_at(groups, DEPTH),
        rank_curve=rank_curve(groups),
        categories=category_scores(groups),
        radius=None if groups.bits is None else _radius_scores(groups),
    )


def _radius_scores(groups: TieGroups) -> RadiusScores:
    return RadiusScores(precision_within(groups, RADIUS), pooled_radius_curve(groups), mean_radius_curve(groups))
