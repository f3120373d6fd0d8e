"""AlexNet (Krizhevsky, Sutskever and Hinton, NIPS 2012): convolutions that know ImageNet, and layers that learn.

The convolutions are those of the one-tower variant (Krizhevsky 2014), whose weights `alexnet_weights` finds; they stay
as they are. So each picture crosses them once, as it is and mirrored, and only the fully connected layers are trained,
from random weights: none are published together with these convolutions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import cast

import numpy as np
import torch
from torch import Generator, Tensor, nn

from sketchhash.baselines.deep.alexnet_weights import imagenet_convolutions
from sketchhash.baselines.deep.batches import CategoryBatches
from sketchhash.baselines.deep.network_method import Branches, NetworkMethod, in_parts
from sketchhash.baselines.deep.pictures import Colour, read_ink, read_photos
from sketchhash.baselines.deep.training import Kept, Lesson
from sketchhash.baselines.views import Given, Views
from sketchhash.errors import DamagedState

_CHANNELS = 256  # of pool5
_DROPOUT = 0.2  # the original has 0.5: with it, noise keeps even the same picture far from itself


class AlexNet(nn.Module):
    """Pixels ``(n, 3, side, side)`` or ``(n, 1, side, side)``, from 0 to 255, through a trunk and a head."""

    def __init__(self, trunk: nn.Sequential, head: nn.Module) -> None:
        """Put a head on a trunk, which others may share."""
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, pixels: Tensor) -> Tensor:
        """Give what the head makes of the last pooled map."""
        values: Tensor = self.head(self.trunk(pixels))
        return values


def convolutions() -> nn.Sequential:
    """Make the trunk: pixels ``(n, …, 224, 224)`` to pool5, flat, ``(n, 256 · 6 · 6)``."""
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
        "conv5": nn.Conv2d(256, _CHANNELS, 3, padding=1),
        "relu5": nn.ReLU(inplace=True),
        "pool5": nn.MaxPool2d(3, stride=2),  # 256 × 6 × 6
        "flatten": nn.Flatten(),
    }
    return nn.Sequential(OrderedDict(layers))


def load_imagenet(trunk: nn.Sequential) -> None:
    """Give the trunk the weights that it had when it knew ImageNet's categories."""
    layers = [layer for layer in trunk if isinstance(layer, nn.Conv2d)]
    for layer, arrays in zip(layers, imagenet_convolutions(), strict=True):
        for weights, array in zip((layer.weight, layer.bias), arrays, strict=True):
            if weights is None or weights.shape != array.shape:
                raise DamagedState(f"AlexNet's weights have another shape than its layers: {array.shape}.")
            weights.data.copy_(torch.from_numpy(np.array(array)))


def fully_connected(inputs: int, hidden: int, outputs: int) -> list[nn.Module]:
    """Make fc6 and fc7 with their dropout; what follows fc7 differs."""
    return [
        nn.Dropout(_DROPOUT),
        nn.Linear(inputs, hidden),
        nn.ReLU(inplace=True),
        nn.Dropout(_DROPOUT),
        nn.Linear(hidden, outputs),
    ]


@dataclass(eq=False)
class AlexNetMethod(NetworkMethod):
    """Trains heads on frozen convolutions; without ``pretrained`` these are random, which is for tests.

    Args:
        hidden: Width of fc6; the original has 4096.
        side: Of the pictures, in pixels.
        pretrained: Start from ImageNet weights.
    """

    _: KW_ONLY
    hidden: int = 1024
    side: int = 224
    pretrained: bool = True

    def read_photos(self, photos: Given) -> Tensor:
        """Squeeze photos."""
        return read_photos(photos, self.side)

    def read_sketches(self, sketches: Given) -> Tensor:
        """Resize ink."""
        return read_ink(sketches, self.side)

    @property
    def pool5(self) -> int:
        """How many features leave the convolutions."""
        side = (self.side + 4 - 11) // 4 + 1
        for _ in range(3):
            side = (side - 3) // 2 + 1
        return _CHANNELS * side**2

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Run the convolutions once, then train the heads."""
        batches = CategoryBatches.of(views)
        photos, sketches = cast(AlexNet, network.photos), cast(AlexNet, network.sketches)
        if self.pretrained:
            load_imagenet(photos.trunk)
        photo_pool5 = frozen_features(photos.trunk, views.photos, self.read_photos, self.pool5)
        sketch_pool5 = frozen_features(sketches.trunk, views.sketches, self.read_sketches, self.pool5)
        lesson = Lesson(Kept(photo_pool5), Kept(sketch_pool5), batches, generator)
        return self.learn_heads(Branches(photos.head, sketches.head), lesson)

    @abstractmethod
    def learn_heads(self, heads: Branches, lesson: Lesson) -> list[float]:
        """Train the heads on pool5 and give the loss at each step."""


def frozen_features(trunk: nn.Module, pictures: Given, read: Callable[[Given], Tensor], features: int) -> Tensor:
    """Run a trunk on pictures as they are and mirrored: ``(2, n, features)``, in half precision to save memory."""
    kept = torch.empty(2, len(pictures), features, dtype=torch.float16)
    done = 0
    with torch.no_grad():
        for some in in_parts(pictures):
            pixels = read(some)
            for view, shown in enumerate((pixels, pixels.flip(-1))):
                kept[view, done : done + len(some)] = trunk(shown)
            done += len(some)
    return kept
