"""Backbones: the trunks that turn a picture into its pool3 features, in one table.

To add one, write a function ``(channels, pretrained) -> nn.Module`` and give it a row in `BACKBONES`.

References:
    Liu et al. Deep Sketch Hashing: Fast Free-hand Sketch-Based Image Retrieval. CVPR 2017, Table 1.
    Krizhevsky, Sutskever, Hinton. ImageNet Classification with Deep Convolutional Neural Networks. NIPS 2012.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import nn

from sketchhash.dsh.efficientnet import FEATURES as EFFICIENTNET_FEATURES
from sketchhash.dsh.efficientnet import efficientnet_lite


@dataclass(frozen=True)
class Backbone:
    """A trunk to choose: pixels enter as (x − offset) / scale, ``(n, features)`` leave.

    ``build(channels, pretrained)`` makes it; a backbone without published weights starts from random ones.
    """

    build: Callable[[int, bool], nn.Module]
    features: int
    offset: float = 127.0
    scale: float = 128.0


def paper_c1(channels: int, pretrained: bool) -> nn.Module:
    """Build C1 of Table 1, AlexNet as Caffe has it: pooling before normalisation, groups in three layers.

    conv5 has the 256 outputs of the released network and of the table's next row, not the 384 of its own row.
    Caffe rounds the side of a pooled map up, torch down; every side in the table divides evenly.
    """
    layers: dict[str, nn.Module] = {
        "conv1": nn.Conv2d(channels, 96, 11, stride=4),  # 3 × 227 × 227 → 96 × 55 × 55
        "relu1": nn.ReLU(inplace=True),
        "pool1": nn.MaxPool2d(3, stride=2),  # 96 × 27 × 27
        "norm1": nn.LocalResponseNorm(5),
        "conv2": nn.Conv2d(96, 256, 5, padding=2, groups=2),  # 256 × 27 × 27
        "relu2": nn.ReLU(inplace=True),
        "pool2": nn.MaxPool2d(3, stride=2),  # 256 × 13 × 13
        "norm2": nn.LocalResponseNorm(5),
        "conv3": nn.Conv2d(256, 384, 3, padding=1),  # 384 × 13 × 13
        "relu3": nn.ReLU(inplace=True),
        "conv4": nn.Conv2d(384, 384, 3, padding=1, groups=2),
        "relu4": nn.ReLU(inplace=True),
        "conv5": nn.Conv2d(384, 256, 3, padding=1, groups=2),  # 256 × 13 × 13
        "relu5": nn.ReLU(inplace=True),
        "pool3": nn.MaxPool2d(3, stride=2, padding=1),  # 256 × 7 × 7
        "flatten": nn.Flatten(),
    }
    for layer in layers.values():
        if isinstance(layer, nn.Conv2d) and layer.bias is not None:
            # AlexNet's start; the layers whose bias it sets to one, so that they fire, are the grouped ones.
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.constant_(layer.bias, 1.0 if layer.groups == 2 else 0.0)
    return nn.Sequential(OrderedDict(layers))


def paper_c2(channels: int, pretrained: bool) -> nn.Module:
    """Build C2 of Table 1; the released network normalises each batch after every convolution."""
    layers: dict[str, nn.Module] = {
        **_normalised("conv1", channels, 64, 14, stride=3),  # 1 × 200 × 200 → 64 × 63 × 63
        "pool1": nn.MaxPool2d(3, stride=2),  # 64 × 31 × 31
        **_normalised("conv2_1", 64, 128, 3, padding=1),  # 128 × 31 × 31
        **_normalised("conv2_2", 128, 128, 3, padding=1),
        "pool2": nn.MaxPool2d(3, stride=2),  # 128 × 15 × 15
        **_normalised("conv3_1", 128, 256, 3, padding=1),  # 256 × 15 × 15
        **_normalised("conv3_2", 256, 256, 3, padding=1),
        "pool3": nn.MaxPool2d(3, stride=2),  # 256 × 7 × 7
        "flatten": nn.Flatten(),
    }
    return nn.Sequential(OrderedDict(layers))


def tiny_convnet(channels: int, pretrained: bool) -> nn.Module:
    """Build three convolutions that learn simple shapes in seconds, for tests and the synthetic world."""
    layers: dict[str, nn.Module] = {
        **_normalised("conv1", channels, 16, 5, stride=2, padding=2),  # 16 × side / 2 × side / 2
        **_normalised("conv2", 16, 32, 3, stride=2, padding=1),  # 32 × side / 4 × side / 4
        **_normalised("conv3", 32, 64, 3, stride=2, padding=1),  # 64 × side / 8 × side / 8
        "pool3": nn.AdaptiveAvgPool2d(1),
        "flatten": nn.Flatten(),
    }
    return nn.Sequential(OrderedDict(layers))


def _normalised(
    name: str, inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0
) -> dict[str, nn.Module]:
    """Name a convolution, its batch normalisation and its rectifier, in order."""
    return {
        name: nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False),
        f"{name}_norm": nn.BatchNorm2d(outputs),
        f"{name}_relu": nn.ReLU(inplace=True),
    }


BACKBONES: dict[str, Backbone] = {
    # ImageNet's mean grey, and no scaling: local response normalisation expects activations of that size.
    "paper-c1": Backbone(paper_c1, features=256 * 7 * 7, offset=115.0, scale=1.0),
    "paper-c2": Backbone(paper_c2, features=256 * 7 * 7),
    "efficientnet-lite0": Backbone(partial(efficientnet_lite, "lite0"), features=EFFICIENTNET_FEATURES),
    "tiny": Backbone(tiny_convnet, features=64),
}
