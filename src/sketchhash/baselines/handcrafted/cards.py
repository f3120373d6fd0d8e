"""The cards of the hand-crafted methods, with the numbers of the paper's Table 2."""

from __future__ import annotations

from sketchhash.baselines.method import Card, Distance, Kind, Reported, Sees

EDGES = "Canny's edges at a longest side of 200 pixels, selected as sketch tokens are: 60 % of the highest score."
SQUEEZED = "Edges squeezed to a square and drawn by the pen of the sketches."

CARDS: tuple[Card, ...] = (
    Card(
        name="hog",
        title="HOG",
        kind=Kind.HANDCRAFTED,
        paper="Dalal, Triggs. Histograms of oriented gradients for human detection. CVPR",
        year=2005,
        sees=Sees.PICTURES,
        distance=Distance.COSINE,
        implementation="handcrafted.hog:HOG",
        choices=(
            EDGES,
            SQUEEZED,
            "6 × 6 overlapping blocks of 2 × 2 cells and 9 directions, inferred from the 1296 dimensions.",
            "Cosine distance.",
        ),
        tuberlin=Reported({1296: 0.091}, {1296: 0.120}),
        sketchy=Reported({1296: 0.115}, {1296: 0.159}),
        sizes=(1296,),
    ),
    Card(
        name="gf-hog",
        title="GF-HOG",
        kind=Kind.HANDCRAFTED,
        paper="Hu, Barnard, Collomosse. Gradient field descriptor for sketch based retrieval and localization. ICIP",
        year=2010,
        sees=Sees.PICTURES,
        distance=Distance.INTERSECTION,
        implementation="handcrafted.gf_hog:GFHOG",
        choices=(
            EDGES,
            "At most 500 edge pixels of a picture are described, at up to three scales each.",
            "Words learned from 2,000 photos and 50 descriptors a word, by mini-batch k-means.",
            "Histogram intersection.",
        ),
        tuberlin=Reported({3500: 0.119}, {3500: 0.148}),
        sketchy=Reported({3500: 0.157}, {3500: 0.177}),
        sizes=(3500,),
    ),
    Card(
        name="shelo",
        title="SHELO",
        kind=Kind.HANDCRAFTED,
        paper="Saavedra. Sketch based image retrieval using a soft computation of HELO (S-HELO). ICIP",
        year=2014,
        sees=Sees.PICTURES,
        distance=Distance.COSINE,
        implementation="handcrafted.shelo:SHELO",
        choices=(
            EDGES,
            SQUEEZED,
            "Each block's histogram sums to one before its root is taken.",
            "Cells with less than a tenth of the strongest cell's gradient do not vote.",
            "Cosine distance.",
        ),
        tuberlin=Reported({1296: 0.123}, {1296: 0.155}),
        sketchy=Reported({1296: 0.161}, {1296: 0.182}),
        sizes=(1296,),
    ),
    Card(
        name="lks",
        title="LKS",
        kind=Kind.HANDCRAFTED,
        paper="Saavedra, Barrios. Sketch based image retrieval using learned keyshapes (LKS). BMVC",
        year=2015,
        sees=Sees.PICTURES,
        distance=Distance.COSINE,
        implementation="handcrafted.lks:LKS",
        choices=(
            "Sketch tokens of the package's own forest, squeezed to a square and drawn by the pen of the sketches.",
            "Keyshapes learned from the training sketches, 1,000 descriptors each, by mini-batch k-means.",
            "500 stroke points of a picture vote, each for its 4 nearest keyshapes.",
            "Roots of votes compared by cosine, which ranks as the Hellinger distance does.",
        ),
        tuberlin=Reported({1350: 0.157}, {1350: 0.204}),
        sketchy=Reported({1350: 0.190}, {1350: 0.230}),
        sizes=(1350,),
    ),
)
