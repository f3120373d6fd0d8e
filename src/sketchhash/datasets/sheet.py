"""A dataset at a glance: some sketches and photos of every category."""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.items import Dataset
from sketchhash.datasets.pictures import photo_pixels, sketch_ink
from sketchhash.errors import DatasetProblem
from sketchhash.imaging import contact_sheet as paint
from sketchhash.imaging import fit_square

_CELL = 96


def contact_sheet(dataset: Dataset, each: int) -> NDArray[np.uint8]:
    """Paint a row a category that has both: ``each`` sketches, then ``each`` photos."""
    rows: list[list[NDArray[np.uint8]]] = []
    captions: list[str] = []
    for label, category in enumerate(dataset.categories):
        sketches = list(islice((s for s in dataset.sketches if s.label == label), each))
        photos = list(islice((p for p in dataset.photos if p.label == label), each))
        if sketches and photos:
            captions.append(category)
            rows.append(
                [sketch_ink(sketch, _CELL) for sketch in sketches]
                + [fit_square(photo_pixels(photo, longest=2 * _CELL), _CELL) for photo in photos]
            )
    if not rows:
        raise DatasetProblem(f"{dataset.name} has no category with both sketches and photos to show.")
    return _in_columns(rows, captions)


def _in_columns(rows: list[list[NDArray[np.uint8]]], captions: list[str]) -> NDArray[np.uint8]:
    """Set the rows in columns, so that many categories still make a picture about as wide as high."""
    count = max(1, round((len(rows) / max(len(row) for row in rows)) ** 0.5))
    length = -(-len(rows) // count)
    starts = range(0, len(rows), length)
    columns = [paint(rows[start : start + length], captions[start : start + length], _CELL) for start in starts]
    height = max(len(column) for column in columns)
    padded = [
        np.pad(column, ((0, height - len(column)), (0, _CELL // 4), (0, 0)), constant_values=255) for column in columns
    ]
    return np.concatenate(padded, axis=1)
