"""Learned keyshapes (LKS).

Saavedra, Barrios. Sketch based image retrieval using learned keyshapes (LKS). BMVC 2015.

    ink ──► DAISY at stroke points ──► votes for the nearest keyshapes ──► histograms of 3 × 3 regions

Keyshapes are typical local strokes, learned from sketches by k-means; 150 in 9 regions make 1350 dimensions. Photos
are described by their sketch tokens, thresholded at 60 % of the highest score (Liu et al., section 2.1).

DAISY has 2 rings here and reaches 8 pixels on a picture of 200, about the 31 × 31 pixels of LKS on 400. The one that
trains sketch tokens has three rings and wider, exact smoothing, and would take most of the time for a picture.

| symbol | here                                                              |
|--------|-------------------------------------------------------------------|
| δ_j    | distance of a point's descriptor from its j-th nearest keyshape    |
| σ_j    | ``spreads``: root mean square of δ among the keyshape's members    |
| G_j    | normal density, exp(−½ δ_j²/σ_j²) / (σ_j √2π); a vote is G_j / ΣG  |

Where we differ: keyshapes are learned from the training sketches rather than all of TU-Berlin, from 150,000
descriptors rather than a million. A picture has 200 pixels a side rather than 400, and DAISY reaches half as far on
it. We could not find how many points vote, and for how many keyshapes; here 500 points vote for 4 each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.handcrafted.descriptors import (
    Descriptors,
    describe_all,
    describe_each,
    find_words,
    sketch_ink,
    some_rows,
    squared_distances,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Picture, Reported, Samples, Views
from sketchhash.errors import BadArgument, NotFitted
from sketchhash.tokens import sketch as token_sketch
from sketchhash.tokens.daisy import Daisy
from sketchhash.tokens.filters import blur

REACH = 8  # of DAISY, in pixels

_SIDE = 200
_REGIONS = 3  # a side
_POINTS = 500  # stroke points of one picture that vote
_NEAREST = 4  # keyshapes that share a point's vote
_DESCRIPTORS_A_KEYSHAPE = 1000
_PAPER = 3 * REACH  # around the picture, wider than the smoothing reaches
_DAISY = Daisy(REACH, rings=2, smooth=blur)


class LKS:
    """Counts how often each keyshape occurs in each region of a picture; ``size`` is nine times their number."""

    def __init__(self, size: int, *, seed: int = 0) -> None:
        """Choose the number of keyshapes; the paper has 150, which is size 1350."""
        if size < 1 or size % _REGIONS**2:
            raise BadArgument(f"LKS has {_REGIONS**2} dimensions for every keyshape, such as 1350; got size={size}.")
        self.size = size
        self.seed = seed
        self._learned: tuple[Descriptors, Descriptors] | None = None

    def fit(self, views: Views) -> Self:
        """Learn the keyshapes from the sketches, and how far their members lie from them."""
        count = self.size // _REGIONS**2
        wanted = -(-_DESCRIPTORS_A_KEYSHAPE * count // len(views.sketches))
        found = describe_each(views.sketches, lambda sketch: self._described(sketch_ink(sketch, _SIDE), wanted)[1])
        descriptors = np.concatenate(list(found))
        keyshapes = find_words(descriptors, count, np.random.default_rng(self.seed))
        self._learned = keyshapes, spreads_of(keyshapes, descriptors)
        return self

    def encode_photos(self, photos: Samples) -> Matrix:
        """Describe the sketch tokens of photos: ``(n, size)``, roots of votes that sum to one, or zeros without ink."""
        learned = self._check_fitted()
        return describe_all(photos, lambda photo: self._histogram(token_sketch(photo, _SIDE), *learned), self.size)

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Describe sketches: ``(n, size)``."""
        learned = self._check_fitted()
        return describe_all(sketches, lambda sketch: self._histogram(sketch_ink(sketch, _SIDE), *learned), self.size)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return the keyshapes ``(size // 9, 136)`` and their spreads ``(size // 9,)``."""
        keyshapes, spreads = self._check_fitted()
        return {"keyshapes": keyshapes, "spreads": spreads}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load keyshapes and spreads."""
        self._learned = state["keyshapes"].astype(np.float32), state["spreads"].astype(np.float32)
        return self

    def _check_fitted(self) -> tuple[Descriptors, Descriptors]:
        if self._learned is None:
            raise NotFitted("LKS has learned no keyshapes yet. Call fit first.")
        return self._learned

    def _described(self, ink: Picture, most: int) -> tuple[NDArray[np.intp], Descriptors]:
        points = some_rows(np.argwhere(ink < 128), most, self.seed)
        return points, describe(ink, points)

    def _histogram(self, ink: Picture, keyshapes: Descriptors, spreads: Descriptors) -> Matrix:
        points, descriptors = self._described(ink, _POINTS)
        nearest, shares = votes(descriptors, keyshapes, spreads)
        region_rows, region_columns = (points * _REGIONS // _SIDE).T
        region = region_rows * _REGIONS + region_columns
        place = region[:, None] * len(keyshapes) + nearest
        histogram = np.bincount(place.ravel(), shares.ravel(), minlength=self.size)
        rooted: Matrix = np.sqrt(histogram / max(len(points), 1))
        return rooted


CARD = Card(
    name="lks",
    title="LKS",
    kind=Kind.HANDCRAFTED,
    paper="Saavedra, Barrios. Sketch based image retrieval using learned keyshapes (LKS). BMVC",
    year=2015,
    sees=Input.PICTURES,
    distance=Distance.COSINE,
    method=LKS,
    choices=(
        "Sketch tokens of the package's own forest, squeezed to a square and drawn by the pen of the sketches.",
        "Keyshapes learned from the training sketches, 1,000 descriptors each, by mini-batch k-means.",
        "500 stroke points of a picture vote, each for its 4 nearest keyshapes.",
        "Roots of votes compared by cosine, which ranks as the Hellinger distance does.",
    ),
    tuberlin=Reported.at(1350, 0.157, 0.204),
    sketchy=Reported.at(1350, 0.190, 0.230),
    sizes=(1350,),
    differs="Keyshapes come from fewer descriptors, of the training sketches alone; pictures have 200 pixels a side "
    "instead of 400; how many points vote, and for how many keyshapes, could not be found.",
)


def votes(
    descriptors: Descriptors, keyshapes: Descriptors, spreads: Descriptors
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Share the vote of each descriptor among its nearest keyshapes: which ones, and shares that sum to one."""
    distances = squared_distances(descriptors, keyshapes)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :_NEAREST]
    ratio = np.take_along_axis(distances, nearest, axis=1).astype(np.float64) / spreads[nearest] ** 2
    densities = -ratio / 2 - np.log(spreads[nearest])
    shares = np.exp(densities - densities.max(axis=1, keepdims=True, initial=-np.inf))
    return nearest, shares / shares.sum(axis=1, keepdims=True)


def spreads_of(keyshapes: Descriptors, descriptors: Descriptors) -> Descriptors:
    """Return the root mean square distance of descriptors from their keyshape: ``(keyshapes,)``.

    A keyshape with fewer than two members gets the spread of all descriptors.
    """
    distances = squared_distances(descriptors, keyshapes)
    nearest = distances.argmin(axis=1)
    squares = distances[np.arange(len(distances)), nearest]
    members = np.bincount(nearest, minlength=len(keyshapes))
    sums = np.bincount(nearest, squares, minlength=len(keyshapes))
    own = np.where(members > 1, sums / members.clip(1), squares.mean())
    # Identical members have no spread, which would then be a divisor.
    spreads: Descriptors = np.sqrt(own.clip(1e-6)).astype(np.float32)
    return spreads


def describe(ink: Picture, points: NDArray[np.intp]) -> NDArray[np.float32]:
    """Describe the ink around points ``(n, 2)``, row and column: ``(n, 136)``, of unit length where there is ink."""
    darkness = (1 - np.pad(ink, _PAPER, constant_values=255) / 255).astype(np.float32)
    rows, columns = (points + _PAPER).T
    return _DAISY.describe(darkness, rows, columns)
