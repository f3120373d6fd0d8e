"""Siamese CNN (Qi, Song, Zhang and Liu, ICIP 2016): one network for sketches and for the edge maps of photos.

    L = y d² + (1 − y) max(0, μ − d)²,   d Euclidean between unit vectors, y = 1 for one category

Where we differ: the paper's layers could not be verified, so the network is that of *3D shape*, which has the same
purpose and the same 64 outputs. Every pair of a batch is used. The network is trained from random weights, after
pre-training on categories, see `training`; embeddings have unit length.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from sketchhash.baselines.deep.network_method import (
    ALL_PAIRS,
    AUGMENTED,
    EDGES,
    FROM_SCRATCH,
    NORMALISED,
    OPTIMISER,
    LineMethod,
    pretrained_on_categories,
)
from sketchhash.baselines.deep.shape3d import SIDE
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported, Views

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from sketchhash.baselines.deep.networks import Branches


@dataclass(eq=False)
class SiameseCNN(LineMethod):
    """Pulls drawings and edge maps of a category together, and pushes others ``margin`` apart."""

    _: KW_ONLY
    naming_epochs: int = 4
    epochs: int = 12
    margin: float = 1.4

    @property
    def ink_side(self) -> int:
        """The side that the network was designed for."""
        return SIDE

    def build(self) -> Branches:
        """Build one network for both views."""
        from torch import nn

        from sketchhash.baselines.deep.networks import Branches, UnitLength, shape_net

        net = nn.Sequential(shape_net(self.size), UnitLength())
        return Branches(net, net)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Pre-train on categories, then minimise the contrastive loss of all pairs across the views."""
        import torch

        from sketchhash.baselines.deep.training import (
            TrainingLoop,
            contrastive,
            pretrain_on_categories,
            same_category,
        )

        loader = self.loader(views, generator)
        pretrain_on_categories(network, loader, self.size, self.naming_epochs)

        def loss() -> Tensor:
            edges, ink, labels = loader.draw()
            photos, sketches = network(edges, ink)
            return contrastive(torch.cdist(sketches, photos), same_category(labels), self.margin)

        return TrainingLoop(self.epochs).run(network, loader.sampler.batches_per_epoch, loss)


CARD = Card(
    name="siamese-cnn",
    title="Siamese CNN",
    kind=Kind.DEEP,
    paper="Qi, Song, Zhang, Liu. Sketch-Based Image Retrieval via Siamese Convolutional Neural Network. ICIP",
    year=2016,
    sees=Input.PICTURES,
    distance=Distance.EUCLIDEAN,
    method=SiameseCNN,
    choices=(
        "The layers are those of 3D shape: the original's could not be verified.",
        "Contrastive loss with margin 1.4 on unit vectors; matching and other pairs weigh the same.",
        ALL_PAIRS,
        EDGES,
        f"{FROM_SCRATCH} {pretrained_on_categories(epochs=4)}",
        NORMALISED,
        AUGMENTED,
        f"Reduced: 12 more epochs. {OPTIMISER}",
    ),
    tuberlin=Reported.at(64, 0.322, 0.447),
    sketchy=Reported.at(64, 0.481, 0.612),
    sizes=(64,),
)
