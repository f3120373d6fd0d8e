"""Retrieval metrics that are exact in the presence of ties.

Hamming distances tie all the time. A sort would rank tied photos by their place in the gallery, and a gallery
sorted by category then rewards even constant codes. So each metric here is the expectation over all orders of
the tied photos, in closed form; `sketchhash.evaluation.ties` returns single orders to compare with. Metrics within a
Hamming radius know no ties: a ball holds all photos at a distance or none.

Every mean runs over the queries that have a relevant photo in the gallery. The others have no right answer:
they are skipped, and counted.

    symbol   variable            meaning, for one query
    n_d      sizes               photos at distance d
    p_d      relevant            relevant ones among them
    N_0      nearer              photos nearer than d
    P_0      nearer_relevant     relevant photos nearer than d
    R        relevant_per_query  relevant photos in the gallery
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.evaluation.ties import Counts, TieGroups, best_case, by_chance, worst_case

RECALLS = tuple(step / 20 for step in range(21))
DEPTH = 200
RADIUS = 2


@dataclass(frozen=True)
class Score:
    """A mean over queries.

    Attributes:
        value: The mean, from 0 to 1.
        depth: How many of the first ranks counted.
        gallery: Photos in the gallery.
        queries: Queries in the mean: those with a relevant photo in the gallery.
        skipped: Queries without one.
    """

    value: float
    depth: int
    gallery: int
    queries: int
    skipped: int

    @property
    def is_short(self) -> bool:
        """Whether the gallery has fewer photos than the ranks asked for."""
        return self.gallery < self.depth


@dataclass(frozen=True)
class Interval:
    """A confidence interval of 95 %."""

    low: float
    high: float


@dataclass(frozen=True)
class CategoryScore:
    """Mean average precision over the queries of one label."""

    label: int
    value: float
    queries: int


@dataclass(frozen=True)
class RankCurve:
    """Mean precision of the shortest rankings that reach each recall."""

    recall: tuple[float, ...]
    precision: tuple[float, ...]


def mean_average_precision(groups: TieGroups) -> Score:
    """Average the precision at each relevant photo over the whole ranking, then over queries (mAP@all).

    >>> order = TieGroups(np.array([1, 2]), np.array([1, 1]), np.array([0, 2]), np.array([0]))
    >>> round(mean_average_precision(order).value, 4)  # (1 + the mean of 2/2 and 2/3) / 2
    0.9167
    """
    return map_at(groups, groups.gallery)


def map_at(groups: TieGroups, depth: int) -> Score:
    """Average the precision at the relevant photos among the first ranks, divided by min(R, depth).

    Dividing by the hits found, as some public code does, would reward a ranking for finding fewer.
    """
    return _score(groups, _average_precisions(groups.answerable(), depth), depth)


def average_precisions(groups: TieGroups) -> NDArray[np.float64]:
    """Return the expected average precision over the whole ranking of each answerable query ``(queries,)``."""
    return _average_precisions(groups.answerable(), groups.gallery)


def bootstrap_interval(values: NDArray[np.float64], rng: np.random.Generator, resamples: int = 1000) -> Interval:
    """Return the central 95 % of the means of resampled queries: how far chance alone moves a mean.

    >>> bootstrap_interval(np.ones(5), np.random.default_rng(0))
    Interval(low=1.0, high=1.0)
    """
    means = values[rng.integers(len(values), size=(resamples, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975)).tolist()
    return Interval(low, high)


def precision_at(groups: TieGroups, depth: int) -> Score:
    """Return the relevant share of the first ranks: hits / depth, even where the gallery is smaller than that.

    Of a group that straddles the last rank, the relevant photos count by the share of the group that fits in.
    """
    answerable = groups.answerable()
    hits = answerable.per_query(answerable.relevant * _places(answerable, depth) / np.maximum(answerable.sizes, 1))
    return _score(groups, hits / depth, depth)


def category_scores(groups: TieGroups) -> tuple[CategoryScore, ...]:
    """Return the mean average precision of each query label, by label.

    A mean over all queries can hide that a method knows a few categories well and the others not at all.
    """
    answerable = groups.answerable()
    values = _average_precisions(answerable, groups.gallery)
    labels, category, queries = np.unique(answerable.labels, return_inverse=True, return_counts=True)
    means = np.bincount(category, values) / queries
    return tuple(map(CategoryScore, labels.tolist(), means.tolist(), queries.tolist()))


def rank_curve(groups: TieGroups, recalls: tuple[float, ...] = RECALLS) -> RankCurve:
    """Return the mean precision at each recall, without interpolation.

    A recall r asks for t = ⌈r·R⌉ relevant photos, at least one. Inside a group, hits are expected at an even
    pace, so t of them are reached at rank N_0 + n_d (t - P_0) / p_d, and the precision is t over that rank.
    """
    answerable = groups.answerable()
    relevant, total = answerable.relevant, answerable.relevant_per_query
    # The margin keeps a product such as 0.55 · 100 = 55.00000000000001 from asking for one photo more.
    wanted = np.maximum(np.ceil(np.outer(recalls, total) - 1e-9), 1)
    before_query = np.cumsum(total) - total
    group = np.searchsorted(np.cumsum(relevant), before_query + wanted)
    missing = wanted - answerable.before(relevant)[group]
    ranks = answerable.before(answerable.sizes)[group] + answerable.sizes[group] * missing / relevant[group]
    return RankCurve(recalls, tuple((wanted / ranks).mean(axis=1).tolist()))


@dataclass(frozen=True)
class BallScore:
    """Precision within a Hamming radius, and how many balls are empty: with long codes most are.

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
    """Return the mean relevant share of the photos within a radius (HD2 is radius 2)."""
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


