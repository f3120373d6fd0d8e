"""The cards of cross-view feature learning, with the numbers of the paper's Table 3."""

from __future__ import annotations

from sketchhash.baselines.hashing.cards import PAIRS, RIDGE, STANDARDISED
from sketchhash.baselines.method import Card, Distance, Kind, Reported, Sees

FIXED = "As wide as the photo features, whatever they are; the paper's had 4096 dimensions."

CARDS: tuple[Card, ...] = (
    Card(
        name="cca",
        title="CCA",
        kind=Kind.CROSSVIEW,
        paper="Thompson. Canonical correlation analysis. Encyclopedia of statistics in behavioral science",
        year=2005,
        sees=Sees.FEATURES,
        distance=Distance.COSINE,
        implementation="crossview.cca:CanonicalCorrelation",
        choices=(STANDARDISED, PAIRS, RIDGE, "Directions are not weighted by their correlations.", "Cosine distance."),
        tuberlin=Reported({32: 0.276, 64: 0.366, 128: 0.365}, {32: 0.333, 64: 0.482, 128: 0.536}),
        sketchy=Reported({32: 0.361, 64: 0.555, 128: 0.705}, {32: 0.379, 64: 0.610, 128: 0.775}),
    ),
    Card(
        name="xqda",
        title="XQDA",
        kind=Kind.CROSSVIEW,
        paper="Liao, Hu, Zhu, Li. Person re-identification by local maximal occurrence representation and metric "
        "learning. CVPR",
        year=2015,
        sees=Sees.FEATURES,
        distance=Distance.INNER_PRODUCT,
        implementation="crossview.xqda:CrossViewQuadratic",
        choices=(
            "Features are standardised by the training data.",
            "Each view reduced to 512 principal axes of its own, to have one space.",
            "All training pairs, of one category and of two, in closed form rather than 100,000.",
            "0.001 added to the variances of differences within a category.",
        ),
        tuberlin=Reported({32: 0.191, 64: 0.197, 128: 0.201}, {32: 0.263, 64: 0.278, 128: 0.278}),
        sketchy=Reported({32: 0.460, 64: 0.557, 128: 0.550}, {32: 0.607, 64: 0.715, 128: 0.727}),
    ),
    Card(
        name="plsr",
        title="PLSR",
        kind=Kind.CROSSVIEW,
        paper="Wold. Partial least squares. Encyclopedia of statistical sciences",
        year=1985,
        sees=Sees.FEATURES,
        distance=Distance.COSINE,
        implementation="crossview.plsr:PartialLeastSquares",
        choices=(STANDARDISED, PAIRS, FIXED, "128 components.", "Cosine distance."),
        tuberlin=Reported({4096: 0.141}, {4096: 0.215}),
        sketchy=Reported({4096: 0.462}, {4096: 0.623}),
        sizes=(4096,),
    ),
    Card(
        name="cvfl",
        title="CVFL",
        kind=Kind.CROSSVIEW,
        paper="Xie, Peng, Xiao. Cross-view feature learning for scalable social image analysis. AAAI",
        year=2014,
        sees=Sees.FEATURES,
        distance=Distance.COSINE,
        implementation="crossview.cvfl:CrossViewFeatureLearning",
        choices=(
            STANDARDISED,
            PAIRS,
            FIXED,
            "λ = β = 0.1 per pair.",
            "Affinity: positive correlations of photo features, the 10 largest of each.",
            "Cosine distance.",
        ),
        tuberlin=Reported({4096: 0.289}, {4096: 0.407}),
        sketchy=Reported({4096: 0.675}, {4096: 0.803}),
        sizes=(4096,),
    ),
)
