"""Ridge regression to random class codes: the plainest way from features to codes.

Every category gets a random code of ±1; each view learns its own linear map from features to the codes of its
samples. No paper: it is the floor that anything trained on the same features must clear.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Matrix, Standard, Views
from sketchhash.errors import NotFitted


@dataclass
class ClassCodes:
    """One linear map a view to codes that were drawn, not learned.

    ``ridge`` is per sample and per unit of variance: the penalty is ridge · n.
    """

    bits: int
    ridge: float = 0.1
    seed: int = 0
    _maps: dict[str, tuple[Standard, Matrix]] = field(default_factory=dict, init=False, repr=False)

    def fit(self, views: Views) -> ClassCodes:
        """Draw the codes and solve both regressions."""
        rng = np.random.default_rng(self.seed)
        classes = int(max(views.photo_labels.max(), views.sketch_labels.max())) + 1
        codes = rng.choice([-1.0, 1.0], (classes, self.bits))
        self._maps = {
            "photos": self._solve(views.photos, codes[views.photo_labels]),
            "sketches": self._solve(views.sketches, codes[views.sketch_labels]),
        }
        return self

    def encode_photos(self, features: NDArray[np.floating]) -> Matrix:
        """Give values ``(n, bits)`` whose signs are codes."""
        return self._encode("photos", features)

    def encode_sketches(self, features: NDArray[np.floating]) -> Matrix:
        """Give values ``(n, bits)`` whose signs are codes."""
        return self._encode("sketches", features)

    def _solve(self, features: NDArray[np.floating], codes: Matrix) -> tuple[Standard, Matrix]:
        standard = Standard.of(features)
        x = np.column_stack([standard(features), np.ones(len(features))])
        penalty = np.full(x.shape[1], self.ridge * len(x))
        penalty[-1] = 0.0  # the intercept is free
        weights: Matrix = np.linalg.solve(x.T @ x + np.diag(penalty), x.T @ codes)
        return standard, weights

    def _encode(self, view: str, features: NDArray[np.floating]) -> Matrix:
        if view not in self._maps:
            raise NotFitted("ClassCodes has learned nothing yet. Call fit first.")
        standard, weights = self._maps[view]
        values: Matrix = standard(features) @ weights[:-1] + weights[-1]
        return values
