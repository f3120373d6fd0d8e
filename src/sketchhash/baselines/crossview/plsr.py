"""Partial least squares regression from sketch features to photo features.

Wold. Partial least squares. Encyclopedia of statistical sciences, 1985. The algorithm on covariances: Dayal, MacGregor.
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

Where we differ: nothing of substance. The paper's encodings have 4096 dimensions, the width of its photo features;
ours are as wide as our photo features, whatever size is asked for. The paper does not give the number of components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sketchhash.baselines.linear import (
    DRAWN_PAIRS,
    OTHER_FEATURES,
    PAIRS,
    STANDARDISED,
    Covariances,
    LinearMethod,
    Pairs,
    Projection,
    leading_vectors,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Reported, Views


@dataclass(eq=False)
class PartialLeastSquares(LinearMethod):
    """Predicts photo features from sketch features.

    ``dimensions`` is ignored: encodings are as wide as the photo features.
    """

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


CARD = Card(
    name="plsr",
    title="PLSR",
    kind=Kind.CROSSVIEW,
    paper="Wold. Partial least squares. Encyclopedia of statistical sciences",
    year=1985,
    sees=Input.FEATURES,
    distance=Distance.COSINE,
    method=PartialLeastSquares,
    choices=(
        STANDARDISED,
        DRAWN_PAIRS,
        "As wide as the photo features, whatever they are; the paper's had 4096 dimensions.",
        "128 components.",
        "Cosine distance.",
    ),
    tuberlin=Reported.at(4096, 0.141, 0.215),
    sketchy=Reported.at(4096, 0.462, 0.623),
    sizes=(4096,),
    differs=OTHER_FEATURES + " Encodings are as wide as the photo features; the number of components is ours.",
)


def coefficients(covariances: Covariances, components: int) -> Matrix:
    """Regress photos on sketches: ``(sketch features, photo features)``, with fewer components if there are no more."""
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
