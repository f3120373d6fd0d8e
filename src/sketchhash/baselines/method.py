"""The contract of every compared method: what it learns from, what it gives, and its card.

A method is one module with one class, made by ``build(size, seed)``, and one row in the catalogue. ``size`` is the
number of bits or dimensions; a method of fixed dimension is built with that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Given, Matrix, Views


class Kind(StrEnum):
    """The families of methods in the paper's tables."""

    HANDCRAFTED = "hand-crafted"
    DEEP = "deep"
    HASHING = "cross-modality hashing"
    CROSSVIEW = "cross-view features"


class Sees(StrEnum):
    """What a method is given.

    *features*: matrices ``(n, features)`` from extractors that all such methods share. *pictures*: sequences of
    ``uint8`` arrays, decoded when asked: photos ``(height, width, 3)`` of any size, sketches ``(side, side)`` in the
    normal form of `sketchhash.imaging`, paper 255 and ink 0.
    """

    FEATURES = "features"
    PICTURES = "pictures"


class Distance(StrEnum):
    """How two encodings are compared; the signs alone for *hamming*, and the largest first for *inner product*."""

    HAMMING = "hamming"
    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"
    COSINE = "cosine"
    INNER_PRODUCT = "inner product"
    INTERSECTION = "histogram intersection"


class Method(Protocol):
    """Learns from both views, then encodes either, seen or not; never changes what it is given.

    Everything random comes from the seed it was built with. Encoding before fitting raises `NotFitted`.
    """

    def fit(self, views: Views) -> Self:
        """Learn from training data."""
        ...

    def encode_photos(self, photos: Given) -> Matrix:
        """Encode photos: ``(n, size)``, or more columns where the distance needs them."""
        ...

    def encode_sketches(self, sketches: Given) -> Matrix:
        """Encode sketches, with as many columns as photos have."""
        ...

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Give all that was learned, as named arrays."""
        ...

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Take back what `state` gave."""
        ...


@dataclass(frozen=True)
class Reported:
    """The paper's numbers on one dataset, by size: mAP and precision at 200."""

    mean_average_precision: Mapping[int, float]
    precision_at_200: Mapping[int, float]


@dataclass(frozen=True)
class Card:
    """A row of the catalogue: the facts of a method.

    ``sizes`` is empty for a method of any code length, and else lists its only dimension. ``choices`` says what neither
    the paper nor the method's own paper fixes, and what was reduced to fit one small machine. ``implementation`` is
    ``module:class``, imported when built: the list of methods must not cost an import of PyTorch.
    """

    name: str
    title: str
    kind: Kind
    paper: str
    year: int
    sees: Sees
    distance: Distance
    implementation: str
    choices: tuple[str, ...]
    tuberlin: Reported | None = None
    sketchy: Reported | None = None
    sizes: tuple[int, ...] = ()

    def build(self, size: int, seed: int) -> Method:
        """Make an unfitted method."""
        module, _, name = self.implementation.partition(":")
        method: Method = getattr(import_module(f"sketchhash.baselines.{module}"), name)(size, seed=seed)
        return method
