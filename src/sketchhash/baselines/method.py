"""The contract of every compared method: its training data, its encodings and its card.

A method is one module with a class and its card, and one row in the catalogue. The class is built as
``Class(size, seed=seed)``; ``size`` is the number of bits or dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument

Matrix = NDArray[np.float64]
Picture = NDArray[np.uint8]
Samples = NDArray[np.floating] | Sequence[Picture]


class Kind(StrEnum):
    """The families of methods in the paper's tables."""

    HANDCRAFTED = "hand-crafted"
    DEEP = "deep"
    HASHING = "cross-modality hashing"
    CROSSVIEW = "cross-view features"


class Input(StrEnum):
    """The input of a method.

    *features*: matrices ``(n, features)`` from extractors that all such methods share. *pictures*: sequences of
    ``uint8`` arrays, decoded when accessed: photos ``(height, width, 3)`` of any size, sketches ``(side, side)`` in the
    normal form of `sketchhash.imaging`, paper 255 and ink 0.
    """

    FEATURES = "features"
    PICTURES = "pictures"


class Distance(StrEnum):
    """How two encodings are compared: *hamming* by their signs only, *inner product* with the largest first."""

    HAMMING = "hamming"
    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"
    COSINE = "cosine"
    INNER_PRODUCT = "inner product"
    INTERSECTION = "histogram intersection"


@dataclass(frozen=True, eq=False)
class Views:
    """Training data of both views, features ``(n, features)`` or pictures, with labels ``(n,)``.

    ``photo_classes`` ``(photos, classes)`` is what a classifier that was taught before says of each photo: the chances
    of its own classes. Methods that keep such knowledge learn from it where it is given.
    """

    photos: Samples
    photo_labels: NDArray[np.int64]
    sketches: Samples
    sketch_labels: NDArray[np.int64]
    photo_classes: NDArray[np.floating] | None = None

    @property
    def matrices(self) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """The features of photos and of sketches; pictures raise `BadArgument`."""
        return features_of(self.photos), features_of(self.sketches)

    def pairs(self, per_category: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw pairs of rows (photo, sketch) of the same category, with replacement, as in section 4.1."""
        shared = np.intersect1d(self.photo_labels, self.sketch_labels)
        if not len(shared):
            raise BadArgument("No category has both photos and sketches, so there are no pairs to learn from.")
        photos, sketches = (
            np.concatenate([rng.choice(np.flatnonzero(labels == label), per_category) for label in shared])
            for labels in (self.photo_labels, self.sketch_labels)
        )
        return photos, sketches


class Method(Protocol):
    """Learns from both views, then encodes photos or sketches, also unseen ones; never modifies its input.

    All randomness comes from the seed it was built with. Encoding before fitting raises `NotFitted`.
    """

    def fit(self, views: Views) -> Self:
        """Learn from training data."""
        ...

    def encode_photos(self, photos: Samples) -> Matrix:
        """Encode photos: ``(n, size)``, or more columns where the distance needs them."""
        ...

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Encode sketches, with as many columns as photos have."""
        ...

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return everything that was learned, as named arrays."""
        ...

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load what `state` returned."""
        ...


class MethodClass(Protocol):
    """The class of a method, as a card refers to it."""

    __module__: str
    __name__: str

    def __call__(self, size: int, /, *, seed: int) -> Method:
        """Build an unfitted method."""
        ...


@dataclass(frozen=True)
class Reported:
    """The paper's numbers on one dataset, by size: mAP and precision at 200."""

    mean_average_precision: Mapping[int, float]
    precision_at_200: Mapping[int, float]

    @classmethod
    def by_bits(cls, mean_average_precision: Sequence[float], precision_at_200: Sequence[float]) -> Reported:
        """Build from the numbers of a hashing method at 32, 64 and 128 bits."""
        numbers = (mean_average_precision, precision_at_200)
        return cls(*(dict(zip((32, 64, 128), some, strict=True)) for some in numbers))

    @classmethod
    def at(cls, size: int, mean_average_precision: float, precision_at_200: float) -> Reported:
        """Build from the numbers of a method of one size."""
        return cls({size: mean_average_precision}, {size: precision_at_200})


@dataclass(frozen=True)
class Card:
    """The facts of a method.

    ``sizes`` is empty for a method of any code length; otherwise it lists the only dimension. ``choices`` says what
    neither the paper nor the method's own paper fixes, and what was reduced to fit one small machine. ``tuberlin`` and
    ``sketchy`` are the paper's numbers, where it has any; ``differs`` says in short what, beside the data, keeps ours
    from being these, and ``earlier`` what kept the runs of an earlier version, where such are recorded. ``published``
    is what the paper of a later method reports.
    """

    name: str
    title: str
    kind: Kind
    paper: str
    year: int
    sees: Input
    distance: Distance
    method: MethodClass
    choices: tuple[str, ...]
    tuberlin: Reported | None = None
    sketchy: Reported | None = None
    sizes: tuple[int, ...] = ()
    differs: str = ""
    earlier: str = ""
    published: str = ""

    @property
    def implementation(self) -> str:
        """The method's class as ``module:class``, by which recorded runs identify it."""
        module = self.method.__module__.removeprefix("sketchhash.baselines.")
        return f"{module}:{self.method.__name__}"

    def build(self, size: int, seed: int) -> Method:
        """Build an unfitted method."""
        return self.method(size, seed=seed)


def settings_of(method: Method) -> dict[str, object]:
    """Return the parameters of a method: the fields it was built with; empty if it has none."""
    if not is_dataclass(method):
        return {}
    return {field.name: getattr(method, field.name) for field in fields(method) if field.init}


def features_of(samples: Samples) -> NDArray[np.floating]:
    """Return samples as finite features ``(n, features)``, or raise `BadArgument`."""
    if not isinstance(samples, np.ndarray) or samples.ndim != 2 or samples.dtype.kind != "f":
        raise BadArgument("This method learns from features, a matrix with one row each; extract them from pictures.")
    if not np.isfinite(samples).all():
        raise BadArgument("A feature is infinite or not a number: check how the features were extracted.")
    return samples
