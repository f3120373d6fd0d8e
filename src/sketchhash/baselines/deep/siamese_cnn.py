"""Siamese CNN (Qi, Song, Zhang and Liu, ICIP 2016): one network for sketches and for the edge maps of photos.

    L = y d² + (1 − y) max(0, μ − d)²,   d Euclidean between unit vectors, y = 1 for one category

Where we differ: the paper's layers could not be verified, and weights of such networks are not published. Here it is an
AlexNet that starts from ImageNet's convolutions and learns on, with a new layer of 64 outputs. Without ``pretrained``
it is the network of *3D shape*, which has the same purpose and the same 64 outputs, from random weights. Every pair of
a batch is used. Pre-training on categories comes first, see `training`; embeddings have unit length.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, cast

from sketchhash.baselines.deep.alexnet import FROM_IMAGENET
from sketchhash.baselines.deep.network_method import (
    ALL_PAIRS,
    AUGMENTED,
    EDGES,
    GENTLE,
    GENTLE_RATE,
    LineMethod,
)
from sketchhash.baselines.deep.shape3d import SIDE
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported, Views

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

    from sketchhash.baselines.deep.networks import AlexNet, Branches


@dataclass(eq=False)
class SiameseCNN(LineMethod):
    """Pulls drawings and edge maps of a category together, and pushes others ``margin`` apart.

    Args:
        naming_epochs: Times that the larger view is seen to learn the categories first.
        epochs: Times that it is seen afterwards.
        margin: μ, between unit vectors.
        side: Side of the pictures of a pretrained network, in pixels.
        pretrained: Start AlexNet from ImageNet's convolutions, instead of the shape net from random weights.
    """

    _: KW_ONLY
    naming_epochs: int = 4
    epochs: int = 12
    margin: float = 1.4
    side: int = 128
    pretrained: bool = True

    @property
    def ink_side(self) -> int:
        """The chosen side, or the one that the shape net was designed for."""
        return self.side if self.pretrained else SIDE

    def build(self) -> Branches:
        """Build one network for both views."""
        from torch import nn

        from sketchhash.baselines.deep.alexnet import fine_tuned
        from sketchhash.baselines.deep.networks import Branches, UnitLength, shape_net

        embed = fine_tuned(self.size, self.side) if self.pretrained else shape_net(self.size)
        net = nn.Sequential(embed, UnitLength())
        return Branches(net, net)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Pre-train on categories, then minimise the contrastive loss of all pairs across the views."""
        import torch

        from sketchhash.baselines.deep.alexnet import load_imagenet
        from sketchhash.baselines.deep.training import (
            TrainingLoop,
            contrastive,
            pretrain_on_categories,
            same_category,
        )

        loop = TrainingLoop(self.epochs, GENTLE_RATE) if self.pretrained else TrainingLoop(self.epochs)
        if self.pretrained:
            load_imagenet(cast("AlexNet", cast("nn.Sequential", network.photos)[0]).trunk)
        loader = self.loader(views, generator)
        pretrain_on_categories(network, loader, self.size, self.naming_epochs, loop.learning_rate)

        def loss() -> Tensor:
            edges, ink, labels = loader.draw()
            photos, sketches = network(edges, ink)
            return contrastive(torch.cdist(sketches, photos), same_category(labels), self.margin)

        return loop.run(network, loader.sampler.batches_per_epoch, loss)


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
        f"The original's layers could not be verified. {FROM_IMAGENET}",
        "Contrastive loss with margin 1.4 on unit vectors; matching and other pairs weigh the same.",
        ALL_PAIRS,
        EDGES,
        "Both views first learn the categories, for 4 epochs. pretrained=false is the network of 3D shape, from random "
        "weights and with normalised batches.",
        AUGMENTED,
        f"Reduced: pictures of 128 pixels, 12 more epochs. {GENTLE}",
    ),
    tuberlin=Reported.at(64, 0.322, 0.447),
    sketchy=Reported.at(64, 0.481, 0.612),
    sizes=(64,),
    differs="The original's layers could not be verified: here an AlexNet learns on from ImageNet's convolutions, on "
    "pictures of 128 pixels, for 16 epochs.",
    earlier="The original's layers could not be verified: it was the network of 3D shape, which learned from random "
    "weights for 16 epochs.",
)
