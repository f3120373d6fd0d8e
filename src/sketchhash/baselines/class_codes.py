"""Ridge regression to random class codes: the simplest way from features to codes.

Every category gets a random code of ±1; each view learns its own linear map from features to the codes of its
samples. It is not one of the paper's methods but a lower bound for anything trained on the same features.

Dietterich, Bakiri. Solving multiclass learning problems via error-correcting output codes. JAIR 1995 (codes of
classes, for classification).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.linear import LinearMethod, Projection, Standard
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Views


@dataclass(eq=False)
class ClassCodes(LinearMethod):
    """Maps each view linearly to codes that were drawn, not learned.

    ``ridge`` is per sample and per unit of variance: the penalty is ridge · n.
    """

    bits: int
    ridge: float = 0.1
    seed: int = 0

    def fit(self, views: Views) -> Self:
        """Draw the codes and solve both regressions."""
        rng = np.random.default_rng(self.seed)
        classes = int(max(views.photo_labels.max(), views.sketch_labels.max())) + 1
        codes = rng.choice([-1.0, 1.0], (classes, self.bits))
        photos, sketches = views.matrices
        return self._learn(
            self._solve(photos, codes[views.photo_labels]), self._solve(sketches, codes[views.sketch_labels])
        )

    def _solve(self, features: NDArray[np.floating], codes: Matrix) -> Projection:
        standard = Standard.of(features)
        x = np.column_stack([standard(features), np.ones(len(features))])
        penalty = np.full(x.shape[1], self.ridge * len(x))
        penalty[-1] = 0.0  # the intercept is free
        weights: Matrix = np.linalg.solve(x.T @ x + np.diag(penalty), x.T @ codes)
        return Projection(standard, weights[:-1], weights[-1])


CARD = Card(
    name="class-codes",
    title="Ridge to random class codes",
    kind=Kind.HASHING,
    paper="Dietterich, Bakiri. Solving multiclass learning problems via error-correcting output codes. JAIR",
    year=1995,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=ClassCodes,
    choices=("Not in the paper: the plain floor.", "A ridge of 0.1 per sample on standardised features."),
)
