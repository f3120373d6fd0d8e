"""What the methods that learn from features share: training pairs, their covariances, and linear maps.

Most compared methods encode each view by one affine map (`LinearMethod`); they differ in how they learn it.

Section 4.1 of the paper trains on 100,000 pairs of a photo and a sketch of one category: 800 a category with 125
categories, 400 with 250. They are drawn from far fewer photos and sketches, so a sum over pairs is a sum over rows,
each weighted by how often it was drawn; sums that mix both views use a sparse matrix that counts each pair. The numbers
are the same, at a cost that hardly depends on the number of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.method import Matrix, Samples, Views, features_of
from sketchhash.errors import BadArgument, NotFitted, require

PAIRS = 100_000

# Choices that several cards state.
STANDARDISED = "Features are standardised by the training pairs."
DRAWN_PAIRS = "100,000 pairs (section 4.1), shared evenly by the categories; drawn with replacement."
OTHER_FEATURES = (
    "Other features: of photos by the trunk that DSH's C1 starts from instead of AlexNet's fc7, of sketches by a "
    "Sketch-a-Net that was fitted here."
)
RIDGE = "A ridge of 0.1 on the covariances of standardised features; the paper gives none."

Rows = NDArray[np.int64]

_ARRAYS = ("mean", "deviation", "weights", "offset")
# Below this a whole decomposition is faster than an iterative one, which also needs some room.
_SMALL = 64


@dataclass(frozen=True, eq=False)
class Standard:
    """Shifts and scales features to mean 0 and variance 1 over the training features."""

    mean: Matrix
    deviation: Matrix

    @classmethod
    def of(cls, features: NDArray[np.floating], weights: Matrix | None = None) -> Standard:
        """Measure features, with a weight for each row if given; a constant feature is left unscaled."""
        mean = np.average(features.astype(np.float64, copy=False), axis=0, weights=weights)
        deviation = np.sqrt(np.average(np.square(features - mean), axis=0, weights=weights))
        # The mean of equal numbers may differ from them in its last digit, which is no deviation.
        is_constant = deviation <= 1e-12 * np.abs(mean)
        return cls(mean, np.where(is_constant, 1.0, deviation))

    def __call__(self, features: NDArray[np.floating]) -> Matrix:
        """Shift and scale features."""
        scaled: Matrix = (features - self.mean) / self.deviation
        return scaled


@dataclass(frozen=True, eq=False)
class Projection:
    """Standardises features ``(n, features)``, multiplies by weights ``(features, size)`` and adds an offset."""

    standard: Standard
    weights: Matrix
    offset: Matrix

    @classmethod
    def of(cls, standard: Standard, weights: Matrix, offset: Matrix | None = None) -> Projection:
        """Build a projection; the offset is zero unless given."""
        return cls(standard, weights, np.zeros(weights.shape[1]) if offset is None else offset)

    def __call__(self, samples: Samples) -> Matrix:
        """Project features: ``(n, size)``."""
        features = features_of(samples)
        check_width(features, len(self.weights))
        values: Matrix = self.standard(features) @ self.weights + self.offset
        return values


@dataclass(eq=False)
class LinearMethod:
    """A method with one projection for each view, which subclasses learn."""

    _projections: dict[str, Projection] = field(default_factory=dict, init=False, repr=False)

    def encode_photos(self, photos: Samples) -> Matrix:
        """Project photo features: ``(n, size)``."""
        return self._projection("photos")(photos)

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Project sketch features: ``(n, size)``."""
        return self._projection("sketches")(sketches)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return both projections."""
        named: dict[str, NDArray[np.generic]] = {}
        for view in ("photos", "sketches"):
            projection = self._projection(view)
            standard = projection.standard
            arrays = (standard.mean, standard.deviation, projection.weights, projection.offset)
            named |= {f"{view}_{name}": array for name, array in zip(_ARRAYS, arrays, strict=True)}
        return named

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load both projections."""
        learned = {}
        for view in ("photos", "sketches"):
            names = [f"{view}_{name}" for name in _ARRAYS]
            mean, deviation, weights, offset = (array_in(state, name, 1 + name.endswith("weights")) for name in names)
            if weights.shape != (len(mean), len(offset)) or mean.shape != deviation.shape:
                raise BadArgument(f"The weights of {view} do not fit its means: {weights.shape} and {mean.shape}.")
            learned[view] = Projection(Standard(mean, deviation), weights, offset)
        self._projections = learned
        return self

    def _learn(self, photos: Projection, sketches: Projection) -> Self:
        self._projections = {"photos": photos, "sketches": sketches}
        return self

    def _projection(self, view: str) -> Projection:
        if view not in self._projections:
            raise NotFitted(f"{type(self).__name__} has learned nothing yet. Call fit first.")
        return self._projections[view]


