"""Semantic correlation maximisation, sequential and orthogonal.

Zhang, Li. Large-scale supervised multimodal hashing with semantic correlation maximization. AAAI 2014.

| symbol     | here                                                              |
|------------|-------------------------------------------------------------------|
| X, Y       | n paired photo and sketch features, standardised                  |
| L̃          | labels, rows of length 1: one category each, so just indicators   |
| S          | 2L̃L̃ᵀ − 11ᵀ, +1 for a shared category and −1 for others; never formed |
| c          | ``bits``                                                          |
| W_x, W_y   | the weights of both projections                                   |
| C_xx, C_yy | ``Covariances``, with a ridge                                     |
| C_xy       | ``cross``: XᵀSY / n² = 2(XᵀL̃)(YᵀL̃)ᵀ / n², since standardised features sum to 0 |

Codes shall reproduce c·S, min ‖sgn(XW_x) sgn(YW_y)ᵀ − cS‖². Without the signs, and with uncorrelated bits
(W_xᵀC_xxW_x = W_yᵀC_yyW_y = I), this is

    C_xy C_yy⁻¹ C_xyᵀ w = ρ² C_xx w,

which *orthogonal* solves. *Sequential* takes one bit at a time, the leading two directions w_x and w_y, and then

    C_xy ← C_xy − (Xᵀsgn(Xw_x))(Yᵀsgn(Yw_y))ᵀ / n²

says what is left to explain. When a bit explains more than the one before it, the remaining bits come from canonical
correlation, the strongest last, as in the authors' program.

Where we differ: the ridge. And C_xy has rank (categories − 1): beyond that the orthogonal problem has ρ = 0, and
every direction solves it. We take those that correlate most among the pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from sketchhash.baselines.linear import LinearMethod, Projection
from sketchhash.baselines.pairs import PAIRS, Pairs
from sketchhash.baselines.spectra import Directions, Whitening, leading_vectors
from sketchhash.baselines.views import Matrix, Views
from sketchhash.codes import sign


@dataclass(eq=False)
class SemanticCorrelation(LinearMethod, ABC):
    """What both share: pairs, whitening, and maps to the directions that either finds."""

    bits: int
    ridge: float = 0.1
    pairs: int = PAIRS
    seed: int = 0

    def fit(self, views: Views) -> Self:
        """Draw pairs and find directions."""
        pairs = Pairs.draw(views, self.pairs, np.random.default_rng(self.seed))
        covariances = pairs.covariances()
        covariances.check(self.bits)
        whitening = Whitening.of(covariances, self.ridge)
        found = self.directions(pairs, whitening, semantic_cross(pairs, views), covariances.cross)
        return self._learn(
            Projection.of(pairs.photo_standard, found.photos), Projection.of(pairs.sketch_standard, found.sketches)
        )

    @abstractmethod
    def directions(self, pairs: Pairs, whitening: Whitening, semantic: Matrix, plain: Matrix) -> Directions:
        """Find as many directions as bits, given C_xy of the similarities and of the pairs alone."""


class OrthogonalCorrelation(SemanticCorrelation):
    """SCM-Orth: all directions at once, uncorrelated in each view."""

    def directions(self, pairs: Pairs, whitening: Whitening, semantic: Matrix, plain: Matrix) -> Directions:
        """Solve the eigenvalue problem, and where it leaves directions open, that of the pairs."""
        left, strengths, right = np.linalg.svd(whitening.whitened(semantic), full_matrices=False)
        rank = min(int((strengths > 1e-10 * strengths[0]).sum()), self.bits)
        left, right = left[:, :rank], right[:rank].T
        if rank < self.bits:
            rest = whitening.whitened(plain)
            rest -= left @ (left.T @ rest)
            rest -= (rest @ right) @ right.T
            more_left, _, more_right = np.linalg.svd(rest, full_matrices=False)
            left = np.column_stack([left, more_left[:, : self.bits - rank]])
            right = np.column_stack([right, more_right[: self.bits - rank].T])
        return Directions(whitening.photos @ left, whitening.sketches @ right, strengths[: self.bits])


class SequentialCorrelation(SemanticCorrelation):
    """SCM-Seq: one bit after another, each for what the bits before it left unexplained."""

    def directions(self, pairs: Pairs, whitening: Whitening, semantic: Matrix, plain: Matrix) -> Directions:
        """Take leading directions as long as each explains less than the last, then those of the pairs."""
        left_over = whitening.whitened(self.bits * semantic)
        photos: list[Matrix] = []
        sketches: list[Matrix] = []
        strengths: list[float] = []
        while len(strengths) < self.bits:
            left, strength, right = leading_vectors(left_over)
            if strengths and strength > strengths[-1] * (1 + 1e-9):
                break
            photos.append(whitening.photos @ left)
            sketches.append(whitening.sketches @ right)
            strengths.append(strength)
            photo_bits = sign(pairs.photos @ photos[-1]) * pairs.photo_shares
            sketch_bits = sign(pairs.sketches @ sketches[-1]) * pairs.sketch_shares
            left_over -= np.outer(
                whitening.photos @ (pairs.photos.T @ photo_bits), whitening.sketches @ (pairs.sketches.T @ sketch_bits)
            )
        if missing := self.bits - len(strengths):
            strongest = whitening.directions(plain)
            photos.extend(strongest.photos[:, :missing].T[::-1])
            sketches.extend(strongest.sketches[:, :missing].T[::-1])
        return Directions(np.column_stack(photos), np.column_stack(sketches), np.array(strengths))


def semantic_cross(pairs: Pairs, views: Views) -> Matrix:
    """Give XᵀSY / n² over the pairs, through sums by category: ``(photo features, sketch features)``."""
    categories = np.unique(views.photo_labels[pairs.photo_rows])
    photo_sums = (pairs.photos * pairs.photo_shares[:, None]).T @ (views.photo_labels[:, None] == categories)
    sketch_sums = (pairs.sketches * pairs.sketch_shares[:, None]).T @ (views.sketch_labels[:, None] == categories)
    cross: Matrix = 2 * photo_sums @ sketch_sums.T
    return cross
