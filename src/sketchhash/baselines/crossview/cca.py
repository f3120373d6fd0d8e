"""Canonical correlation analysis.

Hotelling. Relations between two sets of variates. Biometrika 1936; Thompson. Canonical correlation analysis. 2005.

| symbol           | here                                             |
|------------------|--------------------------------------------------|
| X, Y             | paired photo and sketch features, standardised   |
| Σ_xx, Σ_yy, Σ_xy | ``Covariances``, with a ridge on the first two   |
| U, V             | the weights of both projections                  |
| ρ                | ``correlations``                                 |

    max tr(UᵀΣ_xyV)  subject to  UᵀΣ_xxU = VᵀΣ_yyV = I

Where we differ: we add a ridge, because 1,280 features of a few thousand photos overfit without one. The projections
are not weighted by their correlations. They are compared by cosine; their signs are the codes of `CrossViewHashing`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from sketchhash.baselines.linear import (
    DRAWN_PAIRS,
    OTHER_FEATURES,
    PAIRS,
    RIDGE,
    STANDARDISED,
    LinearMethod,
    Pairs,
    Projection,
    Whitening,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Reported, Views


@dataclass(eq=False)
class CanonicalCorrelation(LinearMethod):
    """Projects both views to where paired photos and sketches correlate most.

    ``ridge`` is added to the covariances of standardised features, so its unit is their variance.
    """

    dimensions: int
    ridge: float = 0.1
    pairs: int = PAIRS
    seed: int = 0
    correlations: Matrix = field(default_factory=lambda: np.empty(0), init=False)

    def fit(self, views: Views) -> Self:
        """Draw pairs and solve; ``correlations`` then holds the canonical ones, largest first."""
        pairs = Pairs.draw(views, self.pairs, np.random.default_rng(self.seed))
        covariances = pairs.covariances()
        covariances.check(self.dimensions)
        found = Whitening.of(covariances, self.ridge).directions(covariances.cross)
        self.correlations = found.strengths
        return self._learn(
            Projection.of(pairs.photo_standard, found.photos[:, : self.dimensions]),
            Projection.of(pairs.sketch_standard, found.sketches[:, : self.dimensions]),
        )


CARD = Card(
    name="cca",
    title="CCA",
    kind=Kind.CROSSVIEW,
    paper="Thompson. Canonical correlation analysis. Encyclopedia of statistics in behavioral science",
    year=2005,
    sees=Input.FEATURES,
    distance=Distance.COSINE,
    method=CanonicalCorrelation,
    choices=(
        STANDARDISED,
        DRAWN_PAIRS,
        RIDGE,
        "Directions are not weighted by their correlations.",
        "Cosine distance.",
    ),
    tuberlin=Reported.by_bits((0.276, 0.366, 0.365), (0.333, 0.482, 0.536)),
    sketchy=Reported.by_bits((0.361, 0.555, 0.705), (0.379, 0.610, 0.775)),
    differs=OTHER_FEATURES + " A ridge is added, of which the paper says nothing.",
)
