"""Cross-view quadratic discriminant analysis.

Liao, Hu, Zhu, Li. Person re-identification by local maximal occurrence representation and metric learning. CVPR 2015.

| symbol   | here                                                                |
|----------|---------------------------------------------------------------------|
| x, z     | a sketch and a photo, each in a block of its own of the joint space |
| Σ_I, Σ_E | ``within``, ``between``: covariances of x − z over all pairs of one category, and of two |
| W        | ``subspace``: Σ_E w = ρ Σ_I w, the largest ρ above 1                |
| M        | ``metric`` (WᵀΣ_IW)⁻¹ − (WᵀΣ_EW)⁻¹                                  |

    d(x, z) = (x − z)ᵀ W M Wᵀ (x − z)

is the log ratio of two Gaussians: x − z of one category, or of two.

The method was made for two cameras with the same features, whose difference means something. Sketches and photos have
different features, so a sketch stands for the vector (x, 0) and a photo for (0, z) of the joint space, whose difference
(x, −z) keeps both; W = (W_x, W_z) then holds one projection per view, Wᵀ(x − z) = W_xᵀx − W_zᵀz. With n_c sketches and
m_c photos of category c, their sums S_x(c) and S_z(c), and s over all categories, the covariances need no pairs:

    n_I Σ_I = ⎡  Σ_c m_c Σ_c xxᵀ       − Σ_c S_x(c) S_z(c)ᵀ ⎤     n_E Σ_E = ⎡ |z| Σ xxᵀ    − s_x s_zᵀ ⎤ − n_I Σ_I
              ⎣ − Σ_c S_z(c) S_x(c)ᵀ     Σ_c n_c Σ_c zzᵀ    ⎦               ⎣ − s_z s_xᵀ   |x| Σ zzᵀ  ⎦

As xᵀWMWᵀx is the same for the whole gallery, −d ranks like the inner product of [2MW_xᵀx, −1] and [W_zᵀz, zᵀW_zMW_zᵀz],
which is what is encoded: exact, even where M is indefinite.

Where we differ: in the joint space. The paper does not say how it brings both views into one space. Subtracting as many
principal axes of each view, k-th from k-th, compares coordinates that have nothing to do with each other; in the joint
space the eigenvalue problem finds which go together. Each view is standardised and reduced to its principal axes, only
to limit the cost. Directions beyond the last ρ > 1 are left empty. All pairs of the training data count, not 100,000.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.linear import (
    OTHER_FEATURES,
    LinearMethod,
    Projection,
    Standard,
    array_in,
    moment,
    principal_axes,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Reported, Samples, Views
from sketchhash.errors import BadArgument, require


@dataclass(eq=False)
class CrossViewQuadratic(LinearMethod):
    """Learns a subspace and a metric on differences between sketches and photos."""

    dimensions: int
    axes_per_view: int = 512
    ridge: float = 1e-3
    seed: int = 0
    _metric: Matrix = field(default_factory=lambda: np.empty((0, 0)), init=False, repr=False)

    def fit(self, views: Views) -> Self:
        """Solve for the subspace; nothing is random, so the seed has no effect."""
        standards = [Standard.of(features) for features in views.matrices]
        photos, sketches = (standard(features) for standard, features in zip(standards, views.matrices, strict=True))
        photo_axes, sketch_axes = (
            principal_axes(view.T @ view / len(view), self.axes_per_view) for view in (photos, sketches)
        )
        within, between = difference_covariances(
            photos @ photo_axes, views.photo_labels, sketches @ sketch_axes, views.sketch_labels
        )
        within += self.ridge * np.eye(len(within))
        ratios, vectors = require("scipy.linalg", "train").eigh(between, within)
        kept = np.flatnonzero(ratios > 1)[::-1][: self.dimensions]
        subspace = np.zeros((len(within), self.dimensions))
        subspace[:, : len(kept)] = vectors[:, kept]
        # The eigenvectors make WᵀΣ_IW = I and WᵀΣ_EW = diag(ρ).
        self._metric = np.zeros((self.dimensions, self.dimensions))
        np.fill_diagonal(self._metric[: len(kept), : len(kept)], 1 - 1 / ratios[kept])
        sketch_subspace, photo_subspace = np.split(subspace, [sketch_axes.shape[1]])
        return self._learn(
            Projection.of(standards[0], photo_axes @ photo_subspace),
            Projection.of(standards[1], sketch_axes @ sketch_subspace),
        )

    def encode_photos(self, photos: Samples) -> Matrix:
        """Return Wᵀz, and zᵀWMWᵀz in one more column: ``(n, dimensions + 1)``."""
        projected = super().encode_photos(photos)
        return np.column_stack([projected, (projected @ self._metric * projected).sum(axis=1)])

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Return 2MWᵀx, and −1 in one more column: ``(n, dimensions + 1)``."""
        projected = super().encode_sketches(sketches)
        return np.column_stack([2 * projected @ self._metric, np.full(len(projected), -1.0)])

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return both projections and the metric."""
        return {**super().state(), "metric": self._metric}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load both projections and the metric."""
        super().restore(state)
        self._metric = array_in(state, "metric", 2)
        if self._metric.shape != (self._projection("photos").weights.shape[1],) * 2:
            raise BadArgument(f"The metric does not fit the subspace: its shape is {self._metric.shape}.")
        return self


