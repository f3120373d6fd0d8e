"""Triplet hashing: values of a sketch nearer to photos of its category than to others.

Schroff, Kalenichenko, Philbin. FaceNet. CVPR 2015 (the hinge on squared distances).

    L = max(0, Δ + ‖s − p⁺‖² − ‖s − p⁻‖²) / triplets + w (1 − |v|)² / values,   s, p of unit length

Here the values are signed for codes, and ``w`` pulls them to -1 and 1.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from sketchhash.baselines.deep.network_method import ALL_TRIPLETS, OPTIMISER
from sketchhash.baselines.later.feature_heads import ON_FEATURES, FeatureHeads
from sketchhash.baselines.method import Card, Distance, Input, Kind, Views

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sketchhash.baselines.deep.training import Batch
    from sketchhash.baselines.later.feature_heads import Loss


@dataclass(eq=False)
class TripletHashing(FeatureHeads):
    """Learns from every triplet of a batch, by ``margin`` of squared distances between unit vectors."""

    _: KW_ONLY
    margin: float = 0.3
    binariness: float = 0.1

    def lesson(self, views: Views) -> tuple[nn.Module, Loss]:
        """Return the hinge of all triplets, and how far values are from codes."""
        from torch import nn
        from torch.nn import functional

        from sketchhash.baselines.deep.training import triplet_hinge

        def loss(photos: Tensor, sketches: Tensor, batch: Batch) -> Tensor:
            units = functional.normalize(sketches), functional.normalize(photos)
            away = (away_from_codes(photos) + away_from_codes(sketches)) / 2
            return triplet_hinge(*units, batch.labels, self.margin) + self.binariness * away

        return nn.Identity(), loss


CARD = Card(
    name="triplet-hashing",
    title="Triplet hashing",
    kind=Kind.HASHING,
    paper="Schroff, Kalenichenko, Philbin. FaceNet: a unified embedding for face recognition and clustering. CVPR",
    year=2015,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=TripletHashing,
    choices=(
        "Not in the paper: its triplet loss, for codes.",
        ON_FEATURES,
        ALL_TRIPLETS,
        "Margin 0.3; a tenth of the mean of (1 - |v|)² is added.",
        f"10 epochs. {OPTIMISER}",
    ),
)


def away_from_codes(values: Tensor) -> Tensor:
    """Return the mean of (1 − |v|)²."""
    return (1 - values.abs()).square().mean()
