"""What the paper reports and no method's card holds: DSH itself, the costs of Table 2, and Table 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sketchhash.baselines import Reported
from sketchhash.benchmark.search_speed.report import PAPER as DSH_COSTS


@dataclass(frozen=True)
class Gallery:
    """A gallery of the paper, and its name where there is little room."""

    name: str
    short: str
    photos: int


@dataclass(frozen=True)
class Cost:
    """Seconds to answer a query, and megabytes of 2**20 bytes that the gallery's encodings take."""

    seconds: float
    megabytes: float


TU_BERLIN = Gallery("TU-Berlin Extension", "TU-Berlin", 204_489)
SKETCHY = Gallery("Sketchy", "Sketchy", 73_002)
GALLERIES = (TU_BERLIN, SKETCHY)

DSH: Mapping[Gallery, Reported] = {
    TU_BERLIN: Reported({32: 0.358, 64: 0.521, 128: 0.570}, {32: 0.486, 64: 0.655, 128: 0.694}),
    SKETCHY: Reported({32: 0.653, 64: 0.711, 128: 0.783}, {32: 0.797, 64: 0.858, 128: 0.866}),
}

# Table 2, on the 204,489 photos of TU-Berlin Extension and on the 73,002 of Sketchy; encodings in double precision.
_COSTS: Mapping[str, tuple[Cost, Cost]] = {
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


@dataclass(frozen=True)
class Component:
    """A line of Table 4: what it leaves out, and its mAP at 128 bits on TU-Berlin Extension and on Sketchy."""

    name: str
    title: str
    mean_average_precision: tuple[float, float]


FULL = Component("full", "Our proposed full DSH model", (0.570, 0.783))
ABLATIONS = (
    Component("without-tokens", "C2-Net (Top) + C1-Net (Bottom) only", (0.497, 0.682)),
    Component("without-photos", "C2-Net (Top) + C2-Net (Middle) only", (0.379, 0.507)),
    Component("pairwise-only", "Using Cross-view Pairwise Loss only", (0.522, 0.715)),
    Component("semantic-only", "Using Semantic Factorization Loss only", (0.485, 0.667)),
)


def cost(method: str, size: int, gallery: Gallery) -> Cost | None:
    """Look up what the paper says a method of Table 2 costs."""
    if method == "dsh":
        found = DSH_COSTS.get((gallery.photos, size))
        return Cost(*found) if found else None
    return _COSTS[method][GALLERIES.index(gallery)] if method in _COSTS else None
