"""Siamese-AlexNet (Liu et al., CVPR 2017): one AlexNet for photos and sketches, with a contrastive loss.

    L = y d² + (1 − y) max(0, μ − d)²,   d Euclidean between fc7 of unit length, y = 1 for one category

A baseline of the authors of Deep Sketch Hashing; section 4.1 says only that its pairs are made as for Siamese CNN.

Where we differ: the convolutions stay frozen with ImageNet weights, and fc6 and fc7 are trained from random weights,
see `alexnet`, after pre-training on categories, see `training`; fc6 is narrower. Every pair of a batch is used.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from sketchhash.baselines.deep.alexnet import FROZEN, NARROW, AlexNetMethod
from sketchhash.baselines.deep.network_method import ALL_PAIRS, OPTIMISER, pretrained_on_categories
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported

if TYPE_CHECKING:
    from torch import Tensor

    from sketchhash.baselines.deep.networks import Branches
    from sketchhash.baselines.deep.training import Loader


@dataclass(eq=False)
class SiameseAlexNet(AlexNetMethod):
    """Pulls photos and sketches of a category together, and pushes others ``margin`` apart."""

    _: KW_ONLY
    naming_epochs: int = 2
    epochs: int = 18
    margin: float = 1.4

    def build(self) -> Branches:
        """Build one network for both views."""
        from torch import nn

        from sketchhash.baselines.deep.networks import AlexNet, Branches, UnitLength, alexnet_trunk, fully_connected

        trunk = alexnet_trunk()
        head = nn.Sequential(*fully_connected(self.pool5, self.hidden, self.size), UnitLength())
        net = AlexNet(trunk, head)
        return Branches(net, net)

    def learn_heads(self, heads: Branches, loader: Loader) -> list[float]:
        """Pre-train on categories, then minimise the contrastive loss of all pairs across the views."""
        import torch

        from sketchhash.baselines.deep.training import (
            TrainingLoop,
            contrastive,
            pretrain_on_categories,
            same_category,
        )

        pretrain_on_categories(heads, loader, self.size, self.naming_epochs)

        def loss() -> Tensor:
            photo_pool5, sketch_pool5, labels = loader.draw()
            photos, sketches = heads(photo_pool5, sketch_pool5)
            return contrastive(torch.cdist(sketches, photos), same_category(labels), self.margin)

        return TrainingLoop(self.epochs).run(heads, loader.sampler.batches_per_epoch, loss)


CARD = Card(
    name="siamese-alexnet",
    title="Siamese-AlexNet",
    kind=Kind.DEEP,
    paper="Liu, Shen, Shen, Liu, Shao. Deep Sketch Hashing. CVPR (a baseline of its own)",
    year=2017,
    sees=Input.PICTURES,
    distance=Distance.EUCLIDEAN,
    method=SiameseAlexNet,
    choices=(
        "Contrastive loss with margin 1.4 on fc7 of unit length; matching and other pairs weigh the same.",
        ALL_PAIRS,
        FROZEN,
        NARROW,
        pretrained_on_categories(epochs=2),
        f"Reduced: 18 more epochs. {OPTIMISER}",
    ),
    tuberlin=Reported.at(4096, 0.367, 0.476),
    sketchy=Reported.at(4096, 0.518, 0.690),
    sizes=(4096,),
    differs="ImageNet's convolutions stay frozen: only the fully connected layers learn, from random weights and for "
    "20 epochs, and fc6 is narrower.",
)
