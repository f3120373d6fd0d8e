"""Cross-modality similarity-sensitive hashing.

Bronstein, Bronstein, Michel, Paragios. Data fusion through cross-modality metric learning using
similarity-sensitive hashing. CVPR 2010.

| symbol     | here                                                       |
|------------|------------------------------------------------------------|
| x_k, y_k   | the photo and the sketch of pair k                         |
| s_k        | ``similar``: +1 for one category, −1 for two               |
| w_k        | ``weights`` of the pairs; they sum to 1                    |
| ξ_i, η_i   | the i-th bits: sgn(pᵀx − a), sgn(qᵀy − b)                  |
| r_i        | ``agreement`` Σ_k w_k s_k ξ_i(x_k) η_i(y_k)                |
| α_i        | ``step`` ½ log((1 + r) / (1 − r))                          |

Boosting, one bit at a time. p and q are the leading singular vectors of C = Σ_k w_k s_k x̄_k ȳ_kᵀ, x̄ and ȳ centred
by the weights; a and b then maximise r; and pairs that the bit gets wrong weigh more afterwards: w_k ∝ w_k
exp(−α_i s_k ξ_i(x_k) η_i(y_k)).

Where we differ: features are first reduced to their principal axes, for speed. a and b are searched together, on a
grid of quantiles: all pairs are sorted into its cells once, and r of every (a, b) is a sum of cells. All bits have the
same weight in the Hamming distance, as for all compared methods; the authors also have a weighted distance, Σ α_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from sketchhash.baselines.linear import (
    DRAWN_PAIRS,
    OTHER_FEATURES,
    PAIRS,
    STANDARDISED,
    LinearMethod,
    Pairs,
    Projection,
    Rows,
    cross_moment,
    leading_vectors,
    principal_axes,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Reported, Views
from sketchhash.codes import sign
from sketchhash.errors import BadArgument

CUTS = 64


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Features of both views, and pairs of their rows that are similar (+1) or not (−1)."""

    photos: Matrix
    sketches: Matrix
    photo_rows: Rows
    sketch_rows: Rows
    similar: Matrix


@dataclass(frozen=True, eq=False)
class Bit:
    """One bit of both views: signs of x·p − a and y·q − b, its agreement, and the weights it was learned with."""

    photos: Matrix
    photo_cut: float
    sketches: Matrix
    sketch_cut: float
    agreement: float
    weights: Matrix


@dataclass(eq=False)
class SimilaritySensitiveHashing(LinearMethod):
    """Boosts bits that separate similar from dissimilar pairs; equally many of both are drawn."""

    bits: int
    axes: int = 256
    pairs: int = PAIRS
    seed: int = 0

    def fit(self, views: Views) -> Self:
        """Draw both kinds of pairs and boost."""
        rng = np.random.default_rng(self.seed)
        pairs = Pairs.draw(views, self.pairs, rng)
        covariances = pairs.covariances()
        photo_axes, sketch_axes = (
            principal_axes(moment, self.axes) for moment in (covariances.photos, covariances.sketches)
        )
        dissimilar = _dissimilar_sketches(pairs.sketch_rows, views, rng)
        labelled = LabelledPairs(
            pairs.photos @ photo_axes,
            pairs.sketches @ sketch_axes,
            np.tile(pairs.photo_rows, 2),
            np.concatenate([pairs.sketch_rows, dissimilar]),
            np.repeat([1.0, -1.0], len(dissimilar)),
        )
        learned = [bit for bit, _ in zip(boost(labelled), range(self.bits), strict=False)]
        return self._learn(
            Projection(
                pairs.photo_standard,
                photo_axes @ np.column_stack([bit.photos for bit in learned]),
                -np.array([bit.photo_cut for bit in learned]),
            ),
            Projection(
                pairs.sketch_standard,
                sketch_axes @ np.column_stack([bit.sketches for bit in learned]),
                -np.array([bit.sketch_cut for bit in learned]),
            ),
        )


CARD = Card(
    name="cmssh",
    title="CMSSH",
    kind=Kind.HASHING,
    paper="Bronstein, Bronstein, Michel, Paragios. Data fusion through cross-modality metric learning using "
    "similarity-sensitive hashing. CVPR",
    year=2010,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=SimilaritySensitiveHashing,
    choices=(
        STANDARDISED,
        DRAWN_PAIRS,
        "As many dissimilar pairs as similar ones.",
        "Features reduced to 256 principal axes.",
        "Both thresholds of a bit searched together on 64 × 64 quantiles.",
        "Plain Hamming distance, without the weights of the bits.",
    ),
    tuberlin=Reported.by_bits((0.121, 0.183, 0.175), (0.143, 0.261, 0.233)),
    sketchy=Reported.by_bits((0.206, 0.211, 0.211), (0.371, 0.376, 0.375)),
    differs=OTHER_FEATURES + " They are reduced to 256 principal axes.",
)


