"""The numbers that the paper reports, in one place: DSH in Tables 2 and 3, the costs of Table 2, and Table 4.

The quality of the compared methods is on their cards in `sketchhash.baselines`; `reported` looks up both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sketchhash.baselines import Card, Reported

BITS = (32, 64, 128)


@dataclass(frozen=True)
class PaperGallery:
    """A gallery of the paper, and its short name for tables."""

    name: str
    short: str
    photos: int


@dataclass(frozen=True)
class Cost:
    """Seconds to answer a query, and megabytes of 2**20 bytes that the gallery's encodings take."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Ablation:
    """A line of Table 4: what it leaves out, and its mAP at 128 bits on TU-Berlin Extension and on Sketchy."""

    name: str
    title: str
    mean_average_precision: tuple[float, float]


TU_BERLIN = PaperGallery("TU-Berlin Extension", "TU-Berlin", 204_489)
SKETCHY = PaperGallery("Sketchy", "Sketchy", 73_002)
GALLERIES = (TU_BERLIN, SKETCHY)

DSH: Mapping[PaperGallery, Reported] = {
    TU_BERLIN: Reported({32: 0.358, 64: 0.521, 128: 0.570}, {32: 0.486, 64: 0.655, 128: 0.694}),
    SKETCHY: Reported({32: 0.653, 64: 0.711, 128: 0.783}, {32: 0.797, 64: 0.858, 128: 0.866}),
}

# Table 2: DSH by the number of photos and bits.
DSH_COSTS: Mapping[tuple[int, int], Cost] = {
    (204_489, 32): Cost(5.57e-4, 0.78),
    (204_489, 64): Cost(7.03e-4, 1.56),
    (204_489, 128): Cost(1.05e-3, 3.12),
    (73_002, 32): Cost(2.55e-4, 0.28),
    (73_002, 64): Cost(2.82e-4, 0.56),
    (73_002, 128): Cost(3.53e-4, 1.11),
}

# Table 2: the other methods on TU-Berlin Extension and on Sketchy; encodings in double precision.
METHOD_COSTS: Mapping[str, tuple[Cost, Cost]] = {
    "hog": (Cost(1.43, 2020), Cost(0.53, 722)),
    "gf-hog": (Cost(4.13, 5460), Cost(1.41, 1950)),
    "shelo": (Cost(1.44, 2020), Cost(0.50, 722)),
    "lks": (Cost(1.51, 2110), Cost(0.56, 752)),
    "siamese-cnn": (Cost(7.70e-2, 99.8), Cost(2.76e-2, 35.4)),
    "sketch-a-net": (Cost(0.53, 798), Cost(0.21, 285)),
    "gn-triplet": (Cost(1.02, 1600), Cost(0.41, 570)),
    "3d-shape": (Cost(7.53e-2, 99.8), Cost(2.64e-2, 35.6)),
    "siamese-alexnet": (Cost(5.35, 6390), Cost(1.68, 2280)),
    "triplet-alexnet": (Cost(5.35, 6390), Cost(1.68, 2280)),
}

FULL = Ablation("full", "Our proposed full DSH model", (0.570, 0.783))
ABLATIONS = (
    Ablation("without-tokens", "C2-Net (Top) + C1-Net (Bottom) only", (0.497, 0.682)),
    Ablation("without-photos", "C2-Net (Top) + C2-Net (Middle) only", (0.379, 0.507)),
    Ablation("pairwise-only", "Using Cross-view Pairwise Loss only", (0.522, 0.715)),
    Ablation("semantic-only", "Using Semantic Factorization Loss only", (0.485, 0.667)),
)


def reported(card: Card | None) -> dict[PaperGallery, Reported | None]:
    """Return the paper's quality of a method, or of DSH without a card, on both galleries."""
    if card is None:
        return dict(DSH)
    return {TU_BERLIN: card.tuberlin, SKETCHY: card.sketchy}


def cost(method: str, size: int, gallery: PaperGallery) -> Cost | None:
    """Return the paper's cost of a method of Table 2, or None for others."""
    if method == "dsh":
        return DSH_COSTS.get((gallery.photos, size))
    return METHOD_COSTS[method][GALLERIES.index(gallery)] if method in METHOD_COSTS else None
