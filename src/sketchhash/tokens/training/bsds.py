"""Photos with the contours that people saw in them: the Berkeley segmentation dataset, BSDS500, as plain pictures.

    DIR/images/<split>/<id>.jpg
    DIR/boundaries/<split>/<id>/<annotator>.png     white lines, one pixel thin, on black

Several people traced each photo independently (Arbeláez, Maire, Fowlkes and Malik, PAMI 2011). The splits
are named train (200 photos), val (100) and test (200).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DatasetProblem, UnreadableImage, require
from sketchhash.imaging import read_photo
from sketchhash.tokens.channels import RADIUS


@dataclass(frozen=True, eq=False)
class TracedPhoto:
    """A photo ``(h, w, 3)`` and what each annotator traced in it: ``(annotators, h, w)``, true on a contour."""

    id: str
    photo: NDArray[np.uint8]
    contours: NDArray[np.bool_]


def read_split(folder: Path, split: str) -> list[TracedPhoto]:
    """Read a split whole, in the order of the ids: 1.6 MB a photo, so 320 MB for the 200 of train.

    Raises:
        DatasetProblem: If there are no photos, or one lacks its contours or does not have their size.
    """
    photos = sorted((folder / "images" / split).glob("*.jpg"))
    if not photos:
        raise DatasetProblem(
            f"There are no photos in {folder / 'images' / split}. A folder of BSDS500 holds "
            "images/<split>/<id>.jpg and boundaries/<split>/<id>/<annotator>.png."
        )
    return [_read(path, folder / "boundaries" / split / path.stem) for path in photos]


def contour_places(photos: Sequence[TracedPhoto]) -> NDArray[np.int32]:
    """List the traced pixels, once for each annotator: ``(pixels, 4)`` of photo, annotator, row, column, in order.

    All are at least `RADIUS` from the border, so that the patches around them lie inside their photo.
    """
    found = [np.empty((0, 4), dtype=np.int32)]
    for number, traced in enumerate(photos):
        inside = np.argwhere(traced.contours[:, RADIUS:-RADIUS, RADIUS:-RADIUS]) + np.array([0, RADIUS, RADIUS])
        found.append(np.insert(inside, 0, number, axis=1).astype(np.int32))
    return np.concatenate(found)


def background_pixels(traced: TracedPhoto) -> NDArray[np.int32]:
    """List the pixels at least 2 pixels from every annotator's contours: ``(pixels, 2)`` of row, column.

    Like contour pixels, they are at least `RADIUS` from the border.
    """
    ndimage = require("scipy.ndimage", "train")
    # Nearer than 2 pixels are the contours themselves and their eight neighbours.
    near = ndimage.binary_dilation(traced.contours.any(axis=0), np.ones((3, 3)))
    pixels: NDArray[np.int32] = (np.argwhere(~near[RADIUS:-RADIUS, RADIUS:-RADIUS]) + RADIUS).astype(np.int32)
    return pixels


def _read(path: Path, traced: Path) -> TracedPhoto:
    maps = sorted(traced.glob("*.png"))
    if not maps:
        raise DatasetProblem(f"Nobody traced {path}: there are no PNG files in {traced}.")
    try:
        photo = read_photo(path)
        contours = [read_photo(map_path)[:, :, 0] > 127 for map_path in maps]
    except UnreadableImage as problem:
        raise DatasetProblem(str(problem)) from problem
    for map_path, contour in zip(maps, contours, strict=True):
        if contour.shape != photo.shape[:2]:
            height, width = contour.shape
            raise DatasetProblem(
                f"{map_path} is {width} × {height} pixels, but its photo {path} is "
                f"{photo.shape[1]} × {photo.shape[0]}: they do not belong together."
            )
    return TracedPhoto(path.stem, photo, np.stack(contours))
