"""Cross-view feature learning.

Xie, Peng, Xiao. Cross-view feature learning for scalable social image analysis. AAAI 2014.

| symbol | here                                                            |
|--------|-----------------------------------------------------------------|
| X, Y   | n paired sketch and photo features, standardised                |
| W      | the weights of the sketches' projection                         |
| A, L_f | affinity of photo features and its Laplacian ``(photo features, photo features)`` |
| λ, β   | ``ridge``, ``smoothness``, each per pair                        |

    min ‖Y − XW‖² / n + λ ‖W‖² + β tr(W L_f Wᵀ)

The last term, ½ Σ_jk A_jk ‖w_j − w_k‖², lets photo features that go together be predicted alike. At the minimum

    (XᵀX / n + λI) W + β W L_f = XᵀY / n,

a Sylvester equation; both matrices on the left are symmetric, so their eigenvectors turn it into a division.

Where we differ: we know the paper by its summary, so the affinity is our choice: the correlation between two photo
features, where it is positive and among the ``neighbours`` largest of either. λ and β are ours too. The encoding is
as wide as the photo features, whatever size is asked for; the paper's were 4096.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sketchhash.baselines.linear import LinearMethod, Projection
from sketchhash.baselines.pairs import PAIRS, Covariances, Pairs
from sketchhash.baselines.views import Matrix, Views


@dataclass(eq=False)
class CrossViewFeatureLearning(LinearMethod):
    """Predict photo features from sketch features, smoothly over features that go together.

    ``dimensions`` only names the paper's, see above.
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


def laplacian(correlations: Matrix, neighbours: int) -> Matrix:
    """Give D − A of the graph that joins each feature to those it correlates with most."""
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