CARD = Card(
    name="xqda",
    title="XQDA",
    kind=Kind.CROSSVIEW,
    paper="Liao, Hu, Zhu, Li. Person re-identification by local maximal occurrence representation and metric "
    "learning. CVPR",
    year=2015,
    sees=Input.FEATURES,
    distance=Distance.INNER_PRODUCT,
    method=CrossViewQuadratic,
    choices=(
        "Features are standardised by the training data.",
        "Each view has a block of its own in one joint space, reduced to 512 principal axes.",
        "All training pairs, of one category and of two, in closed form rather than 100,000.",
        "0.001 added to the variances of differences within a category.",
    ),
    tuberlin=Reported.by_bits((0.191, 0.197, 0.201), (0.263, 0.278, 0.278)),
    sketchy=Reported.by_bits((0.460, 0.557, 0.550), (0.607, 0.715, 0.727)),
    earlier=OTHER_FEATURES
    + " The principal axes of one view were subtracted from those of the other, which have nothing "
    "to do with each other.",
    differs=OTHER_FEATURES + " Both views share one joint space, and all pairs count instead of 100,000.",
)


def difference_covariances(
    photos: Matrix, photo_labels: NDArray[np.int64], sketches: Matrix, sketch_labels: NDArray[np.int64]
) -> tuple[Matrix, Matrix]:
    """Return the second moments of (sketch, −photo) over all pairs of one category, and of two.

    Both are ``(sketch features + photo features,) * 2``.
    """
    categories = np.union1d(photo_labels, sketch_labels)
    photo_is, sketch_is = (
        (labels[:, None] == categories).astype(np.float64) for labels in (photo_labels, sketch_labels)
    )
    photo_counts, sketch_counts = photo_is.sum(axis=0), sketch_is.sum(axis=0)
    same = photo_counts @ sketch_counts
    different = len(photos) * len(sketches) - same
    if not same or not different:
        raise BadArgument("Both views need a category in common, and there must be two categories at least.")

    within = _joint(
        moment(sketches, sketch_is @ photo_counts),
        (sketch_is.T @ sketches).T @ (photo_is.T @ photos),
        moment(photos, photo_is @ sketch_counts),
    )
    everything = _joint(
        moment(sketches, np.full(len(sketches), float(len(photos)))),
        np.outer(sketches.sum(axis=0), photos.sum(axis=0)),
        moment(photos, np.full(len(photos), float(len(sketches)))),
    )
    return within / same, (everything - within) / different


def _joint(sketches: Matrix, cross: Matrix, photos: Matrix) -> Matrix:
    return np.block([[sketches, -cross], [-cross.T, photos]])
