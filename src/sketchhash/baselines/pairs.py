"""Training pairs, and their covariances without a row for every pair.

Section 4.1 of the paper trains on 100,000 pairs of a photo and a sketch of one category: 800 a category with 125
categories, 400 with 250. They are drawn from far fewer photos and sketches, so sums over pairs are sums over rows
that count as often as they were drawn, and where both views meet, over a sparse matrix that counts each meeting:
the same numbers, at a cost that hardly depends on the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Matrix, Standard, Views
from sketchhash.errors import BadArgument, require

PAIRS = 100_000

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Covariances:
    """Second moments of standardised pairs: photos ``(p, p)``, sketches ``(q, q)`` and both ``(p, q)``."""

    photos: Matrix
    sketches: Matrix
    cross: Matrix

    def check(self, size: int) -> None:
        """Refuse more directions than there are features."""
        most = min(self.cross.shape)
        if size > most:
            raise BadArgument(f"Features of width {most} have at most as many directions: {size} cannot be learned.")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Standardised features of both views, and the rows drawn as pairs, category by category.

    The k-th pair is ``photos[photo_rows[k]]`` and ``sketches[sketch_rows[k]]``; means and variances are those of the
    pairs.
    """

    photos: Matrix
    sketches: Matrix
    photo_rows: Rows
    sketch_rows: Rows
    photo_standard: Standard
    sketch_standard: Standard

    @classmethod
    def draw(cls, views: Views, total: int, rng: np.random.Generator) -> Pairs:
        """Draw about ``total`` pairs, as many of each category as of any other."""
        categories = len(np.intersect1d(views.photo_labels, views.sketch_labels))
        photo_rows, sketch_rows = views.pairs(max(total // max(categories, 1), 1), rng)
        photos, sketches = views.matrices
        photo_standard = Standard.of(photos, shares(photo_rows, len(photos)))
        sketch_standard = Standard.of(sketches, shares(sketch_rows, len(sketches)))
        return cls(
            *(photo_standard(photos), sketch_standard(sketches), photo_rows, sketch_rows),
            *(photo_standard, sketch_standard),
        )

    @property
    def photo_shares(self) -> Matrix:
        """The share of the pairs that each photo is in ``(photos,)``."""
        return shares(self.photo_rows, len(self.photos))

    @property
    def sketch_shares(self) -> Matrix:
        """The share of the pairs that each sketch is in ``(sketches,)``."""
        return shares(self.sketch_rows, len(self.sketches))

    def covariances(self) -> Covariances:
        """Sum over the pairs, divided by their number."""
        weights = np.full(len(self.photo_rows), 1 / len(self.photo_rows))
        return Covariances(
            moment(self.photos, self.photo_shares),
            moment(self.sketches, self.sketch_shares),
            cross_moment(self.photos, self.sketches, self.photo_rows, self.sketch_rows, weights),
        )


def shares(rows: Rows, length: int) -> Matrix:
    """Count how often each of ``length`` rows was drawn, as a share of all."""
    drawn: Matrix = np.bincount(rows, minlength=length) / len(rows)
    return drawn


def moment(features: Matrix, weights: Matrix) -> Matrix:
    """Give Σ_i w_i x_i x_iᵀ over rows, symmetric to the last digit: ``(features, features)``."""
    weighted = features * np.sqrt(weights)[:, None]
    square: Matrix = weighted.T @ weighted
    return square


def cross_moment(photos: Matrix, sketches: Matrix, photo_rows: Rows, sketch_rows: Rows, weights: Matrix) -> Matrix:
    """Give Σ_k w_k x_k y_kᵀ over pairs of rows: ``(photo features, sketch features)``."""
    sparse = require("scipy.sparse", "train")
    meetings = sparse.csr_array((weights, (photo_rows, sketch_rows)), shape=(len(photos), len(sketches)))
    product: Matrix = photos.T @ (meetings @ sketches)
    return product
