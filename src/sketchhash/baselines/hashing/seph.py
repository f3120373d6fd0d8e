"""Semantics-preserving hashing.

Lin, Ding, Hu, Wang. Semantics-preserving hashing for cross-view retrieval. CVPR 2015.

| symbol | here                                                                   |
|--------|------------------------------------------------------------------------|
| n      | ``pairs``, equally many of each category                               |
| P      | p_ij equal for all i ≠ j of one category, 0 for others; sums to 1      |
| Q      | q_ij ∝ (1 + ¼‖h_i − h_j‖²)⁻¹ for i ≠ j; sums to 1                      |
| H      | ``values``: relaxed codes, one row a category                          |
| α      | ``binariness``                                                         |
| ϕ, K   | RBF kernel to ``landmarks``, centres of k-means                        |
| λ      | ``penalty`` of the kernel logistic regressions                         |

First codes, by gradient descent as t-SNE does it:

    min KL(P ‖ Q) + α/(bits · n) ‖|H| − 1‖²

then, for each view and bit, a kernel logistic regression w of the code's bit b_i = sgn(h_i):

    min Σ_i log(1 + exp(−b_i ϕ(x_i)ᵀw)) + λ wᵀKw

Out of sample: the sign of ϕ(x)ᵀw. (The paper's fusion of two views of one query has no place here: a query is a
sketch.)

Where we differ: labels are categories, so all pairs of one category have the same row in P. If they also start from
the same row of H, every step of the descent keeps them equal, and n² terms become categories². So we start them
equal: n then only sets how heavy a pair is, and is 5,000, which a computation with all n² terms could still hold.
(Started apart, as in the paper, pairs of a category end with the same signs.) The regressions see every training
photo and sketch once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.hashing.kernels import KernelClassifier
from sketchhash.baselines.views import Given, Matrix, Views
from sketchhash.codes import sign
from sketchhash.errors import BadArgument, NotFitted

# The descent of the authors' program, which is that of t-SNE.
RATE, MOMENTUM, STEPS = 500.0, 0.5, 100
LEAST_GAIN = 0.01


@dataclass(eq=False)
class SemanticsPreservingHashing:
    """Learn codes of the categories from probabilities, then to predict their bits from either view.

    ``objectives`` holds the objective before every step of the descent; codes are taken where it is smallest.
    """

    bits: int
    pairs: int = 5_000
    binariness: float = 0.01
    penalty: float = 0.01
    landmarks: int = 500
    seed: int = 0
    objectives: list[float] = field(default_factory=list, init=False)
    _classifiers: dict[str, KernelClassifier] = field(default_factory=dict, init=False, repr=False)

    def fit(self, views: Views) -> Self:
        """Learn codes, then both views' regressions."""
        rng = np.random.default_rng(self.seed)
        categories = np.intersect1d(views.photo_labels, views.sketch_labels)
        if len(categories) < 2:
            raise BadArgument("Codes of categories need at least two that have both photos and sketches.")
        values, self.objectives = learn_codes(
            rng.normal(scale=1e-4, size=(len(categories), self.bits)),
            max(self.pairs // len(categories), 2),
            self.binariness,
        )
        codes = sign(values)
        self._classifiers = {}
        for view, features, labels in zip(
            ("photos", "sketches"), views.matrices, (views.photo_labels, views.sketch_labels), strict=True
        ):
            known = np.isin(labels, categories)
            targets = codes[np.searchsorted(categories, labels[known])]
            self._classifiers[view] = KernelClassifier.fit(features[known], targets, self.landmarks, self.penalty, rng)
        return self

    def encode_photos(self, photos: Given) -> Matrix:
        """Give log odds ``(n, bits)`` whose signs are codes."""
        return self._classifier("photos")(photos)

    def encode_sketches(self, sketches: Given) -> Matrix:
        """Give log odds ``(n, bits)`` whose signs are codes."""
        return self._classifier("sketches")(sketches)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Give both views' regressions."""
        return {
            f"{view}_{name}": array
            for view in ("photos", "sketches")
            for name, array in self._classifier(view).arrays().items()
        }

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Take both views' regressions back."""
        self._classifiers = {view: KernelClassifier.restore(state, f"{view}_") for view in ("photos", "sketches")}
        return self

    def _classifier(self, view: str) -> KernelClassifier:
        if view not in self._classifiers:
            raise NotFitted(f"{type(self).__name__} has learned nothing yet. Call fit first.")
        return self._classifiers[view]


def learn_codes(start: Matrix, per_category: int, binariness: float) -> tuple[Matrix, list[float]]:
    """Descend from ``start`` ``(categories, bits)``; give the best values and every objective on the way."""
    values = start - start.mean(axis=0)
    change, gains = np.zeros_like(values), np.ones_like(values)
    best = values
    objectives: list[float] = []
    for _ in range(STEPS + 1):
        objective, gradient = objective_and_gradient(values, per_category, binariness)
        if objective < min(objectives, default=np.inf):
            best = values
        objectives.append(objective)
        # A gain grows while its entry keeps its direction, and shrinks when it turns.
        gains = np.where(np.sign(gradient) != np.sign(change), gains + 0.2, gains * 0.8).clip(min=LEAST_GAIN)
        change = MOMENTUM * change - RATE * gains * gradient
        values = values + change
        values = values - values.mean(axis=0)
    return best, objectives


def objective_and_gradient(values: Matrix, per_category: int, binariness: float) -> tuple[float, Matrix]:
    """Give the objective of n pairs, and its gradient by the row of one pair of each category.

    All pairs of a category have its row: within it they are at distance 0 and q is largest.
    """
    categories, bits = values.shape
    pairs = categories * per_category
    within = categories * per_category * (per_category - 1)
    squares = np.square(values).sum(axis=1)
    likeness = 1 / (1 + 0.25 * np.maximum(squares[:, None] + squares - 2 * values @ values.T, 0.0))
    np.fill_diagonal(likeness, 0.0)
    total = within + per_category**2 * likeness.sum()

    quantisation = np.abs(values) - 1
    weight = binariness / (bits * pairs)
    # KL = Σ p log(p / q), with p = 1 / within and q = 1 / total wherever p > 0.
    objective = np.log(total / within) + weight * per_category * np.square(quantisation).sum()
    # p = 0 between categories, and equal rows attract or repel nothing: what is left pushes categories apart.
    push = per_category * np.square(likeness) / total
    gradient = -(push.sum(axis=1)[:, None] * values - push @ values)
    return float(objective), gradient + 2 * weight * quantisation * np.sign(values)
