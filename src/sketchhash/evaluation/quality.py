"""The quality of a model in one setting: metrics, chance, and what is found instead of each category.

Galleries store codes, so the ranking by codes is what users get. Two other rankings tell what the signs cost:
*one-sided* compares the real values of a sketch with the photos' codes, as re-ranking does; *cosine* compares real
values with real values, which no gallery stores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack, sign
from sketchhash.datasets.names import meaning
from sketchhash.evaluation.encodings import Encodings, Medium
from sketchhash.evaluation.metrics import (
    Interval,
    Score,
    Scores,
    average_precisions,
    bootstrap_interval,
    mean_average_precision,
    precision_at,
    score,
)
from sketchhash.evaluation.ranking import CODES_AT_ONCE, LabelArray, labels, rank_codes, rank_cosine
from sketchhash.evaluation.settings import Setting, SettingKind
from sketchhash.evaluation.ties import TieGroups, unordered

FIRST_RANKS = 10
_MISTAKES = 3
_BOOTSTRAP_SEED = 0


@dataclass(frozen=True)
class Mistake:
    """A category that takes a share of the first ranks from another."""

    category: str
    share: float


@dataclass(frozen=True)
class CategoryQuality:
    """How well one category is found, and what is found instead of it, most frequent first."""

    category: str
    queries: int
    photos: int
    mean_average_precision: float
    precision_at_10: float
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True)
class SettingQuality:
    """The quality of a model in one setting.

    Attributes:
        kind: Which photos are searched.
        sketches: The collection of the query sketches.
        photos: The collection of the photos.
        queries: Number of query sketches.
        gallery: Number of photos.
        categories: Number of categories among the queries.
        gallery_categories: Number of categories among the photos.
        unlearnt: Categories among the queries that the model was not trained on.
        chance: Expected mAP of a random ranking.
        relevant_share: Mean share of the gallery that is relevant: P@k of a random ranking.
        codes: Every metric of the ranking by Hamming distance.
        interval: Where mAP of those codes lies with 95 % confidence, by resampling the queries.
        precision_at_10: Expected hits among its first 10 ranks / 10.
        one_sided: mAP of real-valued sketches against the photos' codes.
        cosine: mAP of real values on both sides.
        by_category: From the best found category to the worst.
    """

    kind: SettingKind
    sketches: str
    photos: str
    queries: int
    gallery: int
    categories: int
    gallery_categories: int
    unlearnt: int
    chance: float
    relevant_share: float
    codes: Scores
    interval: Interval
    precision_at_10: Score
    one_sided: Score
    cosine: Score
    by_category: tuple[CategoryQuality, ...]


def score_setting(setting: Setting, encodings: Encodings, categories: Sequence[str]) -> SettingQuality | None:
    """Score a setting whose items are encoded; items without values are left out, and None is returned if all are."""
    gallery, photo_values = encodings.values(Medium.PHOTO, setting.gallery)
    searchable = {photo.label for photo in gallery}
    answerable = [sketch for sketch in setting.queries if sketch.label in searchable]
    queries, sketch_values = encodings.values(Medium.SKETCH, answerable)
    if not queries:
        return None
    trained = {meaning(category) for category in encodings.model.manifest.categories}
    sides = labels(queries), labels(gallery)
    codes = rank_codes(pack(sketch_values), pack(photo_values), *sides)
    scores = score(codes)
    shares = rank_shares(pack(sketch_values), pack(photo_values), *sides, FIRST_RANKS)
    return SettingQuality(
        kind=setting.kind,
        sketches=setting.sketches,
        photos=setting.photos,
        queries=len(queries),
        gallery=len(gallery),
        categories=len(np.unique(sides[0])),
        gallery_categories=len(searchable),
        unlearnt=len({meaning(categories[query.label]) for query in queries} - trained),
        chance=mean_average_precision(unordered(codes)).value,
        relevant_share=float(codes.relevant_per_query.mean() / len(gallery)),
        codes=scores,
        interval=bootstrap_interval(average_precisions(codes), np.random.default_rng(_BOOTSTRAP_SEED)),
        precision_at_10=precision_at(codes, FIRST_RANKS),
        one_sided=mean_average_precision(rank_one_sided(sketch_values, photo_values, *sides)),
        cosine=mean_average_precision(rank_cosine(sketch_values, photo_values, *sides)),
        by_category=_by_category(scores, shares, sides[1], categories),
    )


def rank_one_sided(
    sketches: NDArray[np.float32],
    photos: NDArray[np.float32],
    sketch_labels: NDArray[np.int64],
    photo_labels: NDArray[np.int64],
) -> TieGroups:
    """Rank photos by the product of their signs with each sketch's real values, larger first.

    All rows of signs are equally long, so the cosine orders them as the product does.
    """
    return rank_cosine(sketches, sign(photos).astype(np.float32), sketch_labels, photo_labels)


def rank_shares(
    queries: NDArray[np.uint8],
    gallery: NDArray[np.uint8],
    query_labels: LabelArray,
    gallery_labels: LabelArray,
    depth: int,
) -> NDArray[np.float64]:
    """Return the mean share of the first ``depth`` ranks that category d takes for queries of c: row c, column d.

    Codes are packed. Ranks within a tie are expected ones, as in `sketchhash.evaluation.metrics`: of photos at the
    distance where the ranks end, each counts by the share of them that still fits. Rows of categories without a query
    are zero; the others sum to one, or less if the gallery is smaller than ``depth``.
    """
    bits = gallery.shape[1] * 8
    categories = 1 + int(max(query_labels.max(), gallery_labels.max()))
    taken = np.zeros((categories, categories))
    for start in range(0, len(queries), CODES_AT_ONCE):
        for query, distances in enumerate(hamming(queries[start : start + CODES_AT_ONCE], gallery), start):
            sizes = np.bincount(distances, minlength=bits + 1)
            nearer = np.cumsum(sizes) - sizes
            fitting = np.clip(depth - nearer, 0, sizes) / np.maximum(sizes, 1)
            taken[query_labels[query]] += np.bincount(gallery_labels, fitting[distances], categories) / depth
    asked = np.bincount(query_labels, minlength=categories)
    shares: NDArray[np.float64] = taken / np.maximum(asked, 1)[:, None]
    return shares


def _by_category(
    scores: Scores, shares: NDArray[np.float64], photo_labels: NDArray[np.int64], categories: Sequence[str]
) -> tuple[CategoryQuality, ...]:
    photos = Counter(photo_labels.tolist())
    found = (
        CategoryQuality(
            category=categories[each.label],
            queries=each.queries,
            photos=photos[each.label],
            mean_average_precision=each.value,
            precision_at_10=float(shares[each.label, each.label]),
            mistakes=_mistakes(shares[each.label], each.label, categories),
        )
        for each in scores.categories
    )
    return tuple(sorted(found, key=lambda quality: (-quality.mean_average_precision, quality.category)))


def _mistakes(shares: NDArray[np.float64], label: int, categories: Sequence[str]) -> tuple[Mistake, ...]:
    worst = [other for other in np.argsort(-shares, kind="stable").tolist() if other != label and shares[other] > 0]
    return tuple(Mistake(categories[other], float(shares[other])) for other in worst[:_MISTAKES])
