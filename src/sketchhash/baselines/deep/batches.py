"""Batches in which both views show the same categories, and the pairs and triplets inside them.

Supervision is semantic, as in the paper: two pictures belong together when their categories are equal. Instead of
drawing pairs one by one, some categories are drawn, and some pictures of each from either view; then *every* pair
of the batch is used. A picture crosses the network once for all the pairs that it is part of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from sketchhash.baselines.views import Views
from sketchhash.errors import BadArgument

_CATEGORIES = 16
_EACH = 4


class Batch(NamedTuple):
    """Rows of photos and of sketches; both rows at one place have the category in ``labels`` there, each ``(n,)``."""

    photos: Tensor
    sketches: Tensor
    labels: Tensor


@dataclass(frozen=True, eq=False)
class CategoryBatches:
    """Draws batches from the categories that both views show; ``labels`` count these from 0.

    Categories are drawn evenly, and their pictures with replacement: a large category is not seen more often.
    """

    photos: list[Tensor]
    sketches: list[Tensor]

    @classmethod
    def of(cls, views: Views) -> CategoryBatches:
        """Sort the rows of both views by category."""
        shared = np.intersect1d(views.photo_labels, views.sketch_labels)
        if len(shared) < 2:
            raise BadArgument(f"Learning what differs takes two categories that both views show; got {len(shared)}.")
        return cls(_rows(views.photo_labels, shared), _rows(views.sketch_labels, shared))

    @property
    def an_epoch(self) -> int:
        """How many batches show as many pictures as the larger view has."""
        batch = min(_CATEGORIES, len(self.photos)) * _EACH
        return max(1, max(sum(map(len, self.photos)), sum(map(len, self.sketches))) // batch)

    def draw(self, generator: Generator) -> Batch:
        """Draw 4 photos and 4 sketches of each of 16 categories, or of all when there are fewer."""
        chosen = torch.randperm(len(self.photos), generator=generator)[:_CATEGORIES]
        photos, sketches = (
            torch.cat([rows[label][torch.randint(len(rows[label]), (_EACH,), generator=generator)] for label in chosen])
            for rows in (self.photos, self.sketches)
        )
        return Batch(photos, sketches, chosen.repeat_interleave(_EACH))


def same_category(labels: Tensor) -> Tensor:
    """Tell which pairs belong together: ``(n, n)``."""
    return labels[:, None] == labels[None, :]


def triplets(labels: Tensor) -> Tensor:
    """List every triplet: ``(triplets, 3)``, places of one picture, one of its category and one of another."""
    same = same_category(labels)
    return (same[:, :, None] & ~same[:, None, :]).nonzero()


def _rows(labels: NDArray[np.int64], categories: NDArray[np.int64]) -> list[Tensor]:
    return [torch.from_numpy(np.flatnonzero(labels == category)) for category in categories]
