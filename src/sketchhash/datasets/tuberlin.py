"""TU-Berlin Extension: 250 categories, 20,000 sketches (Eitz 2012), 204,489 photos (Zhang 2016).

On disk: sketches ``png/<category>/<id>.png``; photos ``ImageResized/<folder>/*.JPEG``, where the folder is
the category's name squeezed together and sometimes misspelt (``griaffe``, ``wristwatching``).
"""

from __future__ import annotations

from pathlib import Path

from sketchhash.datasets.folders import load_folders
from sketchhash.datasets.items import Dataset
from sketchhash.datasets.names import tuberlin_categories

_SKETCHES, _PHOTOS = "png", "ImageResized"


def is_tuberlin(root: Path) -> bool:
    """Tell whether ``root`` holds ``png/`` or ``ImageResized/`` with category folders."""
    return (root / _PHOTOS).is_dir() or (root / _SKETCHES / "airplane").is_dir()


def load_tuberlin(root: Path) -> Dataset:
    """Load what is there of the two folders; a missing one leaves its side empty."""
    sketches, photos = root / _SKETCHES, root / _PHOTOS
    return load_folders(
        "TU-Berlin Extension",
        sketches if sketches.is_dir() else None,
        photos if photos.is_dir() else None,
        tuberlin_categories(),
    )
