"""What the hand-crafted methods share: line drawings, many pictures at once, fixed descriptors and visual words.

Photos and sketches become the same kind of line drawing. The paper computes Canny edges of the photos for HOG, GF-HOG
and SHELO (section 4.1), and says no more. Here a photo's edges are selected like its sketch tokens: those that reach
60 % of its highest score, and at most 8 % of its pixels.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.baselines.method import Matrix, Picture, Samples, Views
from sketchhash.errors import BadArgument, NotFitted, require
from sketchhash.imaging.sketches import skeletonise
from sketchhash.tokens.contours import TokenStyle, draw, strong_contours
from sketchhash.tokens.detectors import as_rgb
from sketchhash.tokens.peers import Canny

# Choices that several cards state.
EDGES = "Canny's edges at a longest side of 200 pixels, selected as sketch tokens are: 60 % of the highest score."
SQUEEZED = "Edges squeezed to a square and drawn by the pen of the sketches."

LONGEST_SIDE = 200

Descriptors = NDArray[np.float32]
Row = TypeVar("Row", bound=np.generic)

_SHORTEST_SIDE = 32  # a panorama is stretched to this, or nothing would be left inside its border
_CANNY = Canny()
_STYLE = TokenStyle()
_K_MEANS_BATCH = 8192


def photo_edges(photo: Picture) -> NDArray[np.bool_]:
    """Mark the strongest edges of a photo, one pixel thin; its longest side becomes 200 pixels."""
    picture = Image.fromarray(as_rgb(photo))
    scale = LONGEST_SIDE / max(picture.size)
    width, height = (max(round(side * scale), _SHORTEST_SIDE) for side in picture.size)
    resized = picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0)
    return strong_contours(_CANNY.detect(np.asarray(resized)), _STYLE)


def sketch_edges(sketch: Picture) -> NDArray[np.bool_]:
    """Mark the middle of a sketch's lines, one pixel thin: ``(200, 200)``."""
    return skeletonise(sketch_ink(sketch, LONGEST_SIDE) < 128)


def photo_ink(photo: Picture, side: int) -> Picture:
    """Draw the edges of a photo with the pen of the sketches, squeezed to a square: ``(side, side)``."""
    return draw(photo_edges(photo), side, _STYLE.ink.line_width)


def sketch_ink(sketch: Picture, side: int) -> Picture:
    """Resize a sketch to ``(side, side)``, paper 255 and ink 0; raise if it is not a sketch."""
    if sketch.dtype != np.uint8 or sketch.ndim != 2 or sketch.size == 0:
        raise BadArgument(f"A sketch is uint8 of shape (side, side), not empty; got {sketch.dtype} {sketch.shape}.")
    return np.asarray(Image.fromarray(sketch).resize((side, side), Image.Resampling.BICUBIC, reducing_gap=3.0))


def describe_each(
    pictures: Samples, describe: Callable[[Picture], NDArray[np.floating]], chosen: Sequence[int] | None = None
) -> Iterator[NDArray[np.floating]]:
    """Yield the description of each picture, or of the ``chosen`` ones, in order; uses all cores."""
    if isinstance(pictures, np.ndarray) and pictures.dtype != np.uint8:
        raise BadArgument("This method describes pictures, and was given features: give the pictures themselves.")
    sequence = cast(Sequence[Picture], pictures)
    threads = require("threadpoolctl", "bench")
    with threads.threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda row: describe(sequence[row]), range(len(sequence)) if chosen is None else chosen)


def describe_all(pictures: Samples, describe: Callable[[Picture], NDArray[np.floating]], size: int) -> Matrix:
    """Stack the descriptions of all pictures: ``(n, size)``."""
    rows = np.empty((len(pictures), size))
    for row, description in zip(rows, describe_each(pictures, describe), strict=True):
        row[:] = description
    return rows


class FixedDescriptor(ABC):
    """Describes a square of ink, from a sketch or from a photo's edges; ``fit`` learns nothing."""

    dimensions: ClassVar[int]
    side: ClassVar[int]

    def __init__(self, size: int, *, seed: int = 0) -> None:
        """Accept only the descriptor's own size; nothing is random, so the seed has no effect."""
        if size != self.dimensions:
            raise BadArgument(f"{type(self).__name__} has {self.dimensions} dimensions, not {size}.")
        self._is_fitted = False

    @abstractmethod
    def describe(self, ink: Picture) -> Matrix:
        """Describe one picture of ink ``(side, side)``: ``(dimensions,)``."""

    def fit(self, views: Views) -> Self:
        """Learn nothing."""
        self._is_fitted = True
        return self

    def encode_photos(self, photos: Samples) -> Matrix:
        """Describe the edges of photos: ``(n, dimensions)``."""
        self._check_fitted()
        return describe_all(photos, lambda photo: self.describe(photo_ink(photo, self.side)), self.dimensions)

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Describe sketches: ``(n, dimensions)``."""
        self._check_fitted()
        return describe_all(sketches, lambda sketch: self.describe(sketch_ink(sketch, self.side)), self.dimensions)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return no arrays, as nothing is learned."""
        self._check_fitted()
        return {}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Mark the descriptor as fitted."""
        self._is_fitted = True
        return self

    def _check_fitted(self) -> None:
        if not self._is_fitted:
            raise NotFitted(f"{type(self).__name__} was not fitted yet. Call fit first.")


def some_rows(rows: NDArray[Row], most: int, seed: int) -> NDArray[Row]:
    """Draw at most ``most`` rows without replacement; the result depends on the seed only, not on earlier draws."""
    if len(rows) <= most:
        return rows
    return rows[np.random.default_rng(seed).choice(len(rows), most, replace=False, shuffle=False)]


def find_words(descriptors: Descriptors, words: int, rng: np.random.Generator) -> Descriptors:
    """Cluster descriptors ``(n, features)`` and return the centres: ``(words, features)``."""
    if len(descriptors) < words:
        raise BadArgument(
            f"{words} words cannot be learned from {len(descriptors)} local descriptors: "
            "give more pictures, or ask for a smaller size."
        )
    cluster = require("sklearn.cluster", "bench")
    threads = require("threadpoolctl", "bench")
    k_means = cluster.MiniBatchKMeans(words, batch_size=_K_MEANS_BATCH, n_init=1, random_state=int(rng.integers(2**31)))
    # Several threads add their sums in the order in which they finish; one thread gives the same words every time.
    with threads.threadpool_limits(1):
        centres: Descriptors = k_means.fit(descriptors).cluster_centers_.astype(np.float32)
    return centres


def squared_distances(descriptors: Descriptors, words: Descriptors) -> Descriptors:
    """Return the squared distance from every descriptor to every word: ``(n, words)``."""
    distances = descriptors @ (-2 * words.T)
    distances += np.square(words).sum(axis=1)
    distances += np.square(descriptors).sum(axis=1)[:, None]
    return distances.clip(0, out=distances)