def boost(pairs: LabelledPairs) -> Iterator[Bit]:
    """Learn bit after bit, endlessly."""
    weights = np.full(len(pairs.similar), 1 / len(pairs.similar))
    while True:
        bit = _learn_bit(pairs, weights)
        yield bit
        photo_bits = sign(pairs.photos @ bit.photos - bit.photo_cut)[pairs.photo_rows]
        sketch_bits = sign(pairs.sketches @ bit.sketches - bit.sketch_cut)[pairs.sketch_rows]
        # A bit that is right about every pair would get an infinite step and zero weights.
        step = np.arctanh(np.clip(bit.agreement, -0.999, 0.999))
        weights = weights * np.exp(-step * pairs.similar * photo_bits * sketch_bits)
        weights /= weights.sum()


def best_cuts(pairs: LabelledPairs, photos: Matrix, sketches: Matrix, votes: Matrix) -> tuple[float, float, float]:
    """Find cuts a, b that maximise r = Σ votes · sgn(photos − a) · sgn(sketches − b) on a grid of quantiles, and r.

    Votes ``(pairs,)`` are for pairs, values ``(photos,)`` and ``(sketches,)`` for rows.
    """
    levels = (np.arange(CUTS) + 0.5) / CUTS
    photo_cuts, sketch_cuts = np.quantile(photos, levels), np.quantile(sketches, levels)
    # The cell of a value is the number of cuts it reaches: sgn(value − cut j) = +1 exactly for j < cell.
    photo_cells = np.searchsorted(photo_cuts, photos, "right")[pairs.photo_rows]
    sketch_cells = np.searchsorted(sketch_cuts, sketches, "right")[pairs.sketch_rows]
    mass = np.bincount(photo_cells * (CUTS + 1) + sketch_cells, votes, minlength=(CUTS + 1) ** 2)
    signs = np.where(np.arange(CUTS + 1) > np.arange(CUTS)[:, None], 1.0, -1.0)
    agreements = signs @ mass.reshape(CUTS + 1, CUTS + 1) @ signs.T
    photo, sketch = np.unravel_index(agreements.argmax(), agreements.shape)
    return float(photo_cuts[photo]), float(sketch_cuts[sketch]), float(agreements[photo, sketch])


def _learn_bit(pairs: LabelledPairs, weights: Matrix) -> Bit:
    votes = weights * pairs.similar
    photo_mean, photo_votes = _means(pairs.photos, pairs.photo_rows, weights, votes)
    sketch_mean, sketch_votes = _means(pairs.sketches, pairs.sketch_rows, weights, votes)
    moment = cross_moment(pairs.photos, pairs.sketches, pairs.photo_rows, pairs.sketch_rows, votes)
    moment -= np.outer(photo_mean, sketch_votes) + np.outer(photo_votes, sketch_mean)
    moment += votes.sum() * np.outer(photo_mean, sketch_mean)
    left, _, right = leading_vectors(moment)
    photo_cut, sketch_cut, agreement = best_cuts(pairs, pairs.photos @ left, pairs.sketches @ right, votes)
    return Bit(left, photo_cut, right, sketch_cut, agreement, weights)


def _means(features: Matrix, rows: Rows, weights: Matrix, votes: Matrix) -> tuple[Matrix, Matrix]:
    """Sum the features of all pairs, by their weights and by their votes."""
    by_weight, by_vote = (np.bincount(rows, values, minlength=len(features)) @ features for values in (weights, votes))
    return by_weight, by_vote


def _dissimilar_sketches(sketch_rows: Rows, views: Views, rng: np.random.Generator) -> Rows:
    """Draw a sketch of another category for every pair, from the sketches of the other pairs."""
    categories = len(np.unique(views.sketch_labels[sketch_rows]))
    if categories < 2:
        raise BadArgument("Dissimilar pairs need at least two categories with photos and sketches.")
    by_category = sketch_rows.reshape(categories, -1)  # pairs come category by category, equally many of each
    others = np.arange(categories)[:, None] + rng.integers(1, categories, by_category.shape)
    dissimilar: Rows = by_category[others % categories, np.arange(by_category.shape[1])].ravel()
    return dissimilar
