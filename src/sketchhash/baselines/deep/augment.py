"""Small changes that leave what a picture shows the same, drawn anew each time it is seen."""

from __future__ import annotations

import torch
from torch import Generator, Tensor
from torch.nn import functional

_PAPER = 255.0
_TURN = 0.2  # radians
_SCALES = (0.85, 1.15)
_SHIFT = 0.1  # of half the side


def jostle(pictures: Tensor, generator: Generator) -> Tensor:
    """Mirror half of the pictures ``(n, channels, side, side)``, and turn, scale and shift all of them a little.

    Beyond the border of ink, one channel, there is paper; a photo goes on as its edge does.
    """
    count = len(pictures)
    angle = _uniform((count,), -_TURN, _TURN, generator)
    scale = _uniform((count,), *_SCALES, generator)
    mirror = torch.randint(0, 2, (count,), generator=generator) * 2.0 - 1
    maps = torch.stack(
        [scale * mirror * angle.cos(), -scale * angle.sin(), scale * mirror * angle.sin(), scale * angle.cos()], dim=1
    ).view(count, 2, 2)
    shifts = _uniform((count, 2, 1), -_SHIFT, _SHIFT, generator)
    grid = functional.affine_grid(torch.cat([maps, shifts], dim=2), list(pictures.shape), align_corners=False)
    beyond = "zeros" if pictures.shape[1] == 1 else "border"
    return _PAPER - functional.grid_sample(_PAPER - pictures.float(), grid, padding_mode=beyond, align_corners=False)


def _uniform(shape: tuple[int, ...], low: float, high: float, generator: Generator) -> Tensor:
    return torch.rand(shape, generator=generator) * (high - low) + low
