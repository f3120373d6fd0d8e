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

Out of sample: the sign of ϕ(x)ᵀw. (The paper also fuses two views of one query; here a query is only a sketch.)

Kernels are radial basis functions around k-means centres, which all bits share. With K the kernel between centres and
K^-½ its inverse root, ϕ(x)ᵀK^-½ are features in which the penalty wᵀKw is a plain sum of squares; L-BFGS converges
much faster on them.

Where we differ: labels are categories, so all pairs of one category have the same row in P. If they also start from
the same row of H, every step of the descent keeps them equal, and n² terms become categories². So we start them
equal: n then only sets the weight of a pair, and is 5,000, for which all n² terms would still fit into memory.
(Started apart, as in the paper, pairs of a category end with the same signs.) The regressions use every training
photo and sketch once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.linear import OTHER_FEATURES, Standard, array_in, check_width
from sketchhash.baselines.method import (
    Card,
    Distance,
    Input,
    Kind,
    Matrix,
    Reported,
    Samples,
    Views,
    features_of,
)
from sketchhash.codes import sign
from sketchhash.errors import BadArgument, NotFitted, require

# The gradient descent of the authors' program, which is that of t-SNE.
RATE, MOMENTUM, STEPS = 500.0, 0.5, 100
LEAST_GAIN = 0.01

_REGRESSION_STEPS = 200
_ROWS_AT_ONCE = 4096


@dataclass(eq=False)
class SemanticsPreservingHashing:
    """Learns codes of the categories from probabilities, then predicts their bits from either view.

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

    def encode_photos(self, photos: Samples) -> Matrix:
        """Return log odds ``(n, bits)`` whose signs are codes."""
        return self._classifier("photos")(photos)

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Return log odds ``(n, bits)`` whose signs are codes."""
        return self._classifier("sketches")(sketches)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return both views' regressions."""
        return {
            f"{view}_{name}": array
            for view in ("photos", "sketches")
            for name, array in self._classifier(view).arrays().items()
        }

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load both views' regressions."""
        self._classifiers = {view: KernelClassifier.restore(state, f"{view}_") for view in ("photos", "sketches")}
        return self

    def _classifier(self, view: str) -> KernelClassifier:
        if view not in self._classifiers:
            raise NotFitted(f"{type(self).__name__} has learned nothing yet. Call fit first.")
        return self._classifiers[view]


CARD = Card(
    name="seph",
    title="SePH",
    kind=Kind.HASHING,
    paper="Lin, Ding, Hu, Wang. Semantics-preserving hashing for cross-view retrieval. CVPR",
    year=2015,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=SemanticsPreservingHashing,
    choices=(
        "Features are standardised by the training data.",
        "Pairs of a category start equal and so stay equal, which makes n² terms categories²; n is 5,000.",
        "α = 0.01; 500 landmarks by k-means (20 iterations); λ = 0.01; 200 steps of L-BFGS for all bits together.",
        "The regressions learn from every training photo and sketch once.",
    ),
    tuberlin=Reported.by_bits((0.198, 0.270, 0.282), (0.307, 0.380, 0.398)),
    sketchy=Reported.by_bits((0.534, 0.607, 0.640), (0.694, 0.741, 0.768)),
    differs=OTHER_FEATURES + " The regressions learn from every photo and sketch once.",
)


