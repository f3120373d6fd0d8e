"""Random changes that leave what is drawn or shown the same.

People draw at any place, size and slant, with an unsteady hand and thick or thin pens, and leave things out; photos
are framed at will. `augment_ink` and `augment_photos` take batches of pixels from 0 to 255 on any device, and return
floats of the same range there; their generator draws on the processor. `redraw` changes strokes before they become
pixels.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn import functional

from sketchhash.imaging import Drawing

_PAPER = 255.0
_WOBBLE_POINTS = 5
_WAVES = 3  # sines that bend a redrawn sheet, in each direction


def augment_ink(ink: Tensor, generator: Generator) -> Tensor:
    """Move, turn, scale, slant, mirror, bend or thicken drawings ``(n, 1, side, side)``, and rub out a spot."""
    warped = _PAPER - _warp(
        _PAPER - ink.float(), generator, turn=0.2, scales=(0.9, 1.2), slant=0.12, shift=0.08, wobble=0.03
    )
    return _rub_out(_change_pen(warped, generator), generator)


def augment_photos(photos: Tensor, generator: Generator) -> Tensor:
    """Reframe, mirror and relight photos ``(n, 3, side, side)``."""
    warped = _warp(photos.float(), generator, turn=0.1, scales=(0.65, 1.05), slant=0.05, shift=0.1, wobble=0)
    contrast = _uniform((len(photos), 1, 1, 1), 0.75, 1.25, generator).to(photos.device)
    light = _uniform((len(photos), 3, 1, 1), -16, 16, generator).to(photos.device)
    return ((warped - 127) * contrast + 127 + light).clamp(0, 255)


def redraw(drawing: Drawing, rng: np.random.Generator) -> Drawing:
    """Draw the same thing as another hand might: in other proportions, unevenly, with strokes moved or left out.

    A drawing may stop early but keeps at least 60 % of its strokes; only strokes shorter than half the longest one are
    left out.
    """
    strokes = [stroke.astype(np.float64) for stroke in drawing.strokes if len(stroke)]
    points = np.concatenate(strokes)
    size = max(float(np.ptp(points, axis=0).max()), 1e-6)
    strokes = _left_out([_resampled(stroke, size / 24) for stroke in strokes], rng)
    points = np.concatenate(strokes)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2

    stretch, slant = np.exp(rng.normal(0, 0.12, 2)), rng.normal(0, 0.08)
    affine = _rotation(rng.normal(0, 0.1)) @ np.array([[stretch[0], slant], [0, stretch[1]]])
    bend = rng.uniform(0, 0.03) * size * rng.normal(0, 1, (2, _WAVES))
    phases, frequencies = rng.uniform(0, 2 * np.pi, (2, _WAVES)), rng.normal(0, 3, (2, _WAVES, 2))

    def moved(stroke: NDArray[np.float64]) -> NDArray[np.float32]:
        centre, own_scale = stroke.mean(axis=0), np.exp(rng.normal(0, 0.06, 2))
        placed = (stroke - centre) @ _rotation(rng.normal(0, 0.04)).T * own_scale + centre
        placed += rng.normal(0, 0.012, 2) * size
        angles = np.einsum("awx,nx->nwa", frequencies, (placed - middle) / size) + phases.T
        placed += (np.sin(angles) * bend.T).sum(axis=1)
        placed += _unsteady(len(placed), rng) * rng.uniform(0, 0.015) * size
        turned: NDArray[np.float32] = ((placed - middle) @ affine.T).astype(np.float32)
        return turned

    return Drawing(tuple(moved(stroke) for stroke in strokes))


def _left_out(strokes: list[NDArray[np.float64]], rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Stop three of ten drawings early, and leave short strokes out of some others."""
    count = len(strokes)
    if count > 2 and rng.random() < 0.3:
        return strokes[: rng.integers(max(2, -(-count * 6 // 10)), count + 1)]
    if count > 3 and rng.random() < 0.4:
        lengths = np.array([np.hypot(*np.diff(stroke, axis=0).T).sum() for stroke in strokes])
        short = np.flatnonzero(lengths < lengths.max() / 2)
        gone = rng.permutation(short)[: 1 + rng.integers(0, max(1, count // 4))]
        return [stroke for index, stroke in enumerate(strokes) if index not in gone]
    return strokes


def _resampled(stroke: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Add points at most ``step`` apart, so that straight lines can bend; corners stay."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(stroke, axis=0).T))])
    if along[-1] == 0:
        return stroke[:1]
    places = np.union1d(np.linspace(0, along[-1], int(np.ceil(along[-1] / step)) + 2), along)
    return np.stack([np.interp(places, along, stroke[:, axis]) for axis in (0, 1)], axis=1)


def _unsteady(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw noise ``(count, 2)`` that changes slowly along a stroke; a dot has none."""
    if count < 4:
        return np.zeros((count, 2))
    smooth = np.convolve([0.25, 0.5, 0.25], [0.25, 0.5, 0.25])
    noise = rng.normal(0, 1, (count + 4, 2))
    return np.stack([np.convolve(noise[:, axis], smooth, "valid") for axis in (0, 1)], axis=1)


def _rotation(angle: float) -> NDArray[np.float64]:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _warp(
    pictures: Tensor,
    generator: Generator,
    *,
    turn: float,
    scales: tuple[float, float],
    slant: float,
    shift: float,
    wobble: float,
) -> Tensor:
    """Sample each picture through its own affine map, bent a little: ``scales`` above 1 shrink what is shown."""
    count = len(pictures)
    angle = _uniform((count,), -turn, turn, generator)
    scale = _uniform((count,), *scales, generator)
    skew = _uniform((count,), -slant, slant, generator)
    mirror = torch.randint(0, 2, (count,), generator=generator) * 2.0 - 1
    maps = torch.zeros(count, 2, 3)
    maps[:, 0, 0] = scale * mirror * angle.cos()
    maps[:, 0, 1] = scale * (skew - angle.sin())
    maps[:, 1, 0] = scale * mirror * angle.sin()
    maps[:, 1, 1] = scale * angle.cos()
    maps[:, :, 2] = _uniform((count, 2), -shift, shift, generator)
    grid = functional.affine_grid(maps.to(pictures.device), list(pictures.shape), align_corners=False)
    if wobble:
        # Points of a coarse net move on their own, and the paper between them follows smoothly.
        bends = torch.randn((count, 2, _WOBBLE_POINTS, _WOBBLE_POINTS), generator=generator) * wobble
        bends = bends.to(pictures.device)
        bends = functional.interpolate(bends, size=pictures.shape[-2:], mode="bicubic", align_corners=True)
        grid = grid + bends.permute(0, 2, 3, 1)
    # Photos go on beyond their border as their edge does; ink was inverted, so beyond a sheet there is paper.
    padding = "border" if pictures.shape[1] == 3 else "zeros"
    return functional.grid_sample(pictures, grid, padding_mode=padding, align_corners=False)


def _change_pen(ink: Tensor, generator: Generator) -> Tensor:
    """Draw a quarter of the sheets with a thicker pen."""
    pen = torch.rand(len(ink), 1, 1, 1, generator=generator).to(ink.device)
    thick = -functional.max_pool2d(-ink, 3, stride=1, padding=1)
    return torch.where(pen < 1 / 4, thick, ink)


def _rub_out(ink: Tensor, generator: Generator) -> Tensor:
    """Leave a square spot of a third of the sheets blank, as if something had not been drawn yet."""
    count, side = len(ink), ink.shape[-1]
    half = _uniform((count, 1, 1, 1), 0.05, 0.16, generator)
    half = (half * (torch.rand((count, 1, 1, 1), generator=generator) < 1 / 3)).to(ink.device)
    centre = _uniform((count, 2, 1, 1), 0.1, 0.9, generator).to(ink.device)
    place = (torch.arange(side, device=ink.device) + 0.5) / side
    inside = ((place.view(1, 1, -1, 1) - centre[:, :1]).abs() < half) & (
        (place.view(1, 1, 1, -1) - centre[:, 1:]).abs() < half
    )
    return ink.masked_fill(inside, _PAPER)


def _uniform(shape: tuple[int, ...], low: float, high: float, generator: Generator) -> Tensor:
    return torch.rand(shape, generator=generator) * (high - low) + low
