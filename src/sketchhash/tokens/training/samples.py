"""What trees are grown from: classes of contours, and the pixels and features that one tree sees.

Each traced pixel has a patch around it, of one annotator's lines. Their DAISY descriptors are clustered by
k-means, and each cluster is a token class: straight lines of many directions, corners, junctions, curves, parallel
lines (Lim, Zitnick and Dollár, "Sketch Tokens", CVPR 2013, section 2.1). The paper gives no parameters of DAISY
and clusters all two million patches; we cluster a sample of them, which is also what the trees are grown from.
Describing the sampled pixels alone, one in 800, takes a quarter of the time of describing whole maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, DatasetProblem, UnknownName, require
from sketchhash.tokens.channels import FEATURES, RADIUS, channels, patch_features
from sketchhash.tokens.daisy import Daisy
from sketchhash.tokens.filters import Planes
from sketchhash.tokens.training.bsds import TracedPhoto, background_pixels, contour_places


@dataclass(frozen=True)
class Preset:
    """The sizes of a training run; memory is 4 bytes for each sample of a tree times its ``features``.

    Args:
        positives: Contour pixels of each token class, at most, that a tree sees.
        negatives: Background pixels of each photo, at most, that a tree sees.
        trees: Each grown from a sample of its own.
        features: How many features a tree may use, drawn for each tree; the rest are never computed.
        tokens: Classes of contours.
        contours: Contour pixels, out of all that were traced, that are sorted into classes.
    """

    positives: int
    negatives: int
    trees: int
    features: int = FEATURES
    tokens: int = 150
    contours: int = 200_000

    def __post_init__(self) -> None:
        """Raise if no forest can grow from these numbers."""
        for name, value in vars(self).items():
            if value < 1:
                raise BadArgument(f"{name} is a number from 1 up; got {value}.")
        if self.features > FEATURES:
            raise BadArgument(f"A patch has {FEATURES:,} features; {self.features:,} cannot be drawn from them.")


# "small" and "full" have the samples and trees of the authors' presets of these names. In place of their 27 GB,
# "full" takes 9 GB: a third of the features for each tree. "medium" takes 2.2 GB.
PRESETS: Mapping[str, Preset] = {
    "small": Preset(positives=100, negatives=80, trees=20),
    "medium": Preset(positives=250, negatives=200, trees=25, features=FEATURES // 3),
    "full": Preset(positives=1000, negatives=800, trees=25, features=FEATURES // 3, contours=500_000),
}


def preset(name: str) -> Preset:
    """Return the preset of that name.

    >>> preset("small").trees
    20
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise UnknownName("preset", name, PRESETS) from None


_SIDE = 2 * RADIUS + 1
_SHEET_COLUMNS, _SHEET_GAP = 15, 3
_ROUNDS = 50  # of k-means; most pixels stay in their class long before


