"""Sketchy Extension: 125 categories, 75,481 sketches (Sangkloy et al. 2016), a gallery of 73,002 photos.

On disk: sketches ``256x256/sketch/tx_000000000000/<category>/<photo>-<k>.png``; photos
``EXTEND_image_sketchy/<category>/*.jpg``. The gallery is the extended folder alone: it already holds the
original photos (all but one), so adding ``256x256/photo`` would count them twice.
"""

from __future__ import annotations

from pathlib import Path

from sketchhash.datasets.folders import load_folders
from sketchhash.datasets.items import Dataset
from sketchhash.datasets.names import sketchy_categories

# The variant whose sketches are warped exactly as their photos were.
_SKETCHES = Path("256x256", "sketch", "tx_000000000000")
_PHOTOS = ("EXTEND_image_sketchy", "extended_photo")


def is_sketchy(root: Path) -> bool:
    """Tell whether ``root`` holds the sketches or the extended photos of Sketchy."""
    return (root / _SKETCHES).is_dir() or _photos(root) is not None


def load_sketchy(root: Path) -> Dataset:
    """Load what is there of the two folders; a missing one leaves its side empty."""
    sketches = root / _SKETCHES
    return load_folders(
        "Sketchy Extension", sketches if sketches.is_dir() else None, _photos(root), sketchy_categories()
    )


def _photos(root: Path) -> Path | None:
    return next((root / name for name in _PHOTOS if (root / name).is_dir()), None)
