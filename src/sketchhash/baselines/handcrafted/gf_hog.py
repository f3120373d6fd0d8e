"""Gradient field HOG, as a bag of visual words.

Hu, Barnard, Collomosse. Gradient field descriptor for sketch based retrieval and localization. ICIP 2010; Hu,
Collomosse. A performance evaluation of gradient field HOG descriptor for sketch based image retrieval. CVIU 2013.

    edges ──► gradient field ──► HOG around edge pixels, at three scales ──► words ──► histogram

The field carries the directions of edges into the empty areas between them, so that a window sees the shape it lies
in. The codebook has 3,500 words (Liu et al., section 4.1); histograms are compared by their intersection.

Where we differ: at most 500 edge pixels of a picture are described rather than all, and words are learned from a
sample by mini-batches. A window on which the field is constant is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.handcrafted.edges import photo_edges, sketch_edges
from sketchhash.baselines.handcrafted.gradient_field import gradient_field
from sketchhash.baselines.handcrafted.rows import describe_all, describe_each
from sketchhash.baselines.handcrafted.words import Descriptors, find_words, some_rows, squared_distances
from sketchhash.baselines.views import Given, Matrix, Views
from sketchhash.errors import BadArgument, NotFitted

_GRID = 3  # windows a side
_WINDOWS = (5, 10, 15)  # pixels a side
_DIRECTIONS = 9
_MARGIN = 0.05  # around the picture, so that windows at its border fit
_MOST_POINTS = 500  # edge pixels described in one picture

_PHOTOS_TO_LEARN_FROM = 2000
_DESCRIPTORS_A_WORD = 50


class GFHOG:
    """How often each word of a vocabulary of local shapes occurs; ``size`` is the number of words."""

    def __init__(self, size: int, *, seed: int = 0) -> None:
        """Plan for 3,500 words as in the paper, or any other number."""
        if size < 1:
            raise BadArgument(f"A vocabulary has at least one word, not {size}.")
        self.size = size
        self.seed = seed
        self._words: Descriptors | None = None

    def fit(self, views: Views) -> Self:
        """Learn the words from the photos: at most 2,000 of them, and about 50 descriptors a word."""
        rng = np.random.default_rng(self.seed)
        chosen = np.sort(rng.permutation(len(views.photos))[:_PHOTOS_TO_LEARN_FROM])
        wanted = -(-_DESCRIPTORS_A_WORD * self.size // len(chosen))
        found = describe_each(
            views.photos,
            lambda photo: some_rows(local_descriptors(photo_edges(photo), _MOST_POINTS, self.seed), wanted, self.seed),
            chosen.tolist(),
        )
        self._words = find_words(np.concatenate(list(found)), self.size, rng)
        return self

    def encode_photos(self, photos: Given) -> Matrix:
        """Count words on the edges of photos: ``(n, size)``, each row summing to one, or to zero without edges."""
        words = self._check_fitted()
        return describe_all(photos, lambda photo: self._histogram(photo_edges(photo), words), self.size)

    def encode_sketches(self, sketches: Given) -> Matrix:
        """Count words on the lines of sketches: ``(n, size)``."""
        words = self._check_fitted()
        return describe_all(sketches, lambda sketch: self._histogram(sketch_edges(sketch), words), self.size)

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Give the words: ``(size, 81)``."""
        return {"words": self._check_fitted()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Take back the words."""
        self._words = state["words"].astype(np.float32)
        return self

    def _check_fitted(self) -> Descriptors:
        if self._words is None:
            raise NotFitted("GFHOG has learned no words yet. Call fit first.")
        return self._words

    def _histogram(self, edges: NDArray[np.bool_], words: Descriptors) -> Matrix:
        descriptors = local_descriptors(edges, _MOST_POINTS, self.seed)
        counts = np.bincount(squared_distances(descriptors, words).argmin(axis=1), minlength=self.size)
        return counts / max(len(descriptors), 1)


def local_descriptors(edges: NDArray[np.bool_], most: int, seed: int) -> Descriptors:
    """Describe the field around at most ``most`` edge pixels: ``(n, 81)`` of unit length, up to three for a pixel.

    Windows that leave the picture, or lie where the field is constant, are left out.
    """
    edges = np.pad(edges, [(round(_MARGIN * side),) * 2 for side in edges.shape])
    points = some_rows(np.argwhere(edges), most, seed)
    totals = _running_totals(gradient_field(edges))
    found = []
    for window in _WINDOWS:
        corners = points[:, :, None] - _GRID * window // 2 + window * np.arange(_GRID + 1)
        fits = ((corners >= 0) & (corners < np.array(totals.shape[1:])[:, None])).all(axis=(1, 2))
        rows, columns = corners[fits, 0, :, None], corners[fits, 1, None, :]
        histograms = np.diff(np.diff(totals[:, rows, columns], axis=2), axis=3)
        found.append(histograms.transpose(1, 2, 3, 0).reshape(-1, _GRID * _GRID * _DIRECTIONS))
    descriptors = np.concatenate(found)
    lengths = np.linalg.norm(descriptors, axis=1, keepdims=True)
    says_something = lengths[:, 0] > 1e-6
    unit: Descriptors = (descriptors[says_something] / lengths[says_something]).astype(np.float32)
    return unit


def _running_totals(field: Matrix) -> Matrix:
    """Sum the slopes of each direction over the rectangle above and left: ``(directions, h + 1, w + 1)``."""
    slopes = np.zeros((2, *field.shape))
    slopes[0, 1:-1] = field[2:] - field[:-2]
    slopes[1, :, 1:-1] = field[:, 2:] - field[:, :-2]
    angle = np.arctan2(slopes[0], slopes[1]) / (2 * np.pi) + 0.5
    direction = (angle * _DIRECTIONS).astype(np.intp) % _DIRECTIONS
    totals = np.zeros((_DIRECTIONS, field.shape[0] + 1, field.shape[1] + 1))
    np.put_along_axis(totals[:, 1:, 1:], direction[None], np.hypot(*slopes)[None], axis=0)
    totals.cumsum(axis=1, out=totals).cumsum(axis=2, out=totals)
    return totals
