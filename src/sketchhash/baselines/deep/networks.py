"""The networks of the deep methods, and the layers around them.

Layer names and their order are those of saved weights.

*Shape net* (Wang, Kang and Li, CVPR 2015): three convolutions with large kernels, for line drawings. The kernels follow
from the outputs, which are all that is known of the original.

| layer | kernel | pooled by | output        |
|-------|--------|-----------|---------------|
| input |        |           | 1 × 100 × 100 |
| conv1 | 13     | 4         | 32 × 22 × 22  |
| conv2 | 7      | 2         | 64 × 8 × 8    |
| conv3 | 3      | 2         | 256 × 3 × 3   |
| fc    |        |           | size          |

*Sketch-a-Net* (Yu, Yang, Song, Xiang and Hospedales, BMVC 2015):

| layer | kernel, stride | output at side 225 | at side 129   |
|-------|----------------|--------------------|---------------|
| conv1 | 15, 3          | 64 × 71 × 71       | 64 × 39 × 39  |
| pool1 | 3, 2           | 64 × 35 × 35       | 64 × 19 × 19  |
| conv2 | 5              | 128 × 31 × 31      | 128 × 15 × 15 |
| pool2 | 3, 2           | 128 × 15 × 15      | 128 × 7 × 7   |
| conv3, conv4, conv5 | 3 | 256 × 15 × 15     | 256 × 7 × 7   |
| pool5 | 3, 2           | 256 × 7 × 7        | 256 × 3 × 3   |
| fc6   | the whole map  | 512                | 512           |
| fc7   |                | size: 512          | size: 512     |

*GoogLeNet* (Szegedy et al., CVPR 2015) up to its last pooling, at any width.

*AlexNet* (Krizhevsky, Sutskever and Hinton, NIPS 2012), with the convolutions of the one-tower variant (Krizhevsky
2014).

Where we differ: all but AlexNet normalise batches after each convolution (Ioffe and Szegedy, ICML 2015), for a short
training. That makes GoogLeNet's two auxiliary classifiers unnecessary, and its local response normalisation too.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

_IMAGENET_MEAN = torch.tensor([123.675, 116.28, 103.53]).view(1, 3, 1, 1)
_IMAGENET_DEVIATION = torch.tensor([58.395, 57.12, 57.375]).view(1, 3, 1, 1)
_SKETCH_A_NET_HIDDEN = 512
_SKETCH_A_NET_DROPOUT = 0.5
_POOL5_CHANNELS = 256
_ALEXNET_DROPOUT = 0.2  # 0.5 in the original, whose noise keeps even equal pictures far apart


class Branches(nn.Module):
    """One network for photos and one for sketches; the same one where both views share weights."""

    def __init__(self, photos: nn.Module, sketches: nn.Module) -> None:
        """Store both networks."""
        super().__init__()
        self.photos, self.sketches = photos, sketches

    def forward(self, photos: Tensor, sketches: Tensor) -> tuple[Tensor, Tensor]:
        """Embed both views: each ``(n, size)``."""
        return self.photos(photos), self.sketches(sketches)


class UnitLength(nn.Module):
    """Scales each embedding to length 1, so that a margin means the same throughout a training."""

    def forward(self, values: Tensor) -> Tensor:
        """Map ``(n, size)`` to the unit sphere."""
        return functional.normalize(values)


class Ink(nn.Module):
    """Turns pixels of sketches or edge maps into network input: ink 1 and paper 0, which is also the padding."""

    def forward(self, pixels: Tensor) -> Tensor:
        """Map ``(n, 1, side, side)`` from 0–255 to 1–0."""
        return _channels_last(1 - pixels.float() / 255)


class Colour(nn.Module):
    """Standardises pixels as for networks trained on ImageNet; sketches get three equal channels."""

    def forward(self, pixels: Tensor) -> Tensor:
        """Standardise ``(n, 3, side, side)``, or ``(n, 1, side, side)``, of 0–255."""
        mean, deviation = (values.to(pixels.device) for values in (_IMAGENET_MEAN, _IMAGENET_DEVIATION))
        return _channels_last((pixels.float() - mean) / deviation)


def shape_net(size: int) -> nn.Sequential:
    """Build the shape net: pixels ``(n, 1, 100, 100)`` to embeddings ``(n, size)``."""
    layers: dict[str, nn.Module] = {
        "ink": Ink(),
        **_shape_block(1, 1, 32, kernel=13, pool=4),
        **_shape_block(2, 32, 64, kernel=7, pool=2),
        **_shape_block(3, 64, 256, kernel=3, pool=2),
        "flatten": nn.Flatten(),
        "fc": nn.Linear(256 * 3 * 3, size),
    }
    return nn.Sequential(OrderedDict(layers))


def sketch_a_net(size: int, side: int) -> nn.Sequential:
    """Build Sketch-a-Net up to fc7: pixels ``(n, 1, side, side)`` to ``(n, size)``."""
    layers: dict[str, nn.Module] = {
        "ink": Ink(),
        **_sketch_block(1, 1, 64, 15, stride=3),
        "pool1": nn.MaxPool2d(3, stride=2),
        **_sketch_block(2, 64, 128, 5),
        "pool2": nn.MaxPool2d(3, stride=2),
        **_sketch_block(3, 128, 256, 3, padding=1),
        **_sketch_block(4, 256, 256, 3, padding=1),
        **_sketch_block(5, 256, 256, 3, padding=1),
        "pool5": nn.MaxPool2d(3, stride=2),
        "flatten": nn.Flatten(),
        "fc6": nn.Linear(256 * map_side(side) ** 2, _SKETCH_A_NET_HIDDEN),
        "relu6": nn.ReLU(inplace=True),
        "drop6": nn.Dropout(_SKETCH_A_NET_DROPOUT),
        "fc7": nn.Linear(_SKETCH_A_NET_HIDDEN, size),
        "relu7": nn.ReLU(inplace=True),
    }
    return nn.Sequential(OrderedDict(layers))


def map_side(side: int) -> int:
    """Return the side of Sketch-a-Net's last map, the input of fc6.

    >>> map_side(225), map_side(129)
    (7, 3)
    """
    conv1 = (side - 15) // 3 + 1
    conv2 = (conv1 - 3) // 2 + 1 - 4
    pool2 = (conv2 - 3) // 2 + 1
    return (pool2 - 3) // 2 + 1


class Widths(NamedTuple):
    """The outputs of an inception block's four paths; two of them have a narrower layer in front."""

    point: int
    before_3: int
    by_3: int
    before_5: int
    by_5: int
    pooled: int

    @property
    def total(self) -> int:
        """The number of channels that leave the block."""
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
    """Build GoogLeNet: ``(n, channels, side, side)`` to pool5, ``(n, size)``; the side is a multiple of 32.

    ``width`` scales every layer except the last block.
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
    """An inception block: four parallel paths, by 1 × 1, 3 × 3 and 5 × 5 windows and by pooling."""

    def __init__(self, inputs: int, widths: Widths) -> None:
        """Build the paths; their outputs are concatenated."""
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


class AlexNet(nn.Module):
    """A head on AlexNet's convolutions: pixels ``(n, 3, side, side)`` or ``(n, 1, side, side)``, from 0 to 255."""

    def __init__(self, trunk: nn.Sequential, head: nn.Module) -> None:
        """Put a head on a trunk, which several networks may share."""
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the output of the head on pool5."""
        values: Tensor = self.head(self.trunk(pixels))
        return values


def alexnet_trunk() -> nn.Sequential:
    """Build AlexNet's convolutions: pixels ``(n, …, 224, 224)`` to pool5, flat, ``(n, 256 · 6 · 6)``."""
    layers: dict[str, nn.Module] = {
        "colour": Colour(),
        "conv1": nn.Conv2d(3, 64, 11, stride=4, padding=2),  # 64 × 55 × 55
        "relu1": nn.ReLU(inplace=True),
        "pool1": nn.MaxPool2d(3, stride=2),  # 64 × 27 × 27
        "conv2": nn.Conv2d(64, 192, 5, padding=2),
        "relu2": nn.ReLU(inplace=True),
        "pool2": nn.MaxPool2d(3, stride=2),  # 192 × 13 × 13
        "conv3": nn.Conv2d(192, 384, 3, padding=1),
        "relu3": nn.ReLU(inplace=True),
        "conv4": nn.Conv2d(384, 256, 3, padding=1),
        "relu4": nn.ReLU(inplace=True),
        "conv5": nn.Conv2d(256, _POOL5_CHANNELS, 3, padding=1),
        "relu5": nn.ReLU(inplace=True),
        "pool5": nn.MaxPool2d(3, stride=2),  # 256 × 6 × 6
        "flatten": nn.Flatten(),
    }
    return nn.Sequential(OrderedDict(layers))


