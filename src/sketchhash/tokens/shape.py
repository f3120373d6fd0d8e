"""The shape of what a photo shows, in 512 bytes, and how well it fits a drawing.

    contour scores ──► ridges ──► two grids of stroke orientations ──► 512 bytes in the gallery
    a drawing's ink ──► ridges ──► one grid ──► a learned metric ──► how well each photo fits

Codes tell kinds of things apart, and photos of one kind share them. What differs among these is pose and place, and the
contours that indexing finds anyway show them. Every pixel on a ridge of the scores counts by its strength, in 8 × 8
cells and 8 orientations, shared among the nearest. One grid covers the whole photo, aspect kept, and the other a box
around its strong and central contours, since people draw the thing and leave its surroundings out. Each value takes
four bits.

The metric is bilinear: a drawing's grid, 512 values, times a matrix gives what it is looking for in both grids. The
matrix was learned from photos whose contours were redrawn (``benchmarks/shape.py``); it has learned how far lines move,
which parts of a photo are background, and how little a line tells alone. It is applied to the drawing only, so another
matrix needs no photo described anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.files import replacing
from sketchhash.tokens.contours import Ridges, find_ridges

SHAPE_VERSION = 1
"""Shapes compare only within one version: raise it whenever `describe_contours` returns other bytes."""
SHAPE_BYTES = 512
SHIPPED_METRIC = Path(__file__).with_name("shape_metric.npz")

CELLS = 8
ORIENTATIONS = 8
GRID = CELLS * CELLS * ORIENTATIONS

_FAINTEST = 0.15  # of the strongest ridge of a photo; what is fainter is texture
_FAINTEST_INK = 0.3
_TAIL = 0.02  # of the contours, on each side, may lie outside the box around the thing
_CENTRAL = 0.35  # standard deviation of how much a contour counts for the box, in longest sides from the centre
_BORDER = 0.05  # of the box's side, as the ink of a drawing has it
_SMALLEST_BOX = 0.1
# Values of a grid of length 1 are hardly ever greater; their roots are stored, as most are small.
_GREATEST = 0.4
_LEVELS = 15
_UNIT = np.float32(_GREATEST / _LEVELS**2)

Grid = NDArray[np.float32]


def describe_contours(scores: NDArray[np.float32]) -> bytes:
    """Return the shape of a photo, `SHAPE_BYTES` long, from its contour ``scores`` ``(h, w)``; see `find_contours`.

    >>> len(describe_contours(np.zeros((20, 30), dtype=np.float32)))
    512
    """
    return describe_ridges(photo_ridges(scores))


def photo_ridges(scores: NDArray[np.float32]) -> Ridges:
    """Find the contours of a photo that its shape is made of."""
    return find_ridges(scores, _FAINTEST, fade=True)


def describe_ridges(ridges: Ridges) -> bytes:
    """Return the shape of a photo from its `photo_ridges`."""
    return _packed(np.stack(photo_grids(ridges)))


def describe_ink(ink: NDArray[np.uint8]) -> bytes:
    """Return the shape of a drawing, `SHAPE_BYTES` long, from its ink ``(size, size)``, paper 255.

    A drawing has no surroundings: the grids of all of it and of the thing in it are the same.
    """
    return _packed(np.stack([ink_grid(ink)] * 2))


def photo_grids(ridges: Ridges) -> tuple[Grid, Grid]:
    """Return the grids of a photo's ridges, each `GRID` long: the whole photo, and the thing in it."""
    if not len(ridges):
        return np.zeros(GRID, dtype=np.float32), np.zeros(GRID, dtype=np.float32)
    return orientation_grid(ridges), orientation_grid(ridges.moved(*_box(ridges)))


def ink_grid(ink: NDArray[np.uint8]) -> Grid:
    """Return the grid of a drawing's ink ``(size, size)``, paper 255."""
    darkness = (np.float32(255) - ink) / np.float32(255)
    return orientation_grid(find_ridges(darkness.astype(np.float32, copy=False), _FAINTEST_INK))


