"""From a detector's scores to ink: thin the ridges, keep the strong ones, draw them.

The threshold is the paper's (Liu et al., section 2.1: 60 % of the maximum score). Thinning follows the edge
step of Sketch Tokens (Lim, Zitnick and Dollár, CVPR 2013), with the exact principal curvature for the normal.
The limits are ours: relative to its own maximum, a flat photo would be all contours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.imaging.ink import InkStyle
from sketchhash.tokens.filters import blur, slopes

_BORDER = 5  # scores fade out over this many pixels
_LIKELY_PEAK = 0.8  # the highest ridge is hardly ever below this share of the highest score


@dataclass(frozen=True)
class TokenStyle:
    """Which contours become ink, and what the ink looks like.

    Args:
        threshold: Share of the photo's highest score that a contour must reach.
        floor: A photo whose highest score is lower gives blank paper.
        most_ink: Share of the pixels that may lie on contours; the threshold rises until they fit.
        fewest: A contour of fewer pixels is a speck, and erased; the ring around a lone dot has 20.
        ink: The style of the sketches; a token map takes its line width and has no margin.
    """

    threshold: float = 0.6
    floor: float = 0.1
    most_ink: float = 0.08
    fewest: int = 24
    ink: InkStyle = field(default_factory=InkStyle)

    def __post_init__(self) -> None:
        """Raise if a share is not between 0 and 1."""
        for name in ("threshold", "floor", "most_ink"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadArgument(f"{name} is a share, from 0 to 1; got {getattr(self, name)}.")


DEFAULT_STYLE = TokenStyle()


def strong_contours(scores: NDArray[np.float32], style: TokenStyle = DEFAULT_STYLE) -> NDArray[np.bool_]:
    """Mark the pixels on contours worth drawing: ``(h, w)``, lines about one pixel thin.

    The ridges of `thin` decide, but only those that can pass the threshold are looked for: a tenth of the pixels.
    """
    faded = _faded(scores)
    highest = faded.max()
    for share in (_LIKELY_PEAK, 0.0):
        candidates = np.flatnonzero(faded >= share * style.threshold * highest)
        on_ridge = candidates[_is_ridge(scores, candidates)]
        ridges = faded.ravel()[on_ridge]
        peak = ridges.max(initial=np.float32(0))
        if peak >= share * highest:
            break
    mask = np.zeros(scores.shape, dtype=np.bool_)
    if peak < style.floor:
        return mask
    is_strong = (ridges >= style.threshold * peak) & (ridges > _crowded(ridges, scores.size, style.most_ink))
    mask.ravel()[on_ridge[is_strong]] = True
    return without_specks(mask, style.fewest)


def thin(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Keep the scores on ridge lines and set all others to zero; scores near the border fade out.

    A pixel stays where the scores one pixel along the normal, on either side, are not higher.
    """
    ridges = _faded(scores)
    ridges.ravel()[~_is_ridge(scores, np.arange(scores.size))] = 0
    return ridges


@dataclass(frozen=True, eq=False)
class Ridges:
    """Pixels on ridges of a map: ``places`` ``(n, 2)`` of y and x, ``strengths`` and ``angles`` ``(n,)``.

    Places are in longest sides of the map, which lies in the middle of the unit square. An angle is that of the
    normal, from 0 to π.
    """

    places: NDArray[np.float64]
    strengths: NDArray[np.float64]
    angles: NDArray[np.float64]

    def __len__(self) -> int:
        """Count the pixels."""
        return len(self.strengths)

    def moved(self, middle: NDArray[np.float64], side: float) -> Self:
        """Return the ridges in the frame of another square."""
        return replace(self, places=(self.places - middle) / side + 0.5)


