"""Triplet-AlexNet (Liu et al., CVPR 2017): AlexNets with a triplet ranking loss.

    L = max(0, Δ + ‖s − p⁺‖² − ‖s − p⁻‖²),   distances between fc7 of unit length

A baseline of the authors of Deep Sketch Hashing; section 4.1 says only that its triplets are semantic.

Where we differ: the convolutions stay frozen with ImageNet weights, and fc6 and fc7 are trained from random weights,
see `alexnet`; fc6 is narrower. Every triplet of a batch is used.

`TripletHeads` is the same loss for heads on given features. It is not a method of the paper: it shows what the triplet
loss achieves on the trunks that Deep Sketch Hashing freezes.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from sketchhash.baselines.deep.alexnet import FROZEN, NARROW, AlexNetMethod
from sketchhash.baselines.deep.network_method import ALL_TRIPLETS, OPTIMISER, NetworkMethod
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported, Samples, Views

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

    from sketchhash.baselines.deep.networks import Branches
    from sketchhash.baselines.deep.training import Loader

_DROPOUT = 0.2


@dataclass(eq=False)
class TripletAlexNet(AlexNetMethod):
    """Brings sketches closer to photos of their category than to others, by ``margin``."""

    _: KW_ONLY
    epochs: int = 20
    margin: float = 0.3

    def build(self) -> Branches:
        """Build a head for each view, on the same convolutions."""
        from torch import nn

        from sketchhash.baselines.deep.networks import AlexNet, Branches, UnitLength, alexnet_trunk, fully_connected

        trunk = alexnet_trunk()
        heads = (nn.Sequential(*fully_connected(self.pool5, self.hidden, self.size), UnitLength()) for _ in range(2))
        return Branches(*(AlexNet(trunk, head) for head in heads))

    def learn_heads(self, heads: Branches, loader: Loader) -> list[float]:
        """Minimise the ranking loss of all triplets."""
        return _learn_triplets(heads, loader, self.epochs, self.margin)


CARD = Card(
    name="triplet-alexnet",
    title="Triplet-AlexNet",
    kind=Kind.DEEP,
    paper="Liu, Shen, Shen, Liu, Shao. Deep Sketch Hashing. CVPR (a baseline of its own)",
    year=2017,
    sees=Input.PICTURES,
    distance=Distance.EUCLIDEAN,
    method=TripletAlexNet,
    choices=(
        "Hinge with margin 0.3 on squared distances of fc7 of unit length.",
        "Sketches and photos have fully connected layers of their own.",
        ALL_TRIPLETS,
        FROZEN,
        NARROW,
        f"Reduced: 20 epochs. {OPTIMISER}",
    ),
    tuberlin=Reported.at(4096, 0.448, 0.552),
    sketchy=Reported.at(4096, 0.573, 0.761),
    sizes=(4096,),
    differs="ImageNet's convolutions stay frozen: only the fully connected layers learn, from random weights and for "
    "20 epochs, and fc6 is narrower.",
)


@dataclass(eq=False)
class TripletHeads(NetworkMethod):
    """Brings features of sketches closer to those of photos of their category than to others, by ``margin``.

    Args:
        photo_features: Width of the photos' features.
        sketch_features: Width of the sketches' features.
        hidden: Width between the two layers.
        epochs: Times that the larger view is seen.
        margin: Δ, of squared distances between unit vectors.
    """

    _: KW_ONLY
    photo_features: int
    sketch_features: int
    hidden: int = 512
    epochs: int = 20
    margin: float = 0.3

    def read_photos(self, photos: Samples) -> Tensor:
        """Return features as a tensor."""
        return _tensor(photos)

    def read_sketches(self, sketches: Samples) -> Tensor:
        """Return features as a tensor."""
        return _tensor(sketches)

    def build(self) -> Branches:
        """Build a head for each view; features are standardised first."""
        from sketchhash.baselines.deep.networks import Branches

        return Branches(*(self._head(inputs) for inputs in (self.photo_features, self.sketch_features)))

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Minimise the ranking loss of all triplets of a batch."""
        from sketchhash.baselines.deep.training import CachedFeatures, CategorySampler, Loader

        photos, sketches = self.read_photos(views.photos), self.read_sketches(views.sketches)
        loader = Loader(
            CachedFeatures(photos[None]), CachedFeatures(sketches[None]), CategorySampler.of(views), generator
        )
        return _learn_triplets(network, loader, self.epochs, self.margin)

    def _head(self, inputs: int) -> nn.Sequential:
        from torch import nn

        from sketchhash.baselines.deep.networks import UnitLength

        return nn.Sequential(
            nn.BatchNorm1d(inputs, affine=False),
            nn.Dropout(_DROPOUT),
            nn.Linear(inputs, self.hidden),
            nn.ReLU(inplace=True),
            nn.Dropout(_DROPOUT),
            nn.Linear(self.hidden, self.size),
            UnitLength(),
        )


def _learn_triplets(network: Branches, loader: Loader, epochs: int, margin: float) -> list[float]:
    from sketchhash.baselines.deep.training import TrainingLoop, triplet_hinge

    def loss() -> Tensor:
        photo_features, sketch_features, labels = loader.draw()
        photos, sketches = network(photo_features, sketch_features)
        return triplet_hinge(sketches, photos, labels, margin)

    return TrainingLoop(epochs).run(network, loader.sampler.batches_per_epoch, loss)


def _tensor(features: Samples) -> Tensor:
    import torch

    return torch.from_numpy(np.asarray(features, dtype=np.float32))
