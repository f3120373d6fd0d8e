"""Sketch-a-Net (Yu, Yang, Song, Xiang and Hospedales, BMVC 2015): a network that names sketches; fc7 describes them.

| layer | kernel, stride | output at side 225 | at side 129  |
|-------|----------------|--------------------|--------------|
| conv1 | 15, 3          | 64 × 71 × 71       | 64 × 39 × 39 |
| pool1 | 3, 2           | 64 × 35 × 35       | 64 × 19 × 19 |
| conv2 | 5              | 128 × 31 × 31      | 128 × 15 × 15 |
| pool2 | 3, 2           | 128 × 15 × 15      | 128 × 7 × 7  |
| conv3, conv4, conv5 | 3 | 256 × 15 × 15     | 256 × 7 × 7  |
| pool5 | 3, 2           | 256 × 7 × 7        | 256 × 3 × 3  |
| fc6   | the whole map  | 512                | 512          |
| fc7   |                | size: 512          | size: 512    |

It is taught the categories of all training sketches; photos are encoded as edge maps, which it never saw.
`SketchANet.encode_sketches` gives the 512 features by which the paper describes sketches to methods that cannot see.

Where we differ: one channel and one scale, as in the paper's comparison; batches are normalised after each
convolution, for a short training; and the default side is 129, a quarter of the work of 225.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import KW_ONLY, dataclass

import numpy as np
import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from sketchhash.baselines.deep.augment import jostle
from sketchhash.baselines.deep.line_method import LineMethod
from sketchhash.baselines.deep.network_method import Branches
from sketchhash.baselines.deep.pictures import Ink
from sketchhash.baselines.deep.training import Descent
from sketchhash.baselines.views import Views

_HIDDEN = 512
_DROPOUT = 0.5
_BATCH = 64
_LABEL_SMOOTHING = 0.1


@dataclass(eq=False)
class SketchANet(LineMethod):
    """Learn to name sketches, and describe them, and edge maps, by the last layer before the names."""

    _: KW_ONLY
    epochs: int = 30
    side: int = 129

    @property
    def ink_side(self) -> int:
        """The side that was asked for."""
        return self.side

    def build(self) -> Branches:
        """Make one network for both views."""
        net = sketch_a_net(self.size, self.side)
        return Branches(net, net)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Descend on the cross-entropy of the sketches' categories."""
        ink = self.read_sketches(views.sketches)
        categories, numbers = np.unique(views.sketch_labels, return_inverse=True)
        labels = torch.from_numpy(numbers)
        namer = nn.Sequential(network.sketches, nn.Dropout(_DROPOUT), nn.Linear(self.size, len(categories)))
        parts = max(1, len(ink) // _BATCH)
        waiting: list[Tensor] = []

        def loss() -> Tensor:
            if not waiting:
                waiting.extend(torch.randperm(len(ink), generator=generator).tensor_split(parts))
            rows = waiting.pop()
            names = namer(jostle(ink[rows], generator))
            return functional.cross_entropy(names, labels[rows], label_smoothing=_LABEL_SMOOTHING)

        return Descent(self.epochs).run(namer, parts, loss)


def sketch_a_net(size: int, side: int) -> nn.Sequential:
    """Make the network up to fc7: pixels ``(n, 1, side, side)`` to ``(n, size)``."""
    layers: dict[str, nn.Module] = {
        "ink": Ink(),
        **_block(1, 1, 64, 15, stride=3),
        "pool1": nn.MaxPool2d(3, stride=2),
        **_block(2, 64, 128, 5),
        "pool2": nn.MaxPool2d(3, stride=2),
        **_block(3, 128, 256, 3, padding=1),
        **_block(4, 256, 256, 3, padding=1),
        **_block(5, 256, 256, 3, padding=1),
        "pool5": nn.MaxPool2d(3, stride=2),
        "flatten": nn.Flatten(),
        "fc6": nn.Linear(256 * map_side(side) ** 2, _HIDDEN),
        "relu6": nn.ReLU(inplace=True),
        "drop6": nn.Dropout(_DROPOUT),
        "fc7": nn.Linear(_HIDDEN, size),
        "relu7": nn.ReLU(inplace=True),
    }
    return nn.Sequential(OrderedDict(layers))


def map_side(side: int) -> int:
    """Give the side of the map that fc6 sees.

    >>> map_side(225), map_side(129)
    (7, 3)
    """
    conv1 = (side - 15) // 3 + 1
    conv2 = (conv1 - 3) // 2 + 1 - 4
    pool2 = (conv2 - 3) // 2 + 1
    return (pool2 - 3) // 2 + 1


def _block(
    number: int, inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0
) -> dict[str, nn.Module]:
    return {
        f"conv{number}": nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False),
        f"norm{number}": nn.BatchNorm2d(outputs),
        f"relu{number}": nn.ReLU(inplace=True),
    }
