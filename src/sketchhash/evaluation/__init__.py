"""Measure how well photos are found: tie-aware metrics, rankings, and the quality of a model folder.

    rank_codes, rank_cosine ... ──► TieGroups ──► score ──► Scores
    datasets, split ──► EvaluationData ──► settings ──┐
    model folder ──► Encodings (cached) ──────────────┴──► score_setting ──► ModelEvaluation

    model folder, datasets ──► gather_material ──► fit_calibration ──► measure_sureness ──► Sureness

`evaluate` does all of the second and third line. `sketchhash.evaluation.contours` scores detectors of contours.
"""

from sketchhash.evaluation.calibrating import calibrate_export, fit_calibration
from sketchhash.evaluation.encodings import Encodings, Medium
from sketchhash.evaluation.metrics import (
    BallScore,
    CategoryScore,
    RadiusCurve,
    RadiusScores,
    RankCurve,
    Score,
    Scores,
    category_scores,
    map_at,
    mean_average_precision,
    mean_radius_curve,
    pooled_radius_curve,
    precision_at,
    precision_within,
    rank_curve,
    score,
)
from sketchhash.evaluation.models import ModelEvaluation, evaluate
from sketchhash.evaluation.quality import CategoryQuality, SettingQuality, score_setting
from sketchhash.evaluation.ranking import (
    Encoder,
    card_scores,
    labels,
    rank_codes,
    rank_cosine,
    rank_distances,
    rank_euclidean,
    rank_partition,
    rank_vectors,
)
from sketchhash.evaluation.settings import EvaluationData, PhotoLimit, Setting, SettingKind
from sketchhash.evaluation.sureness import Sureness, measure_sureness
from sketchhash.evaluation.ties import TieGroups, best_case, by_chance, unordered, worst_case
from sketchhash.evaluation.trials import Material, gather_material

__all__ = [
    "BallScore",
    "CategoryQuality",
    "CategoryScore",
    "Encoder",
    "Encodings",
    "EvaluationData",
    "Material",
    "Medium",
    "ModelEvaluation",
    "PhotoLimit",
    "RadiusCurve",
    "RadiusScores",
    "RankCurve",
    "Score",
    "Scores",
    "Setting",
    "SettingKind",
    "SettingQuality",
    "Sureness",
    "TieGroups",
    "best_case",
    "by_chance",
    "calibrate_export",
    "card_scores",
    "category_scores",
    "evaluate",
    "fit_calibration",
    "gather_material",
    "labels",
    "map_at",
    "mean_average_precision",
    "mean_radius_curve",
    "measure_sureness",
    "pooled_radius_curve",
    "precision_at",
    "precision_within",
    "rank_codes",
    "rank_cosine",
    "rank_curve",
    "rank_distances",
    "rank_euclidean",
    "rank_partition",
    "rank_vectors",
    "score",
    "score_setting",
    "unordered",
    "worst_case",
]