def learn_codes(start: Matrix, per_category: int, binariness: float) -> tuple[Matrix, list[float]]:
    """Descend from ``start`` ``(categories, bits)``; return the best values and the objective at every step."""
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
    """Return the objective of n pairs, and its gradient by the row of one pair of each category.

    All pairs of a category share its row, so they are at distance 0, where q is largest.
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
    # p = 0 between categories, and equal rows exert no force: what remains pushes categories apart.
    push = per_category * np.square(likeness) / total
    gradient = -(push.sum(axis=1)[:, None] * values - push @ values)
    return float(objective), gradient + 2 * weight * quantisation * np.sign(values)


@dataclass(frozen=True, eq=False)
class KernelClassifier:
    """Log odds of bits: exp(−‖x − z‖² / width) for all centres z ``(centres, features)``, times weights."""

    standard: Standard
    centres: Matrix
    width: float
    weights: Matrix

    @classmethod
    def fit(
        cls,
        features: NDArray[np.floating],
        bits: NDArray[np.int8],
        centres: int,
        penalty: float,
        rng: np.random.Generator,
    ) -> KernelClassifier:
        """Learn to predict bits ``(n, bits)`` of ±1 from features ``(n, features)``."""
        standard = Standard.of(features)
        rows = standard(features)
        middles = _centres(rows, centres, rng)
        width = 2 * float(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())  # mean ‖x − x'‖² over all pairs
        between, vectors = np.linalg.eigh(_kernel(middles, middles, width))
        root = vectors / np.sqrt(np.maximum(between, 1e-6)) @ vectors.T
        weights = root @ regress(_kernel(rows, middles, width) @ root, bits.astype(np.float64), penalty)
        return cls(standard, middles, width, weights)

    def __call__(self, given: Samples) -> Matrix:
        """Return log odds ``(n, bits)``."""
        features = features_of(given)
        check_width(features, self.centres.shape[1])
        blocks = (features[start : start + _ROWS_AT_ONCE] for start in range(0, max(len(features), 1), _ROWS_AT_ONCE))
        odds = [_kernel(self.standard(block), self.centres, self.width) @ self.weights for block in blocks]
        return np.concatenate(odds)

    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """Return everything that was learned."""
        return {
            "mean": self.standard.mean,
            "deviation": self.standard.deviation,
            "centres": self.centres,
            "width": np.array([self.width]),
            "weights": self.weights,
        }

    @classmethod
    def restore(cls, state: Mapping[str, NDArray[np.generic]], prefix: str) -> KernelClassifier:
        """Load what `arrays` returned, from names that begin with ``prefix``."""
        mean, deviation, width = (array_in(state, f"{prefix}{name}", 1) for name in ("mean", "deviation", "width"))
        centres, weights = (array_in(state, f"{prefix}{name}", 2) for name in ("centres", "weights"))
        if centres.shape != (len(weights), len(mean)) or mean.shape != deviation.shape or len(width) != 1:
            raise BadArgument(f"The centres do not fit the weights: {centres.shape} and {weights.shape}.")
        return cls(Standard(mean, deviation), centres, float(width[0]), weights)


def regress(features: Matrix, bits: Matrix, penalty: float) -> Matrix:
    """Minimise Σ log(1 + exp(−bits ⊙ features·w)) + penalty ‖w‖² over w ``(features, bits)``, all bits together."""
    shape = features.shape[1], bits.shape[1]

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = flat.reshape(shape)
        margins = bits * (features @ weights)
        value = np.logaddexp(0.0, -margins).sum() + penalty * flat @ flat
        slope = -bits * np.exp(-np.logaddexp(0.0, margins))
        return float(value), (features.T @ slope + 2 * penalty * weights).ravel()

    minimise = require("scipy.optimize", "train").minimize
    found = minimise(
        loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": _REGRESSION_STEPS}
    )
    weights: Matrix = found.x.reshape(shape)
    return weights


def _centres(rows: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    if len(rows) <= count:
        return rows.copy()
    k_means = require("sklearn.cluster", "train").KMeans(
        count, init="random", n_init=1, max_iter=20, random_state=int(rng.integers(2**31))
    )
    centres: Matrix = k_means.fit(rows).cluster_centers_
    return centres


def _kernel(rows: Matrix, centres: Matrix, width: float) -> Matrix:
    squares = np.square(rows).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    kernel: Matrix = np.exp(-np.maximum(squares - 2 * rows @ centres.T, 0.0) / width)
    return kernel
