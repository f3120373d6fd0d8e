"""The 21,350 numbers that describe the patch around a pixel, and how each is looked up.

A patch is 35 × 35 pixels of the 14 channels. Lim, Zitnick and Dollár ("Sketch Tokens", CVPR 2013, section 3.1)
describe it by what the channels are at every place, and by how alike its parts are:

    number               feature
    0 … 17,149           channel c at row y, column x of the patch: (35 c + y) 35 + x
    17,150 … 21,349      channel c, mean of one cell minus mean of another: 17,150 + 300 c + pair

The 25 cells are boxes of 9 × 9 pixels, six pixels from one to the next, so that they overlap a little; the 300
pairs are those of `numpy.triu_indices`, over cells in reading order.

Both kinds are one: the difference of two values, looked up in a stack of planes that holds the channels, their
box means and a plane of zeros. A forest is walked without asking which kind a feature is of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sketchhash.tokens.channels import CHANNELS, RADIUS
from sketchhash.tokens.filters import Planes, box

PATCH = 2 * RADIUS + 1
_CELL_RADIUS = 4
_CELL_CENTRES = RADIUS + np.array([-12, -6, 0, 6, 12])
_PAIRS = np.stack(np.triu_indices(len(_CELL_CENTRES) ** 2, k=1))

DIRECT_FEATURES = CHANNELS * PATCH * PATCH
FEATURES = DIRECT_FEATURES + CHANNELS * _PAIRS.shape[1]

_ZEROS = 2 * CHANNELS  # the plane after the channels and the cells
PLANES = _ZEROS + 1


def _addresses() -> NDArray[np.int64]:
    """Plane, row and column in the patch of the two values of every feature: ``(3, 2, features)``."""
    direct = np.indices((CHANNELS, PATCH, PATCH)).reshape(3, -1)
    nothing = np.zeros_like(direct)
    nothing[0] = _ZEROS

    channel = np.repeat(np.arange(CHANNELS), _PAIRS.shape[1])
    row, column = np.divmod(np.tile(_PAIRS, CHANNELS), len(_CELL_CENTRES))
    cells = np.stack([np.broadcast_to(CHANNELS + channel, row.shape), _CELL_CENTRES[row], _CELL_CENTRES[column]])
    return np.concatenate([np.stack([direct, nothing], axis=1), cells], axis=2)


_PLANE, _ROW, _COLUMN = _addresses()


def cells(channels: Planes, out: Planes | None = None) -> Planes:
    """Average every channel over the cell around each pixel: the shape of ``channels``."""
    return box(channels, _CELL_RADIUS, out)


def lookup_planes(channels: Planes) -> Planes:
    """Stack what features are looked up in: ``(29, h, w)``, the channels, their cells, and zeros."""
    planes = np.zeros((PLANES, *channels.shape[1:]), dtype=np.float32)
    planes[:CHANNELS] = channels
    cells(channels, out=planes[CHANNELS:_ZEROS])
    return planes


def lookups(height: int, width: int) -> NDArray[np.int64]:
    """Find the two values of every feature in planes of this size, flattened: ``(2, features)``.

    They count from the patch's upper left corner in the first plane: that is where the frame has moved the pixel
    in the patch's middle, so pixel (y, x) of the photo adds ``y * width + x``.
    """
    places: NDArray[np.int64] = (_PLANE * height + _ROW) * width + _COLUMN
    return places


def patch_features(
    channels: Planes,
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    features: NDArray[np.integer] | None = None,
) -> NDArray[np.float32]:
    """Describe the patches around pixels of the photo: ``(pixels, features)``.

    Args:
        channels: Of the framed photo, as `channels` gives them.
        rows: Row of each pixel in the photo, without the frame.
        columns: Column of each pixel.
        features: Numbers of the features wanted, in this order; all of them if not given.
    """
    planes = lookup_planes(channels)
    height, width = planes.shape[1:]
    first, second = lookups(height, width) if features is None else lookups(height, width)[:, features]
    flat = planes.ravel()
    described = np.empty((len(rows), len(first)), dtype=np.float32)
    taken = np.empty(len(first), dtype=np.float32)
    for patch, corner in zip(described, rows * width + columns, strict=True):
        # Nothing is out of range; "clip" is NumPy's way to write to `out` without a second copy.
        flat[corner:].take(first, out=patch, mode="clip")
        patch -= flat[corner:].take(second, out=taken, mode="clip")
    return described
