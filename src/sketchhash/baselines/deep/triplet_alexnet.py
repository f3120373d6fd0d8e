"""Triplet-AlexNet (Liu et al., CVPR 2017): AlexNets under a triplet ranking loss.

    L = max(0, Δ + ‖s − p⁺‖² − ‖s − p⁻‖²),   distances between fc7 of unit length

A baseline that the authors of Deep Sketch Hashing made themselves; of its triplets section 4.1 says that they are
semantic, and no more.

Where we differ: the convolutions stay as ImageNet left them, and fc6 and fc7 are trained from random weights, see
`alexnet`; fc6 is narrower. Every triplet of a batch is used, see `batches`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from torch import Tensor, nn

from sketchhash.baselines.deep.alexnet import AlexNet, AlexNetMethod, convolutions, fully_connected
from sketchhash.baselines.deep.losses import triplet_hinge
from sketchhash.baselines.deep.network_method import Branches, UnitLength
from sketchhash.baselines.deep.training import Descent, Lesson


@dataclass(eq=False)
class TripletAlexNet(AlexNetMethod):
    """Bring sketches nearer to photos of their category than to others, by ``margin``."""

    _: KW_ONLY
    epochs: int = 20
    margin: float = 0.3

    def build(self) -> Branches:
        """Make a head for either view, on the same convolutions."""
        trunk = convolutions()
        heads = (nn.Sequential(*fully_connected(self.pool5, self.hidden, self.size), UnitLength()) for _ in range(2))
        return Branches(*(AlexNet(trunk, head) for head in heads))

    def learn_heads(self, heads: Branches, lesson: Lesson) -> list[float]:
        """Descend on the ranking loss of all triplets."""

        def loss() -> Tensor:
            photo_pool5, sketch_pool5, labels = lesson.draw()
            photos, sketches = heads(photo_pool5, sketch_pool5)
            return triplet_hinge(sketches, photos, labels, self.margin)

        return Descent(self.epochs).run(heads, lesson.batches.an_epoch, loss)