@dataclass(frozen=True)
class RadiusScores:
    """Metrics that only binary codes have.

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
    """Every metric of one ranking; means are over the queries that have a relevant photo.

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
        """Return all numbers as JSON, under the names of the attributes."""
        return json.dumps(asdict(self), indent=2, allow_nan=False)


def score(groups: TieGroups, seed: int = 0) -> Scores:
    """Compute every metric of a ranking; ``seed`` only draws the order behind `Scores.seeded`."""
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


def _average_precisions(groups: TieGroups, depth: int) -> NDArray[np.float64]:
    """Return each query's expected average precision over the first ranks ``(queries,)``.

    The photo at place j of a group is relevant with probability p_d / n_d. If it is, P_0 + 1 relevant photos
    and (j-1)(p_d-1)/(n_d-1) more of its own group are expected up to its rank N_0 + j:

        AP = 1/min(R, depth) Σ_d p_d/n_d Σ_j [P_0 + 1 + (j-1)(p_d-1)/(n_d-1)] / (N_0 + j)

    With j-1 = (N_0+j) - (N_0+1) the inner sum needs only the harmonic numbers at both ends of the group, so
    the cost is one step a group, not one a photo.
    """
    sizes, relevant = groups.sizes, groups.relevant
    nearer, nearer_relevant = groups.before(sizes), groups.before(relevant)
    places = _places(groups, depth)

    slope = (relevant - 1) / np.maximum(sizes - 1, 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, groups.gallery + 1))])
    reciprocals = harmonic[nearer + places] - harmonic[nearer]
    precisions = (nearer_relevant + 1 - slope * (nearer + 1)) * reciprocals + slope * places

    expected = groups.per_query(relevant / np.maximum(sizes, 1) * precisions)
    return np.asarray(expected / np.minimum(groups.relevant_per_query, depth))


def _places(groups: TieGroups, depth: int) -> NDArray[np.int64]:
    """Count the photos of each group that lie within the first ranks ``(groups,)``."""
    if depth < 1:
        raise BadArgument(f"The first {depth} ranks hold no photo: ask for at least one.")
    return np.clip(depth - groups.before(groups.sizes), 0, groups.sizes)


def _score(groups: TieGroups, values: NDArray[np.float64], depth: int) -> Score:
    return Score(float(values.mean()), depth, groups.gallery, len(values), len(groups.labels) - len(values))


def _balls(groups: TieGroups) -> tuple[Counts, Counts]:
    """Count photos and relevant photos within every radius, each ``(queries, bits + 1)``."""
    if groups.bits is None:
        raise BadArgument("Only rankings of binary codes have Hamming radii: rank packed codes with rank_codes.")
    answerable = groups.answerable()
    shape = len(answerable.labels), groups.bits + 1
    return answerable.sizes.reshape(shape).cumsum(axis=1), answerable.relevant.reshape(shape).cumsum(axis=1)


def _curve(radii: Counts, precision: NDArray[np.float64], recall: NDArray[np.float64]) -> RadiusCurve:
    return RadiusCurve(tuple(radii.tolist()), tuple(precision.tolist()), tuple(recall.tolist()))


def _radius_scores(groups: TieGroups) -> RadiusScores:
    return RadiusScores(precision_within(groups, RADIUS), pooled_radius_curve(groups), mean_radius_curve(groups))
