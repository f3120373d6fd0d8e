"""Contrastive hashing: values of one category together, those of others a margin apart.

Hadsell, Chopra, LeCun. Dimensionality reduction by learning an invariant mapping. CVPR 2006.

    L = d² for a sketch and a photo of one category, max(0, μ − d)² for others,   d between unit vectors

Matching and other pairs weigh half each. As in `triplet_hashing`, values are pulled to -1 and 1.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from sketchhash.baselines.deep.network_method import ALL_PAIRS, OPTIMISER
from sketchhash.baselines.later.feature_heads import ON_FEATURES, FeatureHeads
from sketchhash.baselines.later.triplet_hashing import away_from_codes
from sketchhash.baselines.method import Card, Distance, Input, Kind, Views

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sketchhash.baselines.deep.training import Batch
    from sketchhash.baselines.later.feature_heads import Loss


@dataclass(eq=False)
class ContrastiveHashing(FeatureHeads):
    """Learns from every pair of a batch; ``margin`` is a distance between unit vectors."""

    _: KW_ONLY
    margin: float = 1.0
    binariness: float = 0.1

    def lesson(self, views: Views) -> tuple[nn.Module, Loss]:
        """Return the contrastive loss of all pairs, and how far values are from codes."""
        import torch
        from torch import nn
        from torch.nn import functional

        from sketchhash.baselines.deep.training import contrastive, same_category

        def loss(photos: Tensor, sketches: Tensor, batch: Batch) -> Tensor:
            cosines = functional.normalize(sketches) @ functional.normalize(photos).T
            # The root has no slope at 0: two equal values stay a hair apart.
            distances = torch.sqrt((2 - 2 * cosines).clamp(min=1e-8))
            away = (away_from_codes(photos) + away_from_codes(sketches)) / 2
            return contrastive(distances, same_category(batch.labels), self.margin) + self.binariness * away

        return nn.Identity(), loss


CARD = Card(
    name="contrastive-hashing",
    title="Contrastive hashing",
    kind=Kind.HASHING,
    paper="Hadsell, Chopra, LeCun. Dimensionality reduction by learning an invariant mapping. CVPR",
    year=2006,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=ContrastiveHashing,
    choices=(
        "Not in the paper: the contrastive loss, for codes.",
        ON_FEATURES,
        ALL_PAIRS,
        "Margin 1 between unit vectors; a tenth of the mean of (1 - |v|)² is added.",
        f"10 epochs. {OPTIMISER}",
    ),
)
