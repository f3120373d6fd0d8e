"""The network of *3D shape* (Wang, Kang and Li, CVPR 2015): three convolutions with large kernels, for line drawings.

| layer | kernel | pooled by | output       |
|-------|--------|-----------|--------------|
| input |        |           | 1 × 100 × 100 |
| conv1 | 13     | 4         | 32 × 22 × 22 |
| conv2 | 7      | 2         | 64 × 8 × 8   |
| conv3 | 3      | 2         | 256 × 3 × 3  |
| fc    |        |           | size         |

The kernels follow from the outputs, which are what is known of the original.

Where we differ: batches are normalised after each convolution, for a short training.
"""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

from sketchhash.baselines.deep.pictures import Ink

SIDE = 100


def shape_net(size: int) -> nn.Sequential:
    """Make the network: pixels ``(n, 1, 100, 100)`` to embeddings ``(n, size)``."""
    layers: dict[str, nn.Module] = {
        "ink": Ink(),
        **_block(1, 1, 32, kernel=13, pool=4),
        **_block(2, 32, 64, kernel=7, pool=2),
        **_block(3, 64, 256, kernel=3, pool=2),
        "flatten": nn.Flatten(),
        "fc": nn.Linear(256 * 3 * 3, size),
    }
    return nn.Sequential(OrderedDict(layers))


def _block(number: int, inputs: int, outputs: int, kernel: int, pool: int) -> dict[str, nn.Module]:
    return {
        f"conv{number}": nn.Conv2d(inputs, outputs, kernel, bias=False),
        f"norm{number}": nn.BatchNorm2d(outputs),
        f"pool{number}": nn.MaxPool2d(pool),
        f"relu{number}": nn.ReLU(inplace=True),  # after pooling it costs less, and gives the same
    }
