"""Any dataset as folders of files: ``sketches/<category>/*.png`` and ``photos/<category>/*.jpg``."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from PIL import Image

from sketchhash.datasets.items import Dataset, Item
from sketchhash.datasets.pictures import photo_pixels, sketch_ink

_JPEG_QUALITY = 92


def write(folder: Path, dataset: Dataset, size: int = 224, workers: int | None = None) -> Iterator[int]:
    """Write every item and yield, after each file, how many are written; nothing happens before the first.

    Args:
        folder: Made if need be; files of the same names are replaced.
        dataset: What to write. The last part of an item's id becomes the name of its file.
        size: Pixels along a side of a sketch; photos keep their own size.
        workers: Processes to share the work, by default one a core. One means this process. More are started
            afresh, so a script that calls this needs the usual ``if __name__ == "__main__"``.
    """
    jobs = [
        (folder / kind / dataset.categories[item.label] / f"{item.id.rpartition('/')[2]}{suffix}", item, size)
        for kind, suffix, items in (
            ("sketches", ".png", dataset.sketches),
            ("photos", ".jpg", dataset.photos),
        )
        for item in items
    ]
    for parent in sorted({path.parent for path, _, _ in jobs}):
        parent.mkdir(parents=True, exist_ok=True)
    workers = workers or os.cpu_count() or 1
    if workers == 1:
        for done, job in enumerate(jobs, start=1):
            _write_one(job)
            yield done
        return
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        for done, _ in enumerate(pool.map(_write_one, jobs, chunksize=16), start=1):
            yield done
    finally:
        pool.shutdown(cancel_futures=True)


def _write_one(job: tuple[Path, Item, int]) -> None:
    path, item, size = job
    if path.suffix == ".png":
        Image.fromarray(sketch_ink(item, size)).save(path)
    else:
        Image.fromarray(photo_pixels(item)).save(path, quality=_JPEG_QUALITY)
