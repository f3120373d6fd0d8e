"""What one tree sees: pixels drawn for it alone, and their features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DatasetProblem
from sketchhash.tokens.channels import channels
from sketchhash.tokens.features import FEATURES, patch_features
from sketchhash.tokens.training.bsds import TracedPhoto
from sketchhash.tokens.training.places import background_pixels
from sketchhash.tokens.training.presets import Preset
from sketchhash.tokens.training.token_classes import TokenClasses

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
