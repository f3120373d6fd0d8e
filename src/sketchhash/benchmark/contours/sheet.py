"""Contours to look at: photos beside their scores, their token maps, and what a person drew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Dataset, Item, photo_pixels, sketch_ink
from sketchhash.errors import DatasetProblem
from sketchhash.imaging import contact_sheet, shrink
from sketchhash.tokens import Detector, token_map

_CELL = 128
_WORKING_SIZE = 256  # the longest side at which token maps are made
_COLUMNS = 3


def token_sheet(dataset: Dataset, detector: Detector, count: int) -> NDArray[np.uint8]:
    """Paint ``count`` photos, each with its scores (dark is high), its token map and a sketch of its category.

    Photos are spread over the categories that have sketches too.
    """
    pairs = _pairs(dataset, count)
    captions = [photo.id for photo, _ in pairs]
    rows = [_row(photo, sketch, detector) for photo, sketch in pairs]
    length = -(-count // _COLUMNS)
    columns = [
        contact_sheet(rows[start : start + length], captions[start : start + length], _CELL)
        for start in range(0, count, length)
    ]
    height = max(len(column) for column in columns)
    padded = [np.pad(c, ((0, height - len(c)), (0, _CELL // 4), (0, 0)), constant_values=255) for c in columns]
    return np.concatenate(padded, axis=1)


def _row(photo: Item, sketch: Item, detector: Detector) -> list[NDArray[np.uint8]]:
    pixels = shrink(photo_pixels(photo, longest=_WORKING_SIZE), _WORKING_SIZE)
    scores = np.rint(255 - 255 * detector.detect(pixels)).astype(np.uint8)
    return [pixels, scores, token_map(pixels, detector, _CELL), sketch_ink(sketch, _CELL)]


def _pairs(dataset: Dataset, count: int) -> list[tuple[Item, Item]]:
    """Choose photos, and a sketch for each: one a category, evenly over the categories, then a second of each."""
    photos, sketches = _by_label(dataset.photos), _by_label(dataset.sketches)
    labels = sorted(photos.keys() & sketches.keys())
    if not labels:
        raise DatasetProblem(f"{dataset.name} has no category with both sketches and photos to show.")
    chosen = [labels[i * len(labels) // count] for i in range(count)] if len(labels) > count else labels
    pairs = []
    for place in range(count):
        turn, label = place // len(chosen), chosen[place % len(chosen)]
        pairs.append((photos[label][turn % len(photos[label])], sketches[label][turn % len(sketches[label])]))
    return pairs


def _by_label(items: Sequence[Item]) -> dict[int, list[Item]]:
    grouped = defaultdict(list)
    for item in items:
        grouped[item.label].append(item)
    return grouped
