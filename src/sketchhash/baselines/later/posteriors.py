"""Chances of categories: a ceiling for codes, in real values.

Cox. The regression analysis of binary sequences. Journal of the Royal Statistical Society B 1958 (the regression).

Each view has a multinomial logistic regression; a photo and a sketch are as similar as it is likely that they show
the same category, if both regressions are right and independent:

    similarity = Σ_c p(c | sketch) p(c | photo)

It is not a method of the paper. Codes that were learned from categories on the same features know no more than this.
Its encodings have as many columns as there are categories, whatever size is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.linear import Projection, Standard, array_in, check_width
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Samples, Views, features_of
from sketchhash.errors import BadArgument, NotFitted, require

_VIEWS = ("photos", "sketches")
_STEPS = 100


@dataclass(eq=False)
class CategoryChances:
    """Learns to name the categories that both views have; ``penalty`` is per sample, on standardised features."""

    dimensions: int
    penalty: float = 0.01
    seed: int = 0
    _projections: dict[str, Projection] = field(default_factory=dict, init=False, repr=False)

    def fit(self, views: Views) -> Self:
        """Fit both regressions; nothing is random, so the seed has no effect."""
        shared = np.intersect1d(views.photo_labels, views.sketch_labels)
        if len(shared) < 2:
            raise BadArgument("Chances of categories need at least two that have both photos and sketches.")
        self._projections = {}
        for view, features, labels in zip(
            _VIEWS, views.matrices, (views.photo_labels, views.sketch_labels), strict=True
        ):
            known = np.isin(labels, shared)
            self._projections[view] = _regress(
                features[known], np.searchsorted(shared, labels[known]), len(shared), self.penalty
            )
        return self

    def encode_photos(self, photos: Samples) -> Matrix:
        """Return the chances of every category ``(n, categories)``."""
        return self._chances("photos", photos)

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Return the chances of every category ``(n, categories)``."""
        return self._chances("sketches", sketches)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return both regressions."""
        found: dict[str, NDArray[np.generic]] = {}
        for view in _VIEWS:
            projection = self._projection(view)
            found |= {
                f"{view}_mean": projection.standard.mean,
                f"{view}_deviation": projection.standard.deviation,
                f"{view}_weights": projection.weights,
                f"{view}_offset": projection.offset,
            }
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load both regressions."""
        for view in _VIEWS:
            mean, deviation, offset = (array_in(state, f"{view}_{name}", 1) for name in ("mean", "deviation", "offset"))
            weights = array_in(state, f"{view}_weights", 2)
            if weights.shape != (len(mean), len(offset)):
                raise BadArgument(f"The weights of {view} do not fit its means: {weights.shape} and {mean.shape}.")
            self._projections[view] = Projection(Standard(mean, deviation), weights, offset)
        return self

    def _chances(self, view: str, samples: Samples) -> Matrix:
        projection = self._projection(view)
        check_width(features_of(samples), len(projection.weights))
        return _softmax(projection(samples))

    def _projection(self, view: str) -> Projection:
        if view not in self._projections:
            raise NotFitted(f"{type(self).__name__} has learned nothing yet. Call fit first.")
        return self._projections[view]


CARD = Card(
    name="chances",
    title="Chances of categories",
    kind=Kind.CROSSVIEW,
    paper="Cox. The regression analysis of binary sequences. Journal of the Royal Statistical Society B",
    year=1958,
    sees=Input.FEATURES,
    distance=Distance.INNER_PRODUCT,
    method=CategoryChances,
    choices=(
        "Not in the paper: a ceiling in real values, by multinomial logistic regression for each view.",
        "As wide as there are categories, whatever size is asked for.",
        "A penalty of 0.01 per sample on standardised features; at most 100 steps of L-BFGS.",
    ),
    sizes=(1,),
)


def _regress(features: NDArray[np.floating], labels: NDArray[np.intp], classes: int, penalty: float) -> Projection:
    standard = Standard.of(features)
    x = standard(features).astype(np.float32)
    targets = np.eye(classes, dtype=np.float32)[labels]

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        table = flat.reshape(-1, classes)
        scores = x @ table[:-1].astype(np.float32) + table[-1].astype(np.float32)
        chances = _softmax(scores.astype(np.float64))
        value = -np.log(np.maximum((chances * targets).sum(axis=1), 1e-300)).mean()
        slope = ((chances - targets) / len(x)).astype(np.float32)
        gradient = np.concatenate([x.T @ slope, slope.sum(axis=0, keepdims=True)]).astype(np.float64)
        gradient[:-1] += penalty * table[:-1]
        return float(value + penalty / 2 * np.square(table[:-1]).sum()), gradient.ravel()

    start = np.zeros((x.shape[1] + 1) * classes)
    found = require("scipy.optimize", "train").minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}
    )
    table = found.x.reshape(-1, classes)
    return Projection(standard, table[:-1].copy(), table[-1].copy())


def _softmax(scores: Matrix) -> Matrix:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances: Matrix = raised / raised.sum(axis=1, keepdims=True)
    return chances
