"""What HOG and SHELO share: descriptors of line drawings that learn nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.handcrafted.edges import photo_ink, sketch_ink
from sketchhash.baselines.handcrafted.rows import describe_all
from sketchhash.baselines.views import Given, Matrix, Picture, Views
from sketchhash.errors import BadArgument, NotFitted


class FixedDescriptor(ABC):
    """Describes ink, drawn or of Canny's edges, on a sheet of one size; ``fit`` is there for the contract alone."""

    dimensions: ClassVar[int]
    side: ClassVar[int]

    def __init__(self, size: int, *, seed: int = 0) -> None:
        """Refuse any size but the one it has; there is nothing random to seed."""
        if size != self.dimensions:
            raise BadArgument(f"{type(self).__name__} has {self.dimensions} dimensions, not {size}.")
        self._is_fitted = False

    @abstractmethod
    def describe(self, ink: Picture) -> Matrix:
        """Describe one sheet ``(side, side)``: ``(dimensions,)``."""

    def fit(self, views: Views) -> Self:
        """Learn nothing."""
        self._is_fitted = True
        return self

    def encode_photos(self, photos: Given) -> Matrix:
        """Describe the edges of photos: ``(n, dimensions)``."""
        self._check_fitted()
        return describe_all(photos, lambda photo: self.describe(photo_ink(photo, self.side)), self.dimensions)

    def encode_sketches(self, sketches: Given) -> Matrix:
        """Describe sketches: ``(n, dimensions)``."""
        self._check_fitted()
        return describe_all(sketches, lambda sketch: self.describe(sketch_ink(sketch, self.side)), self.dimensions)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Give nothing, which is all that was learned."""
        self._check_fitted()
        return {}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Take back nothing."""
        self._is_fitted = True
        return self

    def _check_fitted(self) -> None:
        if not self._is_fitted:
            raise NotFitted(f"{type(self).__name__} was not fitted yet. Call fit first.")
