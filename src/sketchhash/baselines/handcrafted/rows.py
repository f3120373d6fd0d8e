"""Describe many pictures, each decoded when its turn comes, on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.views import Given, Matrix, Picture
from sketchhash.errors import BadArgument, require


def describe_each(
    pictures: Given, describe: Callable[[Picture], NDArray[np.floating]], chosen: Sequence[int] | None = None
) -> Iterator[NDArray[np.floating]]:
    """Give what ``describe`` makes of each picture, or of the ``chosen`` ones, in order."""
    if isinstance(pictures, np.ndarray) and pictures.dtype != np.uint8:
        raise BadArgument("This method describes pictures, and was given features: give the pictures themselves.")
    seen = cast(Sequence[Picture], pictures)
    threads = require("threadpoolctl", "bench")
    with threads.threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda place: describe(seen[place]), range(len(seen)) if chosen is None else chosen)


def describe_all(pictures: Given, describe: Callable[[Picture], NDArray[np.floating]], size: int) -> Matrix:
    """Stack the descriptions of all pictures: ``(n, size)``."""
    rows = np.empty((len(pictures), size))
    for row, description in zip(rows, describe_each(pictures, describe), strict=True):
        row[:] = description
    return rows
