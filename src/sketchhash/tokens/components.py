"""Connected lines in a mask: ink pixels are joined to their eight neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_HALF_OF_THE_NEIGHBOURS = ((0, 1), (1, -1), (1, 0), (1, 1))  # the other half are the same pairs, reversed


def touching(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pair up the ink pixels that touch: ``(2, pairs)``, numbered in reading order among the ink pixels."""
    height, width = mask.shape
    ink = np.arange(np.count_nonzero(mask))
    number = np.full((height + 2, width + 2), -1)
    number[1:-1, 1:-1][mask] = ink

    pairs = []
    for down, right in _HALF_OF_THE_NEIGHBOURS:
        other = number[1 + down : 1 + down + height, 1 + right : 1 + right + width][mask]
        pairs.append(np.stack((ink, other))[:, other >= 0])
    return np.concatenate(pairs, axis=1)


def components(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Label every ink pixel, in reading order, with the first pixel of its component: ``(ink pixels,)``.

    All pairs are joined at once: each component hooks onto its lowest neighbour, chains are flattened, and
    that repeats until no pair disagrees, a handful of times even for long lines.
    """
    pairs = touching(mask)
    label = np.arange(np.count_nonzero(mask))
    while True:
        first, second = label[pairs]
        if np.array_equal(first, second):
            return label
        np.minimum.at(label, np.maximum(first, second), np.minimum(first, second))
        while not np.array_equal(label, shorter := label[label]):
            label = shorter


def without_specks(mask: NDArray[np.bool_], fewest: int) -> NDArray[np.bool_]:
    """Erase the components of fewer than ``fewest`` pixels.

    >>> without_specks(np.array([[True, False, True, True]]), fewest=2)
    array([[False, False,  True,  True]])
    """
    label = components(mask)
    pixels = np.bincount(label, minlength=len(label))
    kept = np.zeros_like(mask)
    kept[mask] = pixels[label] >= fewest
    return kept
