"""Semantic-aware knowledge preservation, as layers on features.

Liu, Xie, Wang, Yuille. Semantic-aware knowledge preservation for zero-shot sketch-based image retrieval. ICCV 2019.

    L = CE(category | values) + w CE(what a classifier taught before says | values)

Both terms have a linear layer of their own above the values, shared by photos and sketches. What ImageNet's classifier
says of a photo is its target; a sketch takes the mean of the photos of its category. So values keep what tells things
apart that are not in the training data.

Where we differ: the original teaches a whole network and weighs the classifier's chances by WordNet's distances for
sketches; here only the layers behind given features learn, and the mean over photos stands for that. Without a
classifier (`Views.photo_classes`) only the first term is left.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from sketchhash.baselines.deep.network_method import OPTIMISER
from sketchhash.baselines.later.feature_heads import BATCHES, ON_FEATURES, FeatureHeads
from sketchhash.baselines.later.triplet_hashing import away_from_codes
from sketchhash.baselines.method import Card, Distance, Input, Kind, Views
from sketchhash.errors import BadArgument

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sketchhash.baselines.deep.training import Batch
    from sketchhash.baselines.later.feature_heads import Loss


@dataclass(eq=False)
class KnowledgePreservation(FeatureHeads):
    """Learns to name categories, and what a classifier says of photos, from the values of both views."""

    _: KW_ONLY
    knowledge: float = 0.3
    binariness: float = 0.1

    def lesson(self, views: Views) -> tuple[nn.Module, Loss]:
        """Return both linear layers, and their cross entropies with how far values are from codes."""
        import torch
        from torch import nn
        from torch.nn import functional

        from sketchhash.devices import on_device

        shared = np.intersect1d(views.photo_labels, views.sketch_labels)
        categories, said = nn.Linear(self.size, len(shared)), views.photo_classes

        def naming(photos: Tensor, sketches: Tensor, batch: Batch) -> Tensor:
            values = torch.cat([photos, sketches])
            away = self.binariness * away_from_codes(values)
            return functional.cross_entropy(categories(values), batch.labels.repeat(2)) + away

        if said is None:
            return categories, naming
        if len(said) != len(views.photo_labels):
            raise BadArgument(f"There are {len(said)} opinions of {len(views.photo_labels)} photos.")
        classes = nn.Linear(self.size, said.shape[1])
        means = np.stack([said[views.photo_labels == label].mean(axis=0) for label in shared])
        of_photos, of_categories = (
            on_device(torch.from_numpy(np.asarray(some, dtype=np.float32))) for some in (said, means)
        )

        def loss(photos: Tensor, sketches: Tensor, batch: Batch) -> Tensor:
            targets = torch.cat([of_photos[batch.photos], of_categories[batch.labels]])
            scores = classes(torch.cat([photos, sketches]))
            return naming(photos, sketches, batch) + self.knowledge * functional.cross_entropy(scores, targets)

        return nn.ModuleList([categories, classes]), loss


CARD = Card(
    name="sake",
    title="SAKE-style",
    kind=Kind.HASHING,
    paper="Liu, Xie, Wang, Yuille. Semantic-aware knowledge preservation for zero-shot sketch-based image retrieval. "
    "ICCV",
    year=2019,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=KnowledgePreservation,
    choices=(
        "After the paper; made for zero-shot retrieval.",
        ON_FEATURES,
        BATCHES,
        "ImageNet's classifier is followed by weight 0.3, for sketches as the mean of their category's photos.",
        f"10 epochs. {OPTIMISER}",
    ),
)