def orientation_grid(ridges: Ridges) -> Grid:
    """Count ridges by place and orientation, each shared among the nearest cells: `GRID` values, of length 1 if any.

    Orientations are innermost, and cells in reading order. Ridges outside the unit square do not count.
    """
    place = np.clip(ridges.places * CELLS - 0.5, -1, CELLS)  # a frame of cells around the square takes what is outside
    turn = ridges.angles / np.pi * ORIENTATIONS
    cell, bin_ = np.floor(place).astype(np.intp), np.floor(turn).astype(np.intp)
    past_cell, past_bin = place - cell, turn - bin_
    side = CELLS + 3
    framed = np.zeros(side * side * ORIENTATIONS)
    for down in (0, 1):
        for right in (0, 1):
            number = (cell[:, 0] + down + 1) * side + cell[:, 1] + right + 1
            share = ridges.strengths * np.abs(1 - down - past_cell[:, 0]) * np.abs(1 - right - past_cell[:, 1])
            for on in (0, 1):
                numbers = number * ORIENTATIONS + (bin_ + on) % ORIENTATIONS
                framed += np.bincount(numbers, share * np.abs(1 - on - past_bin), minlength=len(framed))
    grid = framed.reshape(side, side, ORIENTATIONS)[1 : CELLS + 1, 1 : CELLS + 1].ravel()
    return (grid / max(float(np.linalg.norm(grid)), 1e-12)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class ShapeMetric:
    """How well a drawing's grid fits photos: ``weights`` are ``(GRID, 2 * GRID)``, for a photo's two grids."""

    weights: NDArray[np.float32]

    @classmethod
    @cache
    def shipped(cls) -> ShapeMetric:
        """Load the metric that comes with the package."""
        return cls.load(SHIPPED_METRIC)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a metric that `save` wrote.

        Raises:
            IncompatibleModel: If the file is missing, damaged, or of another version.
        """
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                version, weights, scale = file["version"], file["weights"], file["scale"]
        except Exception as cause:  # a damaged archive fails in a dozen ways
            raise IncompatibleModel(
                f"{path} cannot be read as a shape metric: {cause}. "
                "Type: pip install --force-reinstall --no-deps sketchhash"
            ) from cause
        if int(version) != SHAPE_VERSION or weights.shape != (GRID, 2 * GRID):
            raise IncompatibleModel(f"{path} is a metric for other shapes than this sketchhash has.")
        return cls(weights.astype(np.float32) * np.float32(scale))

    def save(self, path: Path) -> None:
        """Write the metric, rounded to one byte a weight."""
        scale = max(float(np.abs(self.weights).max()), 1e-12) / 127
        with replacing(path) as file:
            np.savez_compressed(
                file, version=SHAPE_VERSION, weights=np.rint(self.weights / scale).astype(np.int8), scale=scale
            )


@dataclass(frozen=True, eq=False)
class ShapeQuery:
    """What a drawing looks for in the two grids of a photo: ``wanted`` ``(2 * GRID,)``."""

    wanted: NDArray[np.float32]

    @classmethod
    def of_ink(cls, ink: NDArray[np.uint8], metric: ShapeMetric | None = None) -> Self:
        """Describe a drawing's ink ``(size, size)``, paper 255, as `sketchhash.imaging.rasterise` draws it."""
        return cls(ink_grid(ink) @ (metric or ShapeMetric.shipped()).weights)

    def fits(self, shapes: Mapping[int, bytes], ids: Sequence[int]) -> NDArray[np.float32]:
        """Return how well each photo of ``ids`` fits, by its shape in ``shapes``: ``(ids,)``, greater is better.

        A photo without a shape is in the middle.
        """
        known = [photo for photo in ids if photo in shapes]
        if not known:
            return np.zeros(len(ids), dtype=np.float32)
        packed = b"".join([shapes[photo] for photo in known])
        if len(packed) != SHAPE_BYTES * len(known):
            raise BadArgument(f"A shape has {SHAPE_BYTES} bytes, and some of these do not.")
        scores = self.scores(np.frombuffer(packed, dtype=np.uint8).reshape(-1, SHAPE_BYTES))
        if len(known) == len(ids):
            return scores
        fits = np.full(len(ids), np.median(scores), dtype=np.float32)
        fits[[photo in shapes for photo in ids]] = scores
        return fits

    def scores(self, shapes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score shapes ``(photos, SHAPE_BYTES)`` by the metric: ``(photos,)``, greater for a better fit."""
        whole, box = shapes & 15, shapes >> 4  # squares of levels fit into a byte: no table is needed
        scores: NDArray[np.float32] = _UNIT * (
            (whole * whole).astype(np.float32) @ self.wanted[:GRID]
            + (box * box).astype(np.float32) @ self.wanted[GRID:]
        )
        return scores


def _packed(grids: NDArray[np.float32]) -> bytes:
    levels = np.rint(_LEVELS * np.sqrt(np.minimum(grids / _GREATEST, 1))).astype(np.uint8)
    packed: NDArray[np.uint8] = levels[0] | levels[1] << 4
    return packed.tobytes()


def _box(ridges: Ridges) -> tuple[NDArray[np.float64], float]:
    """Return the middle and the side of the square around the strong ridges near the centre, with its border."""
    central = np.exp(-0.5 * ((ridges.places - 0.5) ** 2).sum(axis=1) / _CENTRAL**2)
    weights = ridges.strengths**2 * central
    ends = np.array([_quantiles(along, weights) for along in ridges.places.T])  # rows, then columns
    return ends.mean(axis=1), max(float(np.ptp(ends, axis=1).max()), _SMALLEST_BOX) * (1 + 2 * _BORDER)


def _quantiles(places: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(places)
    share = np.cumsum(weights[order])
    return np.interp((_TAIL, 1 - _TAIL), share / max(float(share[-1]), 1e-12), places[order])
