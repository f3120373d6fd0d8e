"""The cards of cross-modality hashing, with the numbers of the paper's Table 3, and of the plain floor."""

from __future__ import annotations

from sketchhash.baselines.method import Card, Distance, Kind, Reported, Sees

STANDARDISED = "Features are standardised by the training pairs."
PAIRS = "100,000 pairs (section 4.1), shared evenly by the categories; drawn with replacement."
RIDGE = "A ridge of 0.1 on the covariances of standardised features; the paper gives none."
_BITS = (32, 64, 128)


def _reported(mean_average_precision: tuple[float, ...], precision_at_200: tuple[float, ...]) -> Reported:
    return Reported(
        dict(zip(_BITS, mean_average_precision, strict=True)), dict(zip(_BITS, precision_at_200, strict=True))
    )


CARDS: tuple[Card, ...] = (
    Card(
        name="cmfh",
        title="CMFH",
        kind=Kind.HASHING,
        paper="Ding, Guo, Zhou. Collective matrix factorization hashing for multimodal data. CVPR",
        year=2014,
        sees=Sees.FEATURES,
        distance=Distance.HAMMING,
        implementation="hashing.cmfh:CollectiveFactorisation",
        choices=(
            STANDARDISED,
            PAIRS,
            "λ = 0.5, μ = 100, γ = 0.01 and 100 iterations.",
            "The shared factor starts as a random combination of the features.",
        ),
        tuberlin=_reported((0.149, 0.202, 0.180), (0.168, 0.282, 0.241)),
        sketchy=_reported((0.320, 0.490, 0.190), (0.489, 0.657, 0.286)),
    ),
    Card(
        name="cmssh",
        title="CMSSH",
        kind=Kind.HASHING,
        paper="Bronstein, Bronstein, Michel, Paragios. Data fusion through cross-modality metric learning using "
        "similarity-sensitive hashing. CVPR",
        year=2010,
        sees=Sees.FEATURES,
        distance=Distance.HAMMING,
        implementation="hashing.cmssh:SimilaritySensitiveHashing",
        choices=(
            STANDARDISED,
            PAIRS,
            "As many dissimilar pairs as similar ones.",
            "Features reduced to 256 principal axes.",
            "Both thresholds of a bit searched together on 64 × 64 quantiles.",
            "Plain Hamming distance, without the weights of the bits.",
        ),
        tuberlin=_reported((0.121, 0.183, 0.175), (0.143, 0.261, 0.233)),
        sketchy=_reported((0.206, 0.211, 0.211), (0.371, 0.376, 0.375)),
    ),
    Card(
        name="scm-seq",
        title="SCM-Seq",
        kind=Kind.HASHING,
        paper="Zhang, Li. Large-scale supervised multimodal hashing with semantic correlation maximization. AAAI",
        year=2014,
        sees=Sees.FEATURES,
        distance=Distance.HAMMING,
        implementation="hashing.scm:SequentialCorrelation",
        choices=(STANDARDISED, PAIRS, RIDGE),
        tuberlin=_reported((0.211, 0.276, 0.332), (0.298, 0.372, 0.454)),
        sketchy=_reported((0.306, 0.417, 0.671), (0.442, 0.529, 0.758)),
    ),
    Card(
        name="scm-orth",
        title="SCM-Orth",
        kind=Kind.HASHING,
        paper="Zhang, Li. Large-scale supervised multimodal hashing with semantic correlation maximization. AAAI",
        year=2014,
        sees=Sees.FEATURES,
        distance=Distance.HAMMING,
        implementation="hashing.scm:OrthogonalCorrelation",
        choices=(
            STANDARDISED,
            PAIRS,
            RIDGE,
            "Bits beyond (categories − 1), which the labels leave open, by correlation of the pairs.",
        ),
        tuberlin=_reported((0.217, 0.301, 0.263), (0.312, 0.420, 0.470)),
        sketchy=_reported((0.346, 0.536, 0.616), (0.467, 0.650, 0.776)),
    ),
    Card(
        name="cvh",
        title="CVH",
        kind=Kind.HASHING,
        paper="Kumar, Udupa. Learning hash functions for cross-view similarity search. IJCAI",
        year=2011,
        sees=Sees.FEATURES,
        distance=Distance.HAMMING,
        implementation="hashing.cvh:CrossViewHashing",
        choices=(STANDARDISED, PAIRS, RIDGE),
        tuberlin=_reported((0.214, 0.294, 0.318), (0.305, 0.411, 0.449)),
        sketchy=_reported((0.325, 0.525, 0.624), (0.459, 0.641, 0.773)),
    ),
    Card(
        name="seph",
        title="SePH",
        kind=Kind.HASHING,
        paper="Lin, Ding, Hu, Wang. Semantics-preserving hashing for cross-view retrieval. CVPR",
        year=2015,
        sees=Sees.FEATURES,
        distance=Distance.HAMMING,
        implementation="hashing.seph:SemanticsPreservingHashing",
        choices=(
            "Features are standardised by the training data.",
            "Pairs of a category start equal and so stay equal, which makes n² terms categories²; n is 5,000.",
            "α = 0.01; 500 landmarks by k-means (20 iterations); λ = 0.01; 200 steps of L-BFGS for all bits together.",
            "The regressions learn from every training photo and sketch once.",
        ),
        tuberlin=_reported((0.198, 0.270, 0.282), (0.307, 0.380, 0.398)),
        sketchy=_reported((0.534, 0.607, 0.640), (0.694, 0.741, 0.768)),
    ),
    Card(
        name="class-codes",
        title="Ridge to random class codes",
        kind=Kind.HASHING,
        paper="Dietterich, Bakiri. Solving multiclass learning problems via error-correcting output codes. JAIR",
        year=1995,
        sees=Sees.FEATURES,
        distance=Distance.HAMMING,
        implementation="class_codes:ClassCodes",
        choices=("Not in the paper: the plain floor.", "A ridge of 0.1 per sample on standardised features."),
    ),
)
