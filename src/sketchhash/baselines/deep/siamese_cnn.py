"""Siamese CNN (Qi, Song, Zhang and Liu, ICIP 2016): one network for sketches and for the edge maps of photos.

    L = y d² + (1 − y) max(0, μ − d)²,   d Euclidean between unit vectors, y = 1 for one category

Where we differ: the paper's layers could not be verified, so the network is that of *3D shape*, which has the same
purpose and the same 64 outputs. Every pair of a batch is used, see `batches`. It is trained from random weights, after
learning names, see `naming`; embeddings have unit length.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Generator, Tensor, nn

from sketchhash.baselines.deep.batches import same_category
from sketchhash.baselines.deep.line_method import LineMethod
from sketchhash.baselines.deep.losses import contrastive
from sketchhash.baselines.deep.naming import learn_names
from sketchhash.baselines.deep.network_method import Branches, UnitLength
from sketchhash.baselines.deep.shape_net import SIDE, shape_net
from sketchhash.baselines.deep.training import Descent
from sketchhash.baselines.views import Views


@dataclass(eq=False)
class SiameseCNN(LineMethod):
    """Pull drawings and edge maps of a category together, and push others ``margin`` apart."""

    _: KW_ONLY
    naming_epochs: int = 4
    epochs: int = 12
    margin: float = 1.4

    @property
    def ink_side(self) -> int:
        """The side that the network was laid out for."""
        return SIDE

    def build(self) -> Branches:
        """Make one network for both views."""
        net = nn.Sequential(shape_net(self.size), UnitLength())
        return Branches(net, net)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Learn names, then descend on the contrastive loss of all pairs across the views."""
        lesson = self.lesson(views, generator)
        learn_names(network, lesson, self.size, self.naming_epochs)

        def loss() -> Tensor:
            edges, ink, labels = lesson.draw()
            photos, sketches = network(edges, ink)
            return contrastive(torch.cdist(sketches, photos), same_category(labels), self.margin)

        return Descent(self.epochs).run(network, lesson.batches.an_epoch, loss)
