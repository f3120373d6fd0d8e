"""Token classes: the contours that people draw, sorted by what they look like.

Each traced pixel has a patch around it, of one annotator's lines. Their DAISY descriptors are clustered by
k-means, and each cluster is a class: straight lines of many directions, corners, junctions, curves, parallel
lines (Lim, Zitnick and Dollár, "Sketch Tokens", CVPR 2013, section 2.1). The paper gives no parameters of DAISY
and clusters all two million patches; we cluster a sample of them, which is also what the trees are grown from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DatasetProblem, require
from sketchhash.tokens.channels import RADIUS
from sketchhash.tokens.training.bsds import TracedPhoto
from sketchhash.tokens.training.daisy import DESCRIPTOR_LENGTH, describe
from sketchhash.tokens.training.places import contour_places
from sketchhash.tokens.training.presets import Preset

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
