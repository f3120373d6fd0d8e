"""*3D shape* (Wang, Kang and Li, CVPR 2015): one network for sketches and one for line drawings of what is searched.

| symbol          | here                                                        |
|-----------------|-------------------------------------------------------------|
| s₁, s₂, v₁, v₂  | sketches and edge maps of a batch                           |
| D_w             | Manhattan distance of embeddings                            |
| C_p, C_n        | ``near``, ``far``                                           |
| ℓ               | D² / C_p if of one category, else C_n exp(−2.77 D / C_n)    |
| L               | ℓ(s₁, s₂) + ℓ(v₁, v₂) + ℓ(s₁, v₁)                           |

Where we differ: in place of rendered views of 3D models there are edge maps of photos, as in the comparison of Deep
Sketch Hashing. That comparison took the authors' weights, untrained for its data; these cannot be had, so the network
is trained here, which favours it, after learning names, see `naming`. Embeddings have unit length: 64 numbers are then
about as far apart as C_n expects. Every pair of a batch is used, see `batches`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Generator, Tensor, nn

from sketchhash.baselines.deep.batches import same_category
from sketchhash.baselines.deep.line_method import LineMethod
from sketchhash.baselines.deep.losses import exponential
from sketchhash.baselines.deep.naming import learn_names
from sketchhash.baselines.deep.network_method import Branches, UnitLength
from sketchhash.baselines.deep.shape_net import SIDE, shape_net
from sketchhash.baselines.deep.training import Descent
from sketchhash.baselines.views import Views


@dataclass(eq=False)
class Shape3D(LineMethod):
    """Two networks whose embeddings agree on categories, within each view and across."""

    _: KW_ONLY
    naming_epochs: int = 4
    epochs: int = 12
    near: float = 0.2
    far: float = 10.0

    @property
    def ink_side(self) -> int:
        """The side that the network was laid out for."""
        return SIDE

    def build(self) -> Branches:
        """Make a network for either view."""
        photos, sketches = (nn.Sequential(shape_net(self.size), UnitLength()) for _ in range(2))
        return Branches(photos, sketches)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Learn names, then descend on the three losses of all pairs."""
        lesson = self.lesson(views, generator)
        learn_names(network, lesson, self.size, self.naming_epochs)

        def loss() -> Tensor:
            edges, ink, labels = lesson.draw()
            photos, sketches = network(edges, ink)
            return self.loss(photos, sketches, labels)

        return Descent(self.epochs).run(network, lesson.batches.an_epoch, loss)

    def loss(self, photos: Tensor, sketches: Tensor, labels: Tensor) -> Tensor:
        """Compute L of embeddings, each ``(n, size)``, over all pairs of a batch."""
        same = same_category(labels)
        within = [
            exponential(torch.pdist(view, p=1), same[_above_diagonal(labels)], self.near, self.far)
            for view in (sketches, photos)
        ]
        return within[0] + within[1] + exponential(torch.cdist(sketches, photos, p=1), same, self.near, self.far)


def _above_diagonal(labels: Tensor) -> tuple[Tensor, Tensor]:
    """Index each pair within a view once, in the order of `torch.pdist`."""
    rows, columns = torch.triu_indices(len(labels), len(labels), offset=1)
    return rows, columns
