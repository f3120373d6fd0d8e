"""*3D shape* (Wang, Kang and Li, CVPR 2015): one network for sketches and one for line drawings of what is searched.

| symbol          | here                                                        |
|-----------------|-------------------------------------------------------------|
| s₁, s₂, v₁, v₂  | sketches and edge maps of a batch                           |
| D_w             | Manhattan distance of embeddings                            |
| C_p, C_n        | ``near``, ``far``                                           |
| ℓ               | D² / C_p if of one category, else C_n exp(−2.77 D / C_n)    |
| L               | ℓ(s₁, s₂) + ℓ(v₁, v₂) + ℓ(s₁, v₁)                           |

Where we differ: edge maps of photos replace rendered views of 3D models, as in the comparison of Deep Sketch Hashing.
That comparison used the authors' weights, without training on its data; these are not available, so the network is
trained here, which favours it, after pre-training on categories, see `training`. Embeddings have unit length: 64
numbers are then about as far apart as C_n expects. Every pair of a batch is used.
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
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported, Views

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from sketchhash.baselines.deep.networks import Branches

SIDE = 100
"""The side of the pictures that the network was designed for."""


@dataclass(eq=False)
class Shape3D(LineMethod):
    """Trains two networks whose embeddings agree on categories, within each view and across."""

    _: KW_ONLY
    naming_epochs: int = 4
    epochs: int = 12
    near: float = 0.2
    far: float = 10.0

    @property
    def ink_side(self) -> int:
        """The side that the network was designed for."""
        return SIDE

    def build(self) -> Branches:
        """Build a network for each view."""
        from torch import nn

        from sketchhash.baselines.deep.networks import Branches, UnitLength, shape_net

        photos, sketches = (nn.Sequential(shape_net(self.size), UnitLength()) for _ in range(2))
        return Branches(photos, sketches)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Pre-train on categories, then minimise the three losses of all pairs."""
        from sketchhash.baselines.deep.training import TrainingLoop, pretrain_on_categories

        loader = self.loader(views, generator)
        pretrain_on_categories(network, loader, self.size, self.naming_epochs)

        def loss() -> Tensor:
            edges, ink, labels = loader.draw()
            photos, sketches = network(edges, ink)
            return self.loss(photos, sketches, labels)

        return TrainingLoop(self.epochs).run(network, loader.sampler.batches_per_epoch, loss)

    def loss(self, photos: Tensor, sketches: Tensor, labels: Tensor) -> Tensor:
        """Compute L of embeddings, each ``(n, size)``, over all pairs of a batch."""
        import torch

        from sketchhash.baselines.deep.training import exponential, same_category

        same = same_category(labels)
        rows, columns = torch.triu_indices(len(labels), len(labels), offset=1)  # in the order of torch.pdist
        within = [
            exponential(torch.pdist(view, p=1), same[rows, columns], self.near, self.far) for view in (sketches, photos)
        ]
        return within[0] + within[1] + exponential(torch.cdist(sketches, photos, p=1), same, self.near, self.far)


CARD = Card(
    name="3d-shape",
    title="3D shape",
    kind=Kind.DEEP,
    paper="Wang, Kang, Li. Sketch-Based 3D Shape Retrieval Using Convolutional Neural Networks. CVPR",
    year=2015,
    sees=Input.PICTURES,
    distance=Distance.MANHATTAN,
    method=Shape3D,
    choices=(
        "The paper used the authors' weights without training; these are not available. " + FROM_SCRATCH,
        "Edge maps of photos replace rendered views.",
        "C_p is 0.2 and C_n 10, as published, on unit vectors; ranked by the Manhattan distance of the loss.",
        ALL_PAIRS,
        EDGES,
        pretrained_on_categories(epochs=4),
        NORMALISED,
        AUGMENTED,
        f"Reduced: 12 more epochs. {OPTIMISER}",
    ),
    tuberlin=Reported.at(64, 0.054, 0.072),
    sketchy=Reported.at(64, 0.084, 0.079),
    sizes=(64,),
    differs="The paper has the authors' weights, without training; here the network learns from these data, which "
    "favours it, from random weights and for 16 epochs.",
)
