"""Methods whose encodings are one affine map for each view: what most of the compared methods come to.

Each learns its maps in a way of its own; here they are kept, applied, saved and restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Given, Matrix, Standard, features_of
from sketchhash.errors import BadArgument, NotFitted

_ARRAYS = ("mean", "deviation", "weights", "offset")


@dataclass(frozen=True, eq=False)
class Projection:
    """Standardises features ``(n, features)``, multiplies by weights ``(features, size)`` and adds an offset."""

    standard: Standard
    weights: Matrix
    offset: Matrix

    @classmethod
    def of(cls, standard: Standard, weights: Matrix, offset: Matrix | None = None) -> Projection:
        """Put a map together; without an offset, none is added."""
        return cls(standard, weights, np.zeros(weights.shape[1]) if offset is None else offset)

    def __call__(self, given: Given) -> Matrix:
        """Project features: ``(n, size)``."""
        features = features_of(given)
        if features.shape[1] != len(self.weights):
            raise BadArgument(
                f"The features are {features.shape[1]} wide and the method learned from {len(self.weights)}: "
                "extract them as the training features were."
            )
        values: Matrix = self.standard(features) @ self.weights + self.offset
        return values


@dataclass(eq=False)
class LinearMethod:
    """Two projections, for subclasses to learn."""

    _projections: dict[str, Projection] = field(default_factory=dict, init=False, repr=False)

    def encode_photos(self, photos: Given) -> Matrix:
        """Project photo features: ``(n, size)``."""
        return self._projection("photos")(photos)

    def encode_sketches(self, sketches: Given) -> Matrix:
        """Project sketch features: ``(n, size)``."""
        return self._projection("sketches")(sketches)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Give both projections."""
        named: dict[str, NDArray[np.generic]] = {}
        for view in ("photos", "sketches"):
            projection = self._projection(view)
            standard = projection.standard
            arrays = (standard.mean, standard.deviation, projection.weights, projection.offset)
            named |= {f"{view}_{name}": array for name, array in zip(_ARRAYS, arrays, strict=True)}
        return named

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Take both projections back."""
        learned = {}
        for view in ("photos", "sketches"):
            names = [f"{view}_{name}" for name in _ARRAYS]
            mean, deviation, weights, offset = (take(state, name, 1 + name.endswith("weights")) for name in names)
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


def take(state: Mapping[str, NDArray[np.generic]], name: str, dimensions: int) -> Matrix:
    """Look up an array of doubles in a state, or refuse the state."""
    array = state.get(name)
    if array is None or array.ndim != dimensions or array.dtype != np.float64:
        found = "is missing" if array is None else f"is {array.dtype} of shape {array.shape}"
        raise BadArgument(f"This state is not of this method: {name} {found}. Give what state() gave.")
    return array.astype(np.float64)
