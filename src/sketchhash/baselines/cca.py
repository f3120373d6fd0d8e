"""Canonical correlation analysis (Hotelling 1936; Thompson 2005), with its signs as codes.

| symbol           | here                             |
|------------------|----------------------------------|
| X, Y             | paired photo and sketch features |
| Σ_xx, Σ_yy, Σ_xy | covariances, with a ridge        |
| U, V             | projections of each view         |

Whitening each view turns the problem into one singular value decomposition of the cross-covariance.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Matrix, Standard, Views
from sketchhash.errors import NotFitted


@dataclass
class CanonicalCorrelation:
    """Project both views to where paired photos and sketches correlate most.

    ``ridge`` is added to the covariances of standardised features, so its unit is their variance.
    """

    dimensions: int
    ridge: float = 0.1
    pairs_per_category: int = 800
    seed: int = 0
    correlations: Matrix = field(default_factory=lambda: np.empty(0), init=False)
    _maps: dict[str, tuple[Standard, Matrix]] = field(default_factory=dict, init=False, repr=False)

    def fit(self, views: Views) -> CanonicalCorrelation:
        """Draw pairs and solve; ``correlations`` then holds the canonical ones, largest first."""
        photo_rows, sketch_rows = views.pairs(self.pairs_per_category, np.random.default_rng(self.seed))
        standards = Standard.of(views.photos[photo_rows]), Standard.of(views.sketches[sketch_rows])
        photos, sketches = standards[0](views.photos)[photo_rows], standards[1](views.sketches)[sketch_rows]
        photo_root, sketch_root = self._inverse_root(photos), self._inverse_root(sketches)
        left, self.correlations, right = np.linalg.svd(
            photo_root @ (photos.T @ sketches / len(photos)) @ sketch_root, full_matrices=False
        )
        self._maps = {
            "photos": (standards[0], photo_root @ left[:, : self.dimensions]),
            "sketches": (standards[1], sketch_root @ right[: self.dimensions].T),
        }
        return self

    def encode_photos(self, features: NDArray[np.floating]) -> Matrix:
        """Project photo features: ``(n, dimensions)``."""
        return self._encode("photos", features)

    def encode_sketches(self, features: NDArray[np.floating]) -> Matrix:
        """Project sketch features: ``(n, dimensions)``."""
        return self._encode("sketches", features)

    def _inverse_root(self, features: Matrix) -> Matrix:
        covariance = features.T @ features / len(features) + self.ridge * np.eye(features.shape[1])
        values, vectors = np.linalg.eigh(covariance)
        root: Matrix = vectors / np.sqrt(values) @ vectors.T
        return root

    def _encode(self, view: str, features: NDArray[np.floating]) -> Matrix:
        if view not in self._maps:
            raise NotFitted("CanonicalCorrelation has learned nothing yet. Call fit first.")
        standard, projection = self._maps[view]
        values: Matrix = standard(features) @ projection
        return values
