"""The numbers of a retrieval benchmark, exact in the presence of ties.

Hamming distances tie all the time. A sort would rank tied photos by their place in the gallery, and a gallery
sorted by category then rewards even constant codes. So each metric here is the expectation over all orders of
the tied photos, in closed form; `sketchhash.benchmark.tie_breaking` gives single orders to compare with.

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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.ties import TieGroups
from sketchhash.errors import BadArgument

RECALLS = tuple(step / 20 for step in range(21))


@dataclass(frozen=True)
class Score:
    """A mean over queries, and what it was taken over.

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


def precision_at(groups: TieGroups, depth: int) -> Score:
    """Give the relevant share of the first ranks: hits / depth, even where the gallery is smaller than that.

    Of a group that straddles the last rank, the relevant photos count by the share of the group that fits in.
    """
    answerable = groups.answerable()
    hits = answerable.per_query(answerable.relevant * _places(answerable, depth) / np.maximum(answerable.sizes, 1))
    return _score(groups, hits / depth, depth)


def category_scores(groups: TieGroups) -> tuple[CategoryScore, ...]:
    """Give the mean average precision of each query label, by label.

    A mean over all queries can hide that a method knows a few categories well and the others not at all.
    """
    answerable = groups.answerable()
    values = _average_precisions(answerable, groups.gallery)
    labels, category, queries = np.unique(answerable.labels, return_inverse=True, return_counts=True)
    means = np.bincount(category, values) / queries
    return tuple(map(CategoryScore, labels.tolist(), means.tolist(), queries.tolist()))


def rank_curve(groups: TieGroups, recalls: tuple[float, ...] = RECALLS) -> RankCurve:
    """Give the mean precision at each recall, without interpolation.

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


def _average_precisions(groups: TieGroups, depth: int) -> NDArray[np.float64]:
    """Give each query's expected average precision over the first ranks ``(queries,)``.

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
