"""Cross-view feature learning.

Xie, Peng, Xiao. Cross-view feature learning for scalable social image analysis. AAAI 2014.

| symbol | here                                                            |
|--------|-----------------------------------------------------------------|
| X, Y   | n paired sketch and photo features, standardised                |
| W      | the weights of the sketches' projection                         |
| A, L_f | affinity of photo features and its Laplacian ``(photo features, photo features)`` |
| λ, β   | ``ridge``, ``smoothness``, each per pair                        |

    min ‖Y − XW‖² / n + λ ‖W‖² + β tr(W L_f Wᵀ)

The last term, ½ Σ_jk A_jk ‖w_j − w_k‖², makes the predictions of related photo features similar. At the minimum

    (XᵀX / n + λI) W + β W L_f = XᵀY / n,

a Sylvester equation; both matrices on the left are symmetric, so in their eigenvectors it is a division.

Where we differ: we only have a summary of the paper, so the affinity is our choice: the correlation between two photo
features, where it is positive and among the ``neighbours`` largest of either. So are λ and β. The encoding is as wide
as the photo features, whatever size is asked for; the paper's were 4096.
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
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Reported, Views


@dataclass(eq=False)
class CrossViewFeatureLearning(LinearMethod):
    """Predicts photo features from sketch features, smoothly over related features.

    ``dimensions`` is ignored: encodings are as wide as the photo features.
    """

    dimensions: int
    ridge: float = 0.1
    smoothness: float = 0.1
    neighbours: int = 10
    pairs: int = PAIRS
    seed: int = 0

    def fit(self, views: Views) -> Self:
        """Draw pairs and solve."""
        pairs = Pairs.draw(views, self.pairs, np.random.default_rng(self.seed))
        covariances = pairs.covariances()
        penalty = self.smoothness * laplacian(covariances.photos, self.neighbours)
        return self._learn(
            Projection.of(pairs.photo_standard, np.eye(len(penalty))),
            Projection.of(pairs.sketch_standard, solve(covariances, self.ridge, penalty)),
        )


CARD = Card(
    name="cvfl",
    title="CVFL",
    kind=Kind.CROSSVIEW,
    paper="Xie, Peng, Xiao. Cross-view feature learning for scalable social image analysis. AAAI",
    year=2014,
    sees=Input.FEATURES,
    distance=Distance.COSINE,
    method=CrossViewFeatureLearning,
    choices=(
        STANDARDISED,
        DRAWN_PAIRS,
        "As wide as the photo features, whatever they are; the paper's had 4096 dimensions.",
        "λ = β = 0.1 per pair.",
        "Affinity: positive correlations of photo features, the 10 largest of each.",
        "Cosine distance.",
    ),
    tuberlin=Reported.at(4096, 0.289, 0.407),
    sketchy=Reported.at(4096, 0.675, 0.803),
    sizes=(4096,),
    differs=OTHER_FEATURES + " The affinity and both weights are ours, from a summary of the method's paper.",
)


def laplacian(correlations: Matrix, neighbours: int) -> Matrix:
    """Return D − A of the graph that joins each feature to those it correlates with most."""
    affinity = np.maximum(correlations, 0.0)
    np.fill_diagonal(affinity, 0.0)
    least = np.sort(affinity, axis=1)[:, -min(neighbours, len(affinity))]
    is_near = affinity >= least[:, None]
    affinity *= is_near | is_near.T
    graph: Matrix = np.diag(affinity.sum(axis=1)) - affinity
    return graph


def solve(covariances: Covariances, ridge: float, penalty: Matrix) -> Matrix:
    """Solve (Σ_xx + ridge I) W + W penalty = Σ_xy for W ``(sketch features, photo features)``."""
    spreads, sketch_axes = np.linalg.eigh(covariances.sketches)
    costs, photo_axes = np.linalg.eigh(penalty)
    turned = sketch_axes.T @ covariances.cross.T @ photo_axes
    weights: Matrix = sketch_axes @ (turned / (spreads[:, None] + ridge + costs)) @ photo_axes.T
    return weights
