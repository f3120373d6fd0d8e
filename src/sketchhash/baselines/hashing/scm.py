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

Codes should reproduce c·S, min ‖sgn(XW_x) sgn(YW_y)ᵀ − cS‖². Without the signs, and with uncorrelated bits
(W_xᵀC_xxW_x = W_yᵀC_yyW_y = I), this is

    C_xy C_yy⁻¹ C_xyᵀ w = ρ² C_xx w,

which *orthogonal* solves. *Sequential* takes one bit at a time, the leading two directions w_x and w_y, and then

    C_xy ← C_xy − (Xᵀsgn(Xw_x))(Yᵀsgn(Yw_y))ᵀ / n²

is what remains to be explained. When a bit explains more than the one before it, the remaining bits come from canonical
correlation, the strongest last, as in the authors' program.

Where we differ: in the ridge, and beyond the rank of C_xy, which is (categories − 1). There the orthogonal problem has
ρ = 0 and every direction solves it; we take those that correlate most among the pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from sketchhash.baselines.linear import (
    DRAWN_PAIRS,
    OTHER_FEATURES,
    PAIRS,
    RIDGE,
    STANDARDISED,
    Directions,
    LinearMethod,
    Pairs,
    Projection,
    Whitening,
    leading_vectors,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Reported, Views
from sketchhash.codes import sign


@dataclass(eq=False)
class SemanticCorrelation(LinearMethod, ABC):
    """The base of both variants: draws pairs, whitens, and maps to the directions that a variant finds."""

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
    """SCM-Orth: solves for all directions at once, uncorrelated in each view."""

    def directions(self, pairs: Pairs, whitening: Whitening, semantic: Matrix, plain: Matrix) -> Directions:
        """Solve the eigenvalue problem; fill open directions from the correlation of the pairs."""
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
    """SCM-Seq: learns one bit after another, each for what the earlier bits leave unexplained."""

    def directions(self, pairs: Pairs, whitening: Whitening, semantic: Matrix, plain: Matrix) -> Directions:
        """Take leading directions while each explains less than the last, then those of the pairs."""
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


SEQUENTIAL_CARD = Card(
    name="scm-seq",
    title="SCM-Seq",
    kind=Kind.HASHING,
    paper="Zhang, Li. Large-scale supervised multimodal hashing with semantic correlation maximization. AAAI",
    year=2014,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=SequentialCorrelation,
    choices=(STANDARDISED, DRAWN_PAIRS, RIDGE),
    tuberlin=Reported.by_bits((0.211, 0.276, 0.332), (0.298, 0.372, 0.454)),
    sketchy=Reported.by_bits((0.306, 0.417, 0.671), (0.442, 0.529, 0.758)),
    differs=OTHER_FEATURES + " A ridge is added, of which the paper says nothing.",
)
ORTHOGONAL_CARD = Card(
    name="scm-orth",
    title="SCM-Orth",
    kind=Kind.HASHING,
    paper="Zhang, Li. Large-scale supervised multimodal hashing with semantic correlation maximization. AAAI",
    year=2014,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=OrthogonalCorrelation,
    choices=(
        STANDARDISED,
        DRAWN_PAIRS,
        RIDGE,
        "Bits beyond (categories − 1), which the labels leave open, by correlation of the pairs.",
    ),
    tuberlin=Reported.by_bits((0.217, 0.301, 0.263), (0.312, 0.420, 0.470)),
    sketchy=Reported.by_bits((0.346, 0.536, 0.616), (0.467, 0.650, 0.776)),
    differs=OTHER_FEATURES + " A ridge is added, and bits beyond (categories − 1) follow the correlation of pairs.",
)


def semantic_cross(pairs: Pairs, views: Views) -> Matrix:
    """Return XᵀSY / n² over the pairs, from sums by category: ``(photo features, sketch features)``."""
    categories = np.unique(views.photo_labels[pairs.photo_rows])
    photo_sums = (pairs.photos * pairs.photo_shares[:, None]).T @ (views.photo_labels[:, None] == categories)
    sketch_sums = (pairs.sketches * pairs.sketch_shares[:, None]).T @ (views.sketch_labels[:, None] == categories)
    cross: Matrix = 2 * photo_sums @ sketch_sums.T
    return cross
