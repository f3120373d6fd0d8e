"""Losses on pairs and triplets of embeddings, each ``(n, size)``; see `batches` for what belongs together.

Same and different pairs weigh half each, however many there are: the expectation of drawing them evenly.

References:
    Hadsell, Chopra, LeCun. Dimensionality Reduction by Learning an Invariant Mapping. CVPR 2006 (contrastive).
    Chopra, Hadsell, LeCun. Learning a Similarity Metric Discriminatively. CVPR 2005 (exponential).
    Schroff, Kalenichenko, Philbin. FaceNet. CVPR 2015 (triplets, as a hinge on squared distances).
"""

from __future__ import annotations

import torch
from torch import Tensor

from sketchhash.baselines.deep.batches import triplets


def contrastive(distances: Tensor, same: Tensor, margin: float) -> Tensor:
    """Average d² where ``same``, and max(0, margin − d)² elsewhere."""
    return balanced(torch.where(same, distances**2, (margin - distances).clamp(min=0) ** 2), same)


def exponential(distances: Tensor, same: Tensor, near: float, far: float) -> Tensor:
    """Average d² / near where ``same``, and far · exp(−2.77 d / far) elsewhere, of Manhattan distances."""
    return balanced(torch.where(same, distances**2 / near, far * torch.exp(-2.77 * distances / far)), same)


def triplet_hinge(sketches: Tensor, photos: Tensor, labels: Tensor, margin: float) -> Tensor:
    """Average max(0, margin + ‖s − p⁺‖² − ‖s − p⁻‖²) over all triplets of a batch."""
    squared = torch.cdist(sketches, photos) ** 2
    sketch, positive, negative = triplets(labels).T
    return (margin + squared[sketch, positive] - squared[sketch, negative]).clamp(min=0).mean()


def balanced(values: Tensor, same: Tensor) -> Tensor:
    """Average the mean over ``same`` pairs and the mean over the others."""
    return (values[same].mean() + values[~same].mean()) / 2
