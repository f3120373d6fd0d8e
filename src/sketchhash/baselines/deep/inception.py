"""GoogLeNet (Szegedy et al., CVPR 2015) up to its last pooling, at any width.

Where we differ: batches are normalised after each convolution (Ioffe and Szegedy, ICML 2015), which makes the two
auxiliary classifiers unnecessary, and local response normalisation too.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Widths(NamedTuple):
    """Outputs of a block's four paths; two of them have a narrower layer in front."""

    point: int
    before_3: int
    by_3: int
    before_5: int
    by_5: int
    pooled: int

    @property
    def total(self) -> int:
        """How many channels leave the block."""
        return self.point + self.by_3 + self.by_5 + self.pooled

    def scaled(self, factor: float) -> Widths:
        """Scale all paths, to at least 4 channels each."""
        return Widths(*(max(4, round(width * factor)) for width in self))


STAGES: tuple[tuple[Widths, ...], ...] = (
    (Widths(64, 96, 128, 16, 32, 32), Widths(128, 128, 192, 32, 96, 64)),
    (
        Widths(192, 96, 208, 16, 48, 64),
        Widths(160, 112, 224, 24, 64, 64),
        Widths(128, 128, 256, 24, 64, 64),
        Widths(112, 144, 288, 32, 64, 64),
        Widths(256, 160, 320, 32, 128, 128),
    ),
    (Widths(256, 160, 320, 32, 128, 128),),
)
LAST = Widths(384, 192, 384, 48, 128, 128)
"""The last block is scaled to the features asked for, 1024 in the original."""


def google_net(channels: int, size: int, width: float) -> nn.Sequential:
    """Make the network: ``(n, channels, side, side)`` to pool5, ``(n, size)``; the side is a multiple of 32.

    ``width`` scales every layer but the last block.
    """
    first, second = max(4, round(64 * width)), max(4, round(192 * width))
    layers: list[nn.Module] = [
        _unit(channels, first, 7, stride=2),
        nn.MaxPool2d(3, stride=2, padding=1),
        _unit(first, first, 1),
        _unit(first, second, 3),
        nn.MaxPool2d(3, stride=2, padding=1),
    ]
    inputs = second
    for number, stage in enumerate(STAGES):
        if number:
            layers.append(nn.MaxPool2d(3, stride=2, padding=1))
        for widths in stage:
            layers.append(Block(inputs, widths.scaled(width)))
            inputs = widths.scaled(width).total
    layers += [Block(inputs, _of_size(size)), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers)


class Block(nn.Module):
    """Four paths side by side: a point, two windows, and a maximum."""

    def __init__(self, inputs: int, widths: Widths) -> None:
        """Make the paths; the outputs of all stand one after the other."""
        super().__init__()
        self.paths = nn.ModuleList(
            [
                _unit(inputs, widths.point, 1),
                nn.Sequential(_unit(inputs, widths.before_3, 1), _unit(widths.before_3, widths.by_3, 3)),
                nn.Sequential(_unit(inputs, widths.before_5, 1), _unit(widths.before_5, widths.by_5, 5)),
                nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1), _unit(inputs, widths.pooled, 1)),
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(n, inputs, h, w)`` to ``(n, outputs, h, w)``."""
        return torch.cat([path(x) for path in self.paths], dim=1)


def _unit(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    layers: dict[str, nn.Module] = {
        "conv": nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        "norm": nn.BatchNorm2d(outputs),
        "relu": nn.ReLU(inplace=True),
    }
    return nn.Sequential(OrderedDict(layers))


def _of_size(size: int) -> Widths:
    """Scale the last block so that exactly ``size`` channels leave it; the first path takes what rounding leaves."""
    widths = LAST.scaled(size / LAST.total)
    return widths._replace(point=widths.point + size - widths.total)
