"""Drawings and files of photos to measure with."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.datasets.synthetic import CATEGORIES, draw_sketch, render_photo
from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery.photos import decode, find_photos
from sketchhash.imaging import Drawing, rasterise

_PHOTO_SIDE = 640
_SKETCH_SIDE = 512


@dataclass(frozen=True)
class Samples:
    """Drawings as strokes and as PNG files, photos as files of any kind, and where the photos are from."""

    drawings: list[Drawing]
    sketch_files: list[bytes]
    photo_files: list[bytes]
    source: str


def take_samples(count: int, folder: Path | None = None) -> Samples:
    """Draw ``count`` sketches of the synthetic world, and take as many photos of it, or readable ones of a folder."""
    rng = np.random.default_rng(0)
    categories = [CATEGORIES[row % len(CATEGORIES)] for row in range(count)]
    drawings = [draw_sketch(category, rng) for category in categories]
    files = [_file(rasterise(drawing, _SKETCH_SIDE), "PNG") for drawing in drawings]
    if folder is None:
        photos = [_file(render_photo(category, rng, _PHOTO_SIDE), "JPEG") for category in categories]
        source = f"{count} photos of the synthetic world, JPEG, {_PHOTO_SIDE} × {_PHOTO_SIDE}"
    else:
        photos = _some_photos(folder, count)
        source = f"{len(photos)} photos of {folder.resolve().name}, {sum(map(len, photos)) // len(photos):,} bytes each"
    return Samples(drawings, files, photos, source)


def _some_photos(folder: Path, count: int) -> list[bytes]:
    paths = [path for path in find_photos([folder]) if isinstance(path, Path)]
    photos: list[bytes] = []
    for path in paths[:: max(1, len(paths) // count)]:
        content = path.read_bytes()
        try:
            decode(content)
        except UnreadableImage:
            continue
        photos.append(content)
    if not photos:
        raise BadArgument(f"There is no readable photo in {folder}.")
    return photos[:count]


def _file(pixels: NDArray[np.uint8], kind: str) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()
