"""Partial least squares regression from sketch features to photo features.

Wold. Partial least squares. Encyclopedia of statistical sciences, 1985. The steps without rows: Dayal, MacGregor.
Improved PLS algorithms. Journal of Chemometrics 1997.

| symbol   | here                                                    |
|----------|---------------------------------------------------------|
| X, Y     | paired sketch and photo features, standardised          |
| w        | ``direction``: leading left singular vector of XᵀY      |
| t = Xr   | the component; r is w in terms of the features as given |
| p, c     | what X and Y lose by deflation: X − tpᵀ, Y − tcᵀ        |

    each component:  w,  r = w − Σ_j (p_jᵀw) r_j,  p = XᵀXr / tᵀt,  c = (XᵀY)ᵀw / tᵀt,  XᵀY ← XᵀY − tᵀt pcᵀ
    Y ≈ X Σ_j r_j c_jᵀ

A sketch is encoded as the photo features it predicts, a photo as its own; compared by cosine.

Where we differ: nothing of substance. The paper fixes 4096 dimensions, the width of its photo features; so do we with
ours, whatever size is asked for. It does not give the number of components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sketchhash.baselines.linear import LinearMethod, Projection
from sketchhash.baselines.pairs import PAIRS, Covariances, Pairs
from sketchhash.baselines.spectra import leading_vectors
from sketchhash.baselines.views import Matrix, Views


@dataclass(eq=False)
class PartialLeastSquares(LinearMethod):
    """Predict photo features from sketch features; ``dimensions`` only names the paper's, see above."""

    dimensions: int
    components: int = 128
    pairs: int = PAIRS
    seed: int = 0

    def fit(self, views: Views) -> Self:
        """Draw pairs and regress."""
        pairs = Pairs.draw(views, self.pairs, np.random.default_rng(self.seed))
        covariances = pairs.covariances()
        return self._learn(
            Projection.of(pairs.photo_standard, np.eye(len(covariances.photos))),
            Projection.of(pairs.sketch_standard, coefficients(covariances, self.components)),
        )


def coefficients(covariances: Covariances, components: int) -> Matrix:
    """Regress photos on sketches: ``(sketch features, photo features)``; fewer components where no more are there."""
    spread, left_over = covariances.sketches, covariances.cross.T.copy()
    rotations: list[Matrix] = []
    loadings: list[Matrix] = []
    found = np.zeros_like(left_over)
    first = 0.0
    for _ in range(min(components, len(spread))):
        direction, strength, _ = leading_vectors(left_over)
        first = first or strength
        if strength <= 1e-10 * first:
            break
        rotation = direction.copy()
        for earlier, loading in zip(rotations, loadings, strict=True):
            rotation -= loading @ direction * earlier
        length = rotation @ spread @ rotation
        loadings.append(spread @ rotation / length)
        rotations.append(rotation)
        found += np.outer(rotation, left_over.T @ direction / length)
        left_over -= np.outer(loadings[-1], left_over.T @ direction)
    return found