def find_ridges(scores: NDArray[np.float32], share: float, fade: bool = False) -> Ridges:
    """Find the pixels on ridges that reach a ``share`` of the highest score; with ``fade``, less near the border."""
    strengths = _faded(scores) if fade else np.ascontiguousarray(scores)
    highest = float(strengths.max())
    candidates = np.flatnonzero(strengths >= share * highest) if highest > 0 else np.empty(0, dtype=np.intp)
    rows, columns = np.divmod(candidates, scores.shape[1])
    right, down = _normals(scores, rows, columns)
    is_ridge = _is_higher(scores, rows, columns, right, down)
    on_ridge, rows, columns = candidates[is_ridge], rows[is_ridge], columns[is_ridge]
    centre = np.array(scores.shape) / 2
    places = (np.stack([rows, columns], axis=1) + 0.5 - centre) / max(scores.shape) + 0.5
    angles = np.arctan2(down[is_ridge].astype(np.float64), right[is_ridge]) % np.pi
    return Ridges(places, strengths.ravel()[on_ridge].astype(np.float64), angles)


_HALF_OF_THE_NEIGHBOURS = ((0, 1), (1, -1), (1, 0), (1, 1))  # the other half are the same pairs, reversed


def touching(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pair the ink pixels that touch, also diagonally: ``(2, pairs)``, numbered in reading order among ink pixels."""
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

    All pairs are joined at once: each component takes the label of its lowest neighbour and chains are flattened.
    A few rounds are enough, even for long lines.
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


def draw(mask: NDArray[np.bool_], size: int, line_width: float) -> NDArray[np.uint8]:
    """Trace the lines of a mask ``(h, w)`` on a square sheet ``(size, size)``: paper 255, ink 0.

    The sheet's proportions may differ from the mask's; the lines are as wide in every direction.

    Args:
        mask: Lines about one pixel thin; pixels that touch are joined.
        size: Side of the sheet in pixels.
        line_width: As a fraction of the side.
    """
    width = line_width * size
    distance = np.sqrt(_squared_distance(_trace(mask, size), size, math.ceil(width / 2 + 0.5)))
    # How much of each pixel the pen covers; a pen thinner than a pixel leaves grey.
    coverage = np.clip(width / 2 + 0.5 - distance, 0, min(1.0, width))
    return np.rint(255 - 255 * coverage).astype(np.uint8)


def _is_ridge(scores: NDArray[np.float32], places: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tell which pixels, numbered in reading order, lie on a ridge of the scores: ``(places,)``."""
    rows, columns = np.divmod(places, scores.shape[1])
    return _is_higher(scores, rows, columns, *_normals(scores, rows, columns))


def _is_higher(
    scores: NDArray[np.float32],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    right: NDArray[np.float32],
    down: NDArray[np.float32],
) -> NDArray[np.bool_]:
    """Tell which pixels are not lower than the scores one pixel along their normals, on either side."""
    here = scores[rows, columns]
    ahead, behind = (
        _sample(scores, here, rows, columns, right * side, down * side) for side in (np.float32(1), np.float32(-1))
    )
    # One side may be a little higher, or curved lines break; the other may not be equal, or a ridge that
    # falls between two pixels becomes two lines.
    is_ridge: NDArray[np.bool_] = (1.01 * here >= ahead) & (here > 1.0001 * behind)
    return is_ridge


def _normals(
    scores: NDArray[np.float32], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return unit vectors (x, y) across the ridges: the direction in which the smoothed scores curve down the most."""
    along_x, along_y = slopes(blur(scores, 2.0))
    height, width = scores.shape
    left, right_of = np.maximum(columns - 1, 0), np.minimum(columns + 1, width - 1)
    above, below = np.maximum(rows - 1, 0), np.minimum(rows + 1, height - 1)
    half = np.float32(0.5)
    xx = half * (along_x[rows, right_of] - along_x[rows, left])
    xy = half * (along_x[below, columns] - along_x[above, columns])
    yy = half * (along_y[below, columns] - along_y[above, columns])
    angle = np.arctan2(-2 * xy, yy - xx) / 2
    right, down = np.cos(angle), np.sin(angle)
    # Neighbours on one ridge should agree on which side is ahead. Some direction has to be the seam;
    # this one is far from the horizontal, vertical and diagonal lines on which exact ties happen.
    facing = np.where(right + down / 2 < 0, np.float32(-1), np.float32(1))
    return right * facing, down * facing


def _sample(
    scores: NDArray[np.float32],
    here: NDArray[np.float32],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    right: NDArray[np.float32],
    down: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Read the scores at an offset of at most one pixel from each place, interpolating bilinearly."""
    height, width = scores.shape
    # Towards the neighbour column, the neighbour row, and the diagonal between them.
    beside = np.clip(columns + np.where(right < 0, -1, 1), 0, width - 1)
    across = np.clip(rows + np.where(down < 0, -1, 1), 0, height - 1)
    x, y = np.abs(right), np.abs(down)
    near = (1 - x) * here + x * scores[rows, beside]
    far = (1 - x) * scores[across, columns] + x * scores[across, beside]
    return ((1 - y) * near + y * far).astype(np.float32, copy=False)


def _crowded(ridges: NDArray[np.float32], pixels: int, most_ink: float) -> np.float32:
    """Return the score that a ridge must exceed so that no more than the share ``most_ink`` of all pixels do.

    That is a quantile of all pixels, of which those that are not given lie below the ``ridges``.
    """
    above = pixels - 1 - _rank(pixels, most_ink)
    return (
        np.float32(0)
        if len(ridges) <= above
        else np.partition(ridges, len(ridges) - 1 - above)[len(ridges) - 1 - above]
    )


@cache
def _rank(pixels: int, most_ink: float) -> int:
    """Return the place of the quantile among all pixels in ascending order, rounded as `numpy.quantile` does it."""
    return int(np.quantile(np.arange(pixels, dtype=np.float32), 1 - most_ink, method="higher"))


def _faded(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Fade the scores out towards the border; the result lies in memory row by row, whatever the scores do."""
    height, width = scores.shape
    return np.ascontiguousarray(scores * _fade(height)[:, None] * _fade(width))


def _fade(length: int) -> NDArray[np.float32]:
    from_start = np.arange(length, dtype=np.float32)
    return np.minimum(1, np.minimum(from_start, from_start[::-1]) / np.float32(_BORDER))


def _trace(mask: NDArray[np.bool_], size: int) -> NDArray[np.float32]:
    """Return points along the lines, about half a pixel of the sheet apart: ``(2, points)``, y and x."""
    scale = (size / np.array(mask.shape, dtype=np.float32))[:, None]
    centres = (np.stack(np.nonzero(mask)).astype(np.float32) + np.float32(0.5)) * scale
    first, second = touching(mask)
    start, span = centres[:, first], centres[:, second] - centres[:, first]
    steps = math.ceil(2 * scale.max())
    return np.concatenate([centres, *(start + span * np.float32(i / steps) for i in range(1, steps))], axis=1)


def _squared_distance(points: NDArray[np.float32], size: int, reach: int) -> NDArray[np.float32]:
    """Measure each pixel centre's squared distance to the nearest point; infinite beyond ``reach`` pixels."""
    pixel = np.floor(points)
    y, x = points - pixel - np.float32(0.5)
    side = size + 2 * reach  # a frame, so that the pen may overhang the sheet
    row, column = pixel.astype(np.intp)
    corner = row * side + column

    squared = np.full(side * side, np.inf, dtype=np.float32)
    offsets = range(2 * reach + 1)
    across = [(x - np.float32(right - reach)) ** 2 for right in offsets]
    for down in offsets:
        upright = (y - np.float32(down - reach)) ** 2
        for right in offsets:
            np.minimum.at(squared, corner + (down * side + right), upright + across[right])
    return squared.reshape(side, side)[reach : reach + size, reach : reach + size]