def check_width(features: NDArray[np.floating], width: int) -> None:
    """Raise unless features ``(n, features)`` are as wide as those a method was fitted on."""
    if features.shape[1] != width:
        raise BadArgument(
            f"The features are {features.shape[1]} wide and the method learned from {width}: "
            "extract them as the training features were."
        )


def array_in(state: Mapping[str, NDArray[np.generic]], name: str, dimensions: int) -> Matrix:
    """Return an array of doubles from a state, or raise if it is not there."""
    array = state.get(name)
    if array is None or array.ndim != dimensions or array.dtype != np.float64:
        found = "is missing" if array is None else f"is {array.dtype} of shape {array.shape}"
        raise BadArgument(f"This state is not of this method: {name} {found}. Pass what state() returned.")
    return array.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Covariances:
    """Second moments of standardised pairs: photos ``(p, p)``, sketches ``(q, q)`` and both ``(p, q)``."""

    photos: Matrix
    sketches: Matrix
    cross: Matrix

    def check(self, size: int) -> None:
        """Raise if more directions are asked for than there are features."""
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
        """Draw about ``total`` pairs, equally many of each category."""
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
        """Average over the pairs."""
        weights = np.full(len(self.photo_rows), 1 / len(self.photo_rows))
        return Covariances(
            moment(self.photos, self.photo_shares),
            moment(self.sketches, self.sketch_shares),
            cross_moment(self.photos, self.sketches, self.photo_rows, self.sketch_rows, weights),
        )


def shares(rows: Rows, length: int) -> Matrix:
    """Count how often each of ``length`` rows was drawn, as a share of all draws."""
    drawn: Matrix = np.bincount(rows, minlength=length) / len(rows)
    return drawn


def moment(features: Matrix, weights: Matrix) -> Matrix:
    """Return Σ_i w_i x_i x_iᵀ over rows, symmetric to the last digit: ``(features, features)``."""
    weighted = features * np.sqrt(weights)[:, None]
    square: Matrix = weighted.T @ weighted
    return square


def cross_moment(photos: Matrix, sketches: Matrix, photo_rows: Rows, sketch_rows: Rows, weights: Matrix) -> Matrix:
    """Return Σ_k w_k x_k y_kᵀ over pairs of rows: ``(photo features, sketch features)``."""
    sparse = require("scipy.sparse", "train")
    counts = sparse.csr_array((weights, (photo_rows, sketch_rows)), shape=(len(photos), len(sketches)))
    product: Matrix = photos.T @ (counts @ sketches)
    return product


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of photos ``(p, k)`` and of sketches ``(q, k)``, and how strongly each two correlate ``(k,)``."""

    photos: Matrix
    sketches: Matrix
    strengths: Matrix


@dataclass(frozen=True, eq=False)
class Whitening:
    """Inverse roots of both views' covariances.

    With them, max tr(AᵀKB) subject to AᵀC_pA = BᵀC_sB = I, for any K, is one singular value decomposition. That is the
    generalised eigenvalue problem K C_s⁻¹ Kᵀ a = ρ² C_p a, without its division by small ρ.
    """

    photos: Matrix
    sketches: Matrix

    @classmethod
    def of(cls, covariances: Covariances, ridge: float) -> Whitening:
        """Whiten both views; ``ridge`` is added to the variances first."""
        return cls(_inverse_root(covariances.photos, ridge), _inverse_root(covariances.sketches, ridge))

    def whitened(self, cross: Matrix) -> Matrix:
        """Return K between whitened views."""
        between: Matrix = self.photos @ cross @ self.sketches
        return between

    def directions(self, cross: Matrix) -> Directions:
        """Solve for all directions."""
        left, strengths, right = np.linalg.svd(self.whitened(cross), full_matrices=False)
        return Directions(self.photos @ left, self.sketches @ right.T, strengths)


def principal_axes(covariance: Matrix, count: int) -> Matrix:
    """Return the axes of largest variance ``(features, count)``, largest first."""
    axes: Matrix = np.linalg.eigh(covariance)[1][:, ::-1][:, :count]
    return axes


def leading_vectors(matrix: Matrix) -> tuple[Matrix, float, Matrix]:
    """Return the left singular vector, the value and the right vector of the largest singular value."""
    if min(matrix.shape) < _SMALL:
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        return left[:, 0], float(values[0]), right[0]
    start = np.random.default_rng(0).normal(size=min(matrix.shape))  # a fixed start, for reproducible signs
    left, values, right = require("scipy.sparse.linalg", "train").svds(matrix, k=1, v0=start)
    return left[:, 0], float(values[0]), right[0]


def _inverse_root(covariance: Matrix, ridge: float) -> Matrix:
    values, vectors = np.linalg.eigh(covariance + ridge * np.eye(len(covariance)))
    root: Matrix = vectors / np.sqrt(values) @ vectors.T
    return root
