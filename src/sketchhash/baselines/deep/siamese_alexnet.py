"""Siamese-AlexNet (Liu et al., CVPR 2017): one AlexNet for photos and sketches, under a contrastive loss.

    L = y d² + (1 − y) max(0, μ − d)²,   d Euclidean between fc7 of unit length, y = 1 for one category

A baseline that the authors of Deep Sketch Hashing made themselves; of its pairs section 4.1 says that they are made
as Siamese CNN makes them, and no more.

Where we differ: the convolutions stay as ImageNet left them, and fc6 and fc7 are trained from random weights, see
`alexnet`, after learning names, see `naming`; fc6 is narrower. Every pair of a batch is used, see `batches`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor, nn

from sketchhash.baselines.deep.alexnet import AlexNet, AlexNetMethod, convolutions, fully_connected
from sketchhash.baselines.deep.batches import same_category
from sketchhash.baselines.deep.losses import contrastive
from sketchhash.baselines.deep.naming import learn_names
from sketchhash.baselines.deep.network_method import Branches, UnitLength
from sketchhash.baselines.deep.training import Descent, Lesson


@dataclass(eq=False)
class SiameseAlexNet(AlexNetMethod):
    """Pull photos and sketches of a category together, and push others ``margin`` apart."""

    _: KW_ONLY
    naming_epochs: int = 2
    epochs: int = 18
    margin: float = 1.4

    def build(self) -> Branches:
        """Make one network for both views."""
        net = AlexNet(convolutions(), nn.Sequential(*fully_connected(self.pool5, self.hidden, self.size), UnitLength()))
        return Branches(net, net)

    def learn_heads(self, heads: Branches, lesson: Lesson) -> list[float]:
        """Learn names, then descend on the contrastive loss of all pairs across the views."""
        learn_names(heads, lesson, self.size, self.naming_epochs)

        def loss() -> Tensor:
            photo_pool5, sketch_pool5, labels = lesson.draw()
            photos, sketches = heads(photo_pool5, sketch_pool5)
            return contrastive(torch.cdist(sketches, photos), same_category(labels), self.margin)

        return Descent(self.epochs).run(heads, lesson.batches.an_epoch, loss)
