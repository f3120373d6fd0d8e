"""Triplet heads: two layers a view on features that others extracted, under the triplet ranking loss.

    L = max(0, Δ + ‖s − p⁺‖² − ‖s − p⁻‖²),   distances between embeddings of unit length

Not a method of the paper: it tells what the triplet loss makes of the trunks that Deep Sketch Hashing freezes, where
`triplet_alexnet` has eyes of its own.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import torch
from torch import Generator, Tensor, nn

from sketchhash.baselines.deep.batches import CategoryBatches
from sketchhash.baselines.deep.losses import triplet_hinge
from sketchhash.baselines.deep.network_method import Branches, NetworkMethod, UnitLength
from sketchhash.baselines.deep.training import Descent, Kept, Lesson
from sketchhash.baselines.views import Given, Views

_DROPOUT = 0.2


@dataclass(eq=False)
class TripletHeads(NetworkMethod):
    """Brings features of sketches nearer to those of photos of their category than to others, by ``margin``.

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

    def read_photos(self, photos: Given) -> Tensor:
        """Take features as they are."""
        return torch.from_numpy(np.asarray(photos, dtype=np.float32))

    def read_sketches(self, sketches: Given) -> Tensor:
        """Take features as they are."""
        return torch.from_numpy(np.asarray(sketches, dtype=np.float32))

    def build(self) -> Branches:
        """Make a head for either view; features are first brought to one scale."""
        return Branches(*(self._head(inputs) for inputs in (self.photo_features, self.sketch_features)))

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Descend on the ranking loss of all triplets of a batch."""
        photos, sketches = self.read_photos(views.photos), self.read_sketches(views.sketches)
        lesson = Lesson(Kept(photos[None]), Kept(sketches[None]), CategoryBatches.of(views), generator)

        def loss() -> Tensor:
            photo_features, sketch_features, labels = lesson.draw()
            embedded_photos, embedded_sketches = network(photo_features, sketch_features)
            return triplet_hinge(embedded_sketches, embedded_photos, labels, self.margin)

        return Descent(self.epochs).run(network, lesson.batches.an_epoch, loss)

    def _head(self, inputs: int) -> nn.Sequential:
        return nn.Sequential(
            nn.BatchNorm1d(inputs, affine=False),
            nn.Dropout(_DROPOUT),
            nn.Linear(inputs, self.hidden),
            nn.ReLU(inplace=True),
            nn.Dropout(_DROPOUT),
            nn.Linear(self.hidden, self.size),
            UnitLength(),
        )
