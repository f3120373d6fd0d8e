"""The numbers of a model in one setting.

Galleries keep codes, so the ranking by codes is what people get. Two others tell what the signs cost: *one-sided*
compares the real values of a sketch with the photos' codes, as re-ranking does; *cosine* compares real values with
real values, which no gallery keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.evaluation import labels
from sketchhash.benchmark.metrics import Score, mean_average_precision, precision_at
from sketchhash.benchmark.model_quality.confusion import places_taken
from sketchhash.benchmark.model_quality.encodings import Encodings, Medium
from sketchhash.benchmark.model_quality.settings import Kind, Setting
from sketchhash.benchmark.ranking import rank_codes, rank_cosine
from sketchhash.benchmark.scores import Scores, score
from sketchhash.benchmark.ties import TieGroups
from sketchhash.codes import pack, sign
from sketchhash.datasets.names import meaning

FIRST_PLACES = 10
_MISTAKES = 3


@dataclass(frozen=True)
class Mistake:
    """A category that takes a share of the first places from another."""

    category: str
    share: float


@dataclass(frozen=True)
class CategoryVerdict:
    """How well one category is found, and what is found instead of it, most often first."""

    category: str
    queries: int
    photos: int
    mean_average_precision: float
    precision_at_10: float
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True)
class Verdict:
    """A model in one setting.

    Attributes:
        kind: What the photos are to the model.
        sketches: The collection that asks.
        photos: The collection that is searched.
        queries: Sketches that asked.
        gallery: Photos that were searched.
        categories: Categories that were asked for.
        gallery_categories: Categories that the photos are of.
        unlearnt: Categories asked for that the model does not name among those it learnt.
        chance: Expected mAP of a ranking without sense: of a gallery where all is tied.
        relevant_share: Mean share of the gallery that is relevant: what P@k is by chance.
        codes: Every metric of the ranking by Hamming distance.
        precision_at_10: Expected hits among its first 10 ranks / 10.
        one_sided: mAP of real-valued sketches against the photos' codes.
        cosine: mAP of real values on both sides.
        by_category: From the best found to the worst.
    """

    kind: Kind
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
    precision_at_10: Score
    one_sided: Score
    cosine: Score
    by_category: tuple[CategoryVerdict, ...]


def judge(setting: Setting, encodings: Encodings, categories: Sequence[str]) -> Verdict | None:
    """Score a setting whose items are encoded; unreadable ones are left out, and None is given if all are."""
    gallery, photo_values = encodings.values(Medium.PHOTO, setting.gallery)
    searchable = {photo.label for photo in gallery}
    asking = [sketch for sketch in setting.queries if sketch.label in searchable]
    queries, sketch_values = encodings.values(Medium.SKETCH, asking)
    if not queries:
        return None
    learnt = {meaning(category) for category in encodings.model.manifest.categories}
    sides = labels(queries), labels(gallery)
    codes = rank_codes(pack(sketch_values), pack(photo_values), *sides)
    scores = score(codes)
    taken = places_taken(pack(sketch_values), pack(photo_values), *sides, FIRST_PLACES)
    return Verdict(
        kind=setting.kind,
        sketches=setting.sketches,
        photos=setting.photos,
        queries=len(queries),
        gallery=len(gallery),
        categories=len(np.unique(sides[0])),
        gallery_categories=len(searchable),
        unlearnt=len({meaning(categories[query.label]) for query in queries} - learnt),
        chance=mean_average_precision(_all_tied(codes)).value,
        relevant_share=float(codes.relevant_per_query.mean() / len(gallery)),
        codes=scores,
        precision_at_10=precision_at(codes, FIRST_PLACES),
        one_sided=mean_average_precision(rank_one_sided(sketch_values, photo_values, *sides)),
        cosine=mean_average_precision(rank_cosine(sketch_values, photo_values, *sides)),
        by_category=_by_category(scores, taken, sides[1], categories),
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


def _all_tied(groups: TieGroups) -> TieGroups:
    """Give the same queries and photos without any order."""
    queries = len(groups.labels)
    return replace(
        groups,
        sizes=np.full(queries, groups.gallery),
        relevant=groups.relevant_per_query,
        starts=np.arange(queries + 1),
        bits=None,
    )


def _by_category(
    scores: Scores, taken: NDArray[np.float64], photo_labels: NDArray[np.int64], categories: Sequence[str]
) -> tuple[CategoryVerdict, ...]:
    photos = Counter(photo_labels.tolist())
    verdicts = (
        CategoryVerdict(
            category=categories[found.label],
            queries=found.queries,
            photos=photos[found.label],
            mean_average_precision=found.value,
            precision_at_10=float(taken[found.label, found.label]),
            mistakes=_mistakes(taken[found.label], found.label, categories),
        )
        for found in scores.categories
    )
    return tuple(sorted(verdicts, key=lambda verdict: (-verdict.mean_average_precision, verdict.category)))


def _mistakes(shares: NDArray[np.float64], label: int, categories: Sequence[str]) -> tuple[Mistake, ...]:
    worst = [other for other in np.argsort(-shares, kind="stable").tolist() if other != label and shares[other] > 0]
    return tuple(Mistake(categories[other], float(shares[other])) for other in worst[:_MISTAKES])
