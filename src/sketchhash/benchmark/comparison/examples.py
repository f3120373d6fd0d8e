"""Eight sketches with the photos they find (Figure 6); what shows another category is framed in red.

Nothing is picked by hand: the categories are spread evenly over all, and their first query asks. Photos at one distance
come in an order drawn by chance, since the order of storage, by category, would hide or invent mistakes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.comparison.records import Codes
from sketchhash.benchmark.comparison.task import Task
from sketchhash.codes import hamming
from sketchhash.datasets import Dataset, photo_pixels, sketch_ink
from sketchhash.errors import DatasetProblem
from sketchhash.imaging import contact_sheet, fit_square

_QUERIES = 8
_TOP = 20
_CELL, _FRAME = 72, 3
_FALSE, _TRUE = (220, 20, 30), (255, 255, 255)

Picture = NDArray[np.uint8]


def choose_queries(task: Task, count: int = _QUERIES) -> list[int]:
    """Give the rows of the first query of some categories, spread evenly."""
    labels, first = np.unique(task.queries.label_array, return_index=True)
    places = np.arange(min(count, len(labels))) * len(labels) // min(count, len(labels))
    return [int(row) for row in first[places]]


def nearest_photos(codes: Codes, query: int, seed: int = 0) -> NDArray[np.intp]:
    """Rank the gallery for one query and give the first 20 rows; ties by chance."""
    distances = hamming(codes.queries[query : query + 1], codes.gallery)[0]
    shuffled = np.random.default_rng([seed, query]).permutation(len(distances))
    return shuffled[np.argsort(distances[shuffled], kind="stable")][:_TOP]


def draw_examples(task: Task, codes: Codes, dataset: Dataset) -> Picture:
    """Paint a row a query: the sketch, then its photos."""
    sketches = {item.id: item for item in dataset.sketches}
    photos = {item.id: item for item in dataset.photos}
    rows, captions = [], []
    try:
        for query in choose_queries(task):
            label = task.queries.labels[query]
            found = nearest_photos(codes, query)
            pictures = [_framed(_grey(sketch_ink(sketches[task.queries.ids[query]], _CELL)), is_false=False)]
            for row in found:
                photo = fit_square(photo_pixels(photos[task.gallery.ids[row]], 2 * _CELL), _CELL)
                pictures.append(_framed(photo, is_false=task.gallery.labels[row] != label))
            right = sum(task.gallery.labels[row] == label for row in found)
            rows.append(pictures)
            captions.append(f"{task.categories[label]}: {right} of {len(found)}")
    except KeyError as missing:
        raise DatasetProblem(f"{dataset.name} has no {missing}: give the data that the runs were made on.") from missing
    return contact_sheet(rows, captions, _CELL + 2 * _FRAME)


def _framed(picture: Picture, is_false: bool) -> Picture:
    framed = np.empty((_CELL + 2 * _FRAME, _CELL + 2 * _FRAME, 3), dtype=np.uint8)
    framed[:] = _FALSE if is_false else _TRUE
    framed[_FRAME:-_FRAME, _FRAME:-_FRAME] = picture
    return framed


def _grey(ink: Picture) -> Picture:
    return np.repeat(ink[:, :, None], 3, axis=2)
