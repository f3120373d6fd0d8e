"""Pictures in one folder a category: your own, TU-Berlin Extension and Sketchy Extension.

- *two folders*: ``sketches/<category>/*`` and ``photos/<category>/*``; the categories are the names of the folders.
- *photos alone*: ``<category>/*``, without a folder above them that says what they hold.
- *TU-Berlin Extension*: 250 categories, 20,000 sketches (Eitz 2012), 204,489 photos (Zhang 2016). Sketches are in
  ``png/<category>/<id>.png``; photos in ``ImageResized/<folder>/*.JPEG``, where the folder is the category's name
  squeezed together and sometimes misspelt (``griaffe``, ``wristwatching``).
- *Sketchy Extension*: 125 categories, 75,481 sketches (Sangkloy et al. 2016), a gallery of 73,002 photos. Sketches are
  in ``256x256/sketch/tx_000000000000/<category>/<photo>-<k>.png``; photos in ``EXTEND_image_sketchy/<category>/*.jpg``.
  The gallery is the extended folder alone: it already holds the original photos (all but one), so adding
  ``256x256/photo`` would count them twice.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from sketchhash.datasets.dataset import Dataset, Item
from sketchhash.datasets.names import CategoryNames, sketchy_categories, tuberlin_categories
from sketchhash.errors import DatasetProblem
from sketchhash.imaging import PICTURE_SUFFIXES

# Names of the two folders: ours, and those in the archives of later papers.
FOLDER_PAIRS = (
    ("sketches", "photos"),
    ("sketch", "photo"),
    ("QuickDraw_sketches_final", "QuickDraw_images_final"),
    ("QuickDraw_sketches", "EXTEND_image_quickdraw"),
)

_TUBERLIN_SKETCHES, _TUBERLIN_PHOTOS = "png", "ImageResized"

# The variant whose sketches are warped exactly as their photos were.
_SKETCHY_SKETCHES = Path("256x256", "sketch", "tx_000000000000")
_SKETCHY_PHOTOS = ("EXTEND_image_sketchy", "extended_photo")


def find_pair(root: Path) -> tuple[Path | None, Path | None] | None:
    """Return the sketch and the photo folder below ``root``, or None if there is no such pair.

    A folder named ``sketches`` or ``photos`` may also be alone: sketches to join, or photos to search.
    """
    for names in FOLDER_PAIRS:
        sketches, photos = (root / name for name in names)
        if sketches.is_dir() and photos.is_dir():
            return sketches, photos
    lone_sketches, lone_photos = (root / name if (root / name).is_dir() else None for name in FOLDER_PAIRS[0])
    return (lone_sketches, lone_photos) if lone_sketches or lone_photos else None


def is_folder_pair(root: Path) -> bool:
    """Return whether ``root`` holds one of the known pairs of folders."""
    return find_pair(root) is not None


def load_folder_pair(root: Path) -> Dataset:
    """Load a pair of folders; the categories are the folder names found in either."""
    pair = find_pair(root)
    if pair is None:
        raise DatasetProblem(f"{root} does not hold the folders 'sketches' and 'photos'.")
    return load_folders(root.resolve().name, *pair)


def is_photo_folders(root: Path) -> bool:
    """Return whether at least two folders in ``root`` hold pictures: one alone may be anything."""
    return len(list(islice((folder for folder in _folders(root) if _pictures(folder)), 2))) == 2


def load_photo_folders(root: Path) -> Dataset:
    """Load folders of categories that lie in ``root`` itself, as photos."""
    dataset = load_folders(root.resolve().name, None, root)
    remark = "its folders are taken for photos; put them into a folder 'sketches' if they are sketches"
    return replace(dataset, remarks=(*dataset.remarks, remark))


def load_folders(
    name: str, sketches: Path | None, photos: Path | None, categories: CategoryNames | None = None
) -> Dataset:
    """Load category folders, mapping their names to ``categories`` when the list is closed."""
    found_sketches = _find_pictures(sketches, categories)
    found_photos = _find_pictures(photos, categories)
    names = categories.names if categories else tuple(sorted({*found_sketches.files, *found_photos.files}))
    return Dataset(
        name=name,
        categories=names,
        sketches=_items(found_sketches.files, names),
        photos=_items(found_photos.files, names),
        remarks=found_sketches.remarks + found_photos.remarks,
    )


def is_tuberlin(root: Path) -> bool:
    """Return whether ``root`` holds ``png/`` or ``ImageResized/`` with category folders."""
    return (root / _TUBERLIN_PHOTOS).is_dir() or (root / _TUBERLIN_SKETCHES / "airplane").is_dir()


def load_tuberlin(root: Path) -> Dataset:
    """Load the two folders; a missing one leaves its side empty."""
    sketches, photos = root / _TUBERLIN_SKETCHES, root / _TUBERLIN_PHOTOS
    return load_folders(
        "TU-Berlin Extension",
        sketches if sketches.is_dir() else None,
        photos if photos.is_dir() else None,
        tuberlin_categories(),
    )


def is_sketchy(root: Path) -> bool:
    """Return whether ``root`` holds the sketches or the extended photos of Sketchy."""
    return (root / _SKETCHY_SKETCHES).is_dir() or _sketchy_photos(root) is not None


def load_sketchy(root: Path) -> Dataset:
    """Load the two folders; a missing one leaves its side empty."""
    sketches = root / _SKETCHY_SKETCHES
    return load_folders(
        "Sketchy Extension", sketches if sketches.is_dir() else None, _sketchy_photos(root), sketchy_categories()
    )


@dataclass(frozen=True)
class _Found:
    files: Mapping[str, Sequence[Path]]
    remarks: tuple[str, ...] = ()


def _find_pictures(root: Path | None, categories: CategoryNames | None) -> _Found:
    """Collect the pictures below ``root`` by category; what is not a picture becomes a remark."""
    if root is None:
        return _Found({})
    files: dict[str, list[Path]] = defaultdict(list)
    remarks: list[str] = []
    for folder in _folders(root):
        category = categories.find(folder.name) if categories else folder.name
        if category is None:
            nearest = categories.nearest(folder.name) if categories else None
            hint = f"; rename it to {nearest!r} if that is what it shows" if nearest else ""
            remarks.append(f"{folder}: not a category of this dataset{hint}")
            continue
        pictures, others = _pictures(folder), len(_entries(folder))
        if len(pictures) < others:
            remarks.append(f"{folder}: {others - len(pictures)} entries are not pictures")
        files[category] += pictures
    return _Found(files, tuple(remarks))


def _folders(root: Path) -> list[Path]:
    return [Path(entry) for entry in _entries(root) if entry.is_dir()]


def _pictures(folder: Path) -> list[Path]:
    return [path for path in map(Path, _entries(folder)) if path.suffix.lower() in PICTURE_SUFFIXES]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """List what is not hidden, sorted by name."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)
    except OSError as problem:
        raise DatasetProblem(
            f"{folder} cannot be read: {problem.strerror}. Expected a folder a category there."
        ) from problem


def _items(files: Mapping[str, Iterable[Path]], categories: Sequence[str]) -> tuple[Item, ...]:
    items: dict[str, Item] = {}
    for label, category in enumerate(categories):
        for path in sorted(files.get(category, ())):
            # Names on disk may be any bytes; ids are written to JSON and must be text.
            name = os.fsencode(path.name).decode("utf-8", "backslashreplace")
            item = Item(f"{category}/{name}", label, path)
            if item.id in items:
                raise DatasetProblem(
                    f"{path} and {items[item.id].content} are both {item.id!r}: two folders hold the same "
                    "category. Merge them or rename one of the files."
                )
            items[item.id] = item
    return tuple(items.values())


def _sketchy_photos(root: Path) -> Path | None:
    return next((root / name for name in _SKETCHY_PHOTOS if (root / name).is_dir()), None)
