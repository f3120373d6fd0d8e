"""Random changes that leave what is drawn or shown the same.

People draw at any place, size and slant, with an unsteady hand and thick or thin pens, and leave things out; photos
are framed at will. All functions take batches of pixels from 0 to 255 on the processor, where their generator
draws, and give floats of the same range.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor
from torch.nn import functional

_PAPER = 255.0
_WOBBLE_POINTS = 5


def augment_ink(ink: Tensor, generator: Generator) -> Tensor:
    """Move, turn, scale, slant, mirror, bend or thicken drawings ``(n, 1, side, side)``, and rub out a spot."""
    warped = _PAPER - _warp(
        _PAPER - ink.float(), generator, turn=0.2, scales=(0.9, 1.2), slant=0.12, shift=0.08, wobble=0.03
    )
    return _rub_out(_change_pen(warped, generator), generator)


def augment_photos(photos: Tensor, generator: Generator) -> Tensor:
    """Reframe, mirror and relight photos ``(n, 3, side, side)``."""
    warped = _warp(photos.float(), generator, turn=0.1, scales=(0.65, 1.05), slant=0.05, shift=0.1, wobble=0)
    contrast = _uniform((len(photos), 1, 1, 1), 0.75, 1.25, generator)
    light = _uniform((len(photos), 3, 1, 1), -16, 16, generator)
    return ((warped - 127) * contrast + 127 + light).clamp(0, 255)


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
    grid = functional.affine_grid(maps, list(pictures.shape), align_corners=False)
    if wobble:
        # Points of a coarse net move on their own, and the paper between them follows smoothly.
        bends = torch.randn((count, 2, _WOBBLE_POINTS, _WOBBLE_POINTS), generator=generator) * wobble
        bends = functional.interpolate(bends, size=pictures.shape[-2:], mode="bicubic", align_corners=True)
        grid = grid + bends.permute(0, 2, 3, 1)
    # Photos go on beyond their border as their edge does; ink was inverted, so beyond a sheet there is paper.
    padding = "border" if pictures.shape[1] == 3 else "zeros"
    return functional.grid_sample(pictures, grid, padding_mode=padding, align_corners=False)


def _change_pen(ink: Tensor, generator: Generator) -> Tensor:
    """Draw a quarter of the sheets with a thicker pen."""
    pen = torch.rand(len(ink), 1, 1, 1, generator=generator)
    thick = -functional.max_pool2d(-ink, 3, stride=1, padding=1)
    return torch.where(pen < 1 / 4, thick, ink)


def _rub_out(ink: Tensor, generator: Generator) -> Tensor:
    """Leave a square spot of a third of the sheets blank, as if something had not been drawn yet."""
    count, side = len(ink), ink.shape[-1]
    half = _uniform((count, 1, 1, 1), 0.05, 0.16, generator)
    half = half * (torch.rand((count, 1, 1, 1), generator=generator) < 1 / 3)
    centre = _uniform((count, 2, 1, 1), 0.1, 0.9, generator)
    place = (torch.arange(side) + 0.5) / side
    inside = ((place.view(1, 1, -1, 1) - centre[:, :1]).abs() < half) & (
        (place.view(1, 1, 1, -1) - centre[:, 1:]).abs() < half
    )
    return ink.masked_fill(inside, _PAPER)


def _uniform(shape: tuple[int, ...], low: float, high: float, generator: Generator) -> Tensor:
    return torch.rand(shape, generator=generator) * (high - low) + low
