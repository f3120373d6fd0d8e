"""Canonical correlation analysis.

Hotelling. Relations between two sets of variates. Biometrika 1936; Thompson. Canonical correlation analysis. 2005.

| symbol           | here                                             |
|------------------|--------------------------------------------------|
| X, Y             | paired photo and sketch features, standardised   |
| Σ_xx, Σ_yy, Σ_xy | ``Covariances``, with a ridge on the first two   |
| U, V             | the weights of both projections                  |
| ρ                | ``correlations``                                 |

    max tr(UᵀΣ_xyV)  subject to  UᵀΣ_xxU = VᵀΣ_yyV = I

Where we differ: a ridge, since some 1,280 features of a few thousand photos are otherwise followed into their
noise. The projections are not weighted by their correlations. Compared by cosine; their signs are the codes of
`CrossViewHashing`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from sketchhash.baselines.linear import LinearMethod, Projection
from sketchhash.baselines.pairs import PAIRS, Pairs
from sketchhash.baselines.spectra import Whitening
from sketchhash.baselines.views import Matrix, Views


@dataclass(eq=False)
class CanonicalCorrelation(LinearMethod):
    """Project both views to where paired photos and sketches correlate most.

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