def pool5_features(side: int) -> int:
    """Return how many features AlexNet's convolutions make of a picture of ``side`` pixels.

    >>> pool5_features(224)
    9216
    """
    side = (side + 4 - 11) // 4 + 1
    for _ in range(3):
        side = (side - 3) // 2 + 1
    return _POOL5_CHANNELS * side**2


def fully_connected(inputs: int, hidden: int, outputs: int) -> list[nn.Module]:
    """Build AlexNet's fc6 and fc7 with their dropout, without what follows fc7."""
    return [
        nn.Dropout(_ALEXNET_DROPOUT),
        nn.Linear(inputs, hidden),
        nn.ReLU(inplace=True),
        nn.Dropout(_ALEXNET_DROPOUT),
        nn.Linear(hidden, outputs),
    ]


def _channels_last(pixels: Tensor) -> Tensor:
    # With weights and input in this layout, convolutions on a CPU are about twice as fast as in torch's default one.
    return pixels.contiguous(memory_format=torch.channels_last)


def _shape_block(number: int, inputs: int, outputs: int, kernel: int, pool: int) -> dict[str, nn.Module]:
    return {
        f"conv{number}": nn.Conv2d(inputs, outputs, kernel, bias=False),
        f"norm{number}": nn.BatchNorm2d(outputs),
        f"pool{number}": nn.MaxPool2d(pool),
        f"relu{number}": nn.ReLU(inplace=True),  # after pooling it costs less, with the same result
    }


def _sketch_block(
    number: int, inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0
) -> dict[str, nn.Module]:
    return {
        f"conv{number}": nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False),
        f"norm{number}": nn.BatchNorm2d(outputs),
        f"relu{number}": nn.ReLU(inplace=True),
    }


def _unit(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    layers: dict[str, nn.Module] = {
        "conv": nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        "norm": nn.BatchNorm2d(outputs),
        "relu": nn.ReLU(inplace=True),
    }
    return nn.Sequential(OrderedDict(layers))


def _of_size(size: int) -> Widths:
    """Scale the last block to exactly ``size`` output channels; the first path absorbs the rounding."""
    widths = LAST.scaled(size / LAST.total)
    return widths._replace(point=widths.point + size - widths.total)