@dataclass(frozen=True, eq=False)
class TokenClasses:
    """A sample of contour pixels, the class of each, and what the classes look like.

    Args:
        places: ``(pixels, 4)`` of photo, annotator, row, column, in order.
        tokens: ``(pixels,)``, the class of each pixel.
        pictures: ``(classes, 35, 35)``, the mean patch of each class, in [0, 1].
    """

    places: NDArray[np.int32]
    tokens: NDArray[np.int32]
    pictures: NDArray[np.float32]

    def sheet(self) -> NDArray[np.uint8]:
        """Lay out the mean patches as dark lines on white, the commonest class first, 15 a row."""
        commonest = np.argsort(-np.bincount(self.tokens, minlength=len(self.pictures)), kind="stable")
        rows = -(-len(commonest) // _SHEET_COLUMNS)
        cells = np.full((rows * _SHEET_COLUMNS, _SIDE + _SHEET_GAP, _SIDE + _SHEET_GAP), 255, dtype=np.uint8)
        cells[: len(commonest), :_SIDE, :_SIDE] = np.rint(255 * (1 - self.pictures[commonest]))
        grid = cells.reshape(rows, _SHEET_COLUMNS, *cells.shape[1:])
        return grid.swapaxes(1, 2).reshape(rows * cells.shape[1], -1)


def find_classes(
    photos: Sequence[TracedPhoto], preset: Preset, rng: np.random.Generator, advance: Callable[[], None]
) -> TokenClasses:
    """Sort a sample of the contour pixels into classes; ``advance`` is called after each photo.

    Raises:
        DatasetProblem: If there are fewer contour pixels than classes.
    """
    traced = contour_places(photos)
    if len(traced) < preset.tokens:
        raise DatasetProblem(
            f"{preset.tokens} classes of contours cannot be learned from {len(traced)} contour pixels: "
            f"the photos need more traced contours, at least {RADIUS} pixels from their borders."
        )
    sample = rng.choice(len(traced), min(preset.contours, len(traced)), replace=False, shuffle=False)
    places = traced[np.sort(sample)]

    descriptors = np.empty((len(places), DESCRIPTOR_LENGTH), dtype=np.float32)
    photo_ends = np.searchsorted(places[:, 0], np.arange(len(photos) + 1))
    for photo, (start, end) in zip(photos, pairwise(photo_ends), strict=True):
        _describe_photo(photo, places[start:end], descriptors[start:end])
        advance()
    tokens = _cluster(descriptors, preset.tokens, rng)
    return TokenClasses(places, tokens, _mean_patches(photos, places, tokens, preset.tokens))


REACH = 15  # pixels to the outermost ring, whose histograms fade out beyond a token's patch


def _smooth(planes: Planes, sigma: float) -> Planes:
    smoothed: Planes = require("scipy.ndimage", "train").gaussian_filter(planes, sigma, axes=(1, 2))
    return smoothed


_DAISY = Daisy(REACH, rings=3, smooth=_smooth)
DESCRIPTOR_LENGTH = _DAISY.length


def describe(contours: NDArray[np.bool_], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float32]:
    """Describe pixels of one map ``(h, w)``, at least `REACH` from its border: ``(pixels, 200)``, of unit length."""
    return _DAISY.describe(contours.astype(np.float32), rows, columns)


BACKGROUND = -1


@dataclass(frozen=True, eq=False)
class Pixels:
    """Pixels and the class of each, a token or `BACKGROUND`: ``places`` is ``(pixels, 3)`` of photo, row, column."""

    places: NDArray[np.int32]
    classes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Sample:
    """The pixels of one tree: the numbers of its ``features``, and their ``values``, ``(pixels, features)``."""

    features: NDArray[np.int32]
    values: NDArray[np.float32]
    classes: NDArray[np.int32]


def draw_pixels(photos: Sequence[TracedPhoto], found: TokenClasses, preset: Preset, rng: np.random.Generator) -> Pixels:
    """Draw up to ``positives`` pixels of each class and up to ``negatives`` background pixels of each photo.

    They come photo by photo. On BSDS500 about as many are of either kind, so that a share of a half says nothing
    for or against a contour.
    """
    order = rng.permutation(len(found.tokens))
    positives = np.concatenate(
        [order[found.tokens[order] == token][: preset.positives] for token in range(len(found.pictures))]
    )
    places, classes = [found.places[positives][:, [0, 2, 3]]], [found.tokens[positives]]
    for number, photo in enumerate(photos):
        background = rng.permutation(background_pixels(photo))[: preset.negatives]
        places.append(np.insert(background, 0, number, axis=1))
        classes.append(np.full(len(background), BACKGROUND, dtype=np.int32))
    if sum(map(len, places[1:])) == 0:
        raise DatasetProblem("No photo has background: contours are everywhere, or the photos are too small.")
    everywhere = np.concatenate(places)
    by_photo = np.argsort(everywhere[:, 0], kind="stable")
    return Pixels(everywhere[by_photo], np.concatenate(classes)[by_photo])


def measure(photos: Sequence[TracedPhoto], pixels: Pixels, preset: Preset, rng: np.random.Generator) -> Sample:
    """Compute the features of pixels, as many as a tree may use.

    Channels are computed anew for every tree: that takes seconds, and to keep them would take 2 GB.
    """
    features = np.sort(rng.choice(FEATURES, preset.features, replace=False)).astype(np.int32)
    # A tree is grown feature by feature: each one's values lie together.
    values = np.empty((len(features), len(pixels.places)), dtype=np.float32).T
    photo_ends = np.searchsorted(pixels.places[:, 0], np.arange(len(photos) + 1))
    for photo, (start, end) in zip(photos, pairwise(photo_ends), strict=True):
        _, rows, columns = pixels.places[start:end].T
        values[start:end] = patch_features(channels(photo.photo), rows, columns, features)
    return Sample(features, values, pixels.classes)


def _describe_photo(photo: TracedPhoto, places: NDArray[np.int32], descriptors: NDArray[np.float32]) -> None:
    for annotator, contours in enumerate(photo.contours):
        theirs = places[:, 1] == annotator
        descriptors[theirs] = describe(contours, places[theirs, 2], places[theirs, 3])


def _cluster(descriptors: NDArray[np.float32], classes: int, rng: np.random.Generator) -> NDArray[np.int32]:
    cluster = require("sklearn.cluster", "train")
    threads = require("threadpoolctl", "train")
    k_means = cluster.KMeans(classes, n_init=1, max_iter=_ROUNDS, random_state=int(rng.integers(2**31)))
    # Threads add up their shares in the order in which they finish: one alone gives the same classes every time.
    with threads.threadpool_limits(1):
        tokens: NDArray[np.int32] = k_means.fit_predict(descriptors)
    return tokens


def _mean_patches(
    photos: Sequence[TracedPhoto], places: NDArray[np.int32], tokens: NDArray[np.int32], classes: int
) -> NDArray[np.float32]:
    total = np.zeros((classes, _SIDE, _SIDE), dtype=np.float32)
    for (photo, annotator, row, column), token in zip(places, tokens, strict=True):
        total[token] += photos[photo].contours[
            annotator, row - RADIUS : row + RADIUS + 1, column - RADIUS : column + RADIUS + 1
        ]
    total /= np.bincount(tokens, minlength=classes)[:, None, None].clip(1).astype(np.float32)
    return total
