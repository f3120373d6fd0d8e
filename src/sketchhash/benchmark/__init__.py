"""Compare methods: rank a gallery for many sketches, and say how good the rankings are.

`rank_codes` and its siblings reduce each ranking to its tie groups, which a run stores; `score` computes
every metric from those.
"""

from sketchhash.benchmark.encodings import rank_encodings
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
from sketchhash.benchmark.ranking import rank_codes, rank_cosine, rank_distances, rank_euclidean, rank_vectors
from sketchhash.benchmark.scores import RadiusScores, Scores, score
from sketchhash.benchmark.tie_breaking import best_case, by_chance, worst_case
from sketchhash.benchmark.ties import TieGroups

__all__ = [
    "BallScore",
    "CategoryScore",
    "RadiusCurve",
    "RadiusScores",
    "RankCurve",
    "Score",
    "Scores",
    "TieGroups",
    "best_case",
    "by_chance",
    "category_scores",
    "map_at",
    "mean_average_precision",
    "mean_radius_curve",
    "pooled_radius_curve",
    "precision_at",
    "precision_within",
    "rank_codes",
    "rank_cosine",
    "rank_curve",
    "rank_distances",
    "rank_encodings",
    "rank_euclidean",
    "rank_vectors",
    "score",
    "worst_case",
]
