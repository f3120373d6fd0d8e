"""Training of the deep methods: batches, losses, the loop, and pre-training on categories.

Supervision is semantic, as in the paper: two pictures match when their categories are equal. Instead of drawing pairs
one by one, a batch has some categories, and some pictures of each from either view; then *every* pair of the batch is
used. A picture passes through the network once for all the pairs that it is part of.

Losses take embeddings ``(n, size)``. Matching and other pairs weigh half each, however many there are, as if they were
drawn evenly.

References:
    Hadsell, Chopra, LeCun. Dimensionality Reduction by Learning an Invariant Mapping. CVPR 2006 (contrastive).
    Chopra, Hadsell, LeCun. Learning a Similarity Metric Discriminatively. CVPR 2005 (exponential).
    Schroff, Kalenichenko, Philbin. FaceNet. CVPR 2015 (triplets, as a hinge on squared distances).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn import functional

from sketchhash.baselines.deep.networks import Branches
from sketchhash.baselines.deep.pictures import augment
from sketchhash.baselines.method import Views
from sketchhash.devices import device, on_device
from sketchhash.errors import BadArgument, TrainingDiverged

_CATEGORIES = 16  # in a batch
_EACH = 4  # photos and sketches of each
_WARM_UP = 0.1  # of all steps
_LOGIT_SCALE = 10.0  # class scores of unit vectors would otherwise be too similar


class Batch(NamedTuple):
    """Rows of photos and of sketches, which at each place have the category in ``labels``; each ``(n,)``."""

    photos: Tensor
    sketches: Tensor
    labels: Tensor


@dataclass(frozen=True, eq=False)
class CategorySampler:
    """Draws batches from the categories that both views have; ``labels`` count these from 0.

    Categories are drawn evenly and their pictures with replacement, so large categories are not seen more often.
    """

    photos: list[Tensor]
    sketches: list[Tensor]

    @classmethod
    def of(cls, views: Views) -> CategorySampler:
        """Group the rows of both views by category."""
        shared = np.intersect1d(views.photo_labels, views.sketch_labels)
        if len(shared) < 2:
            raise BadArgument(f"Learning what differs takes two categories that both views show; got {len(shared)}.")
        return cls(_rows(views.photo_labels, shared), _rows(views.sketch_labels, shared))

    @property
    def batches_per_epoch(self) -> int:
        """The number of batches with as many pictures as the larger view has."""
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


class Source(Protocol):
    """The pictures of one view, or a frozen network's features of them."""

    def draw(self, rows: Tensor, generator: Generator) -> Tensor:
        """Return these rows, varied at random."""
        ...


@dataclass(frozen=True, eq=False)
class AugmentedPixels:
    """Pixels ``(n, channels, side, side)``, augmented anew at each draw."""

    pixels: Tensor

    def draw(self, rows: Tensor, generator: Generator) -> Tensor:
        """Return pixels from 0 to 255."""
        return augment(on_device(self.pixels[rows]), generator)


@dataclass(frozen=True, eq=False)
class CachedFeatures:
    """A frozen network's features of some variants of each picture: ``(variants, n, features)``."""

    features: Tensor

    def draw(self, rows: Tensor, generator: Generator) -> Tensor:
        """Return a random variant of each row."""
        variants = torch.randint(len(self.features), (len(rows),), generator=generator)
        return on_device(self.features[variants, rows]).float()


@dataclass(frozen=True, eq=False)
class Loader:
    """Draws batches of both views with the same categories."""

    photos: Source
    sketches: Source
    sampler: CategorySampler
    generator: Generator

    def draw(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return photos, sketches and the labels of both, on the device."""
        batch = self.sampler.draw(self.generator)
        return (
            self.photos.draw(batch.photos, self.generator),
            self.sketches.draw(batch.sketches, self.generator),
            on_device(batch.labels),
        )


def same_category(labels: Tensor) -> Tensor:
    """Return which pairs match: ``(n, n)``."""
    return labels[:, None] == labels[None, :]


def triplets(labels: Tensor) -> Tensor:
    """List every triplet: ``(triplets, 3)``, indices of a picture, one of its category and one of another."""
    same = same_category(labels)
    return (same[:, :, None] & ~same[:, None, :]).nonzero()


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


@dataclass(frozen=True)
class TrainingLoop:
    """Steps of AdamW whose learning rate warms up, then falls along a cosine to zero."""

    epochs: int
    learning_rate: float = 1e-3
    weight_decay: float = 0.02

    def run(self, module: nn.Module, steps_per_epoch: int, loss: Callable[[], Tensor]) -> list[float]:
        """Minimise ``loss``, which draws a batch at each call, on the device; return its value at each step.

        Raises:
            TrainingDiverged: If a value is not finite; the module stays as the step before left it.
        """
        module.to(device())
        optimiser = torch.optim.AdamW(module.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay)
        module.train()
        steps = self.epochs * steps_per_epoch
        values = []
        for step in range(steps):
            for group in optimiser.param_groups:
                group["lr"] = self.learning_rate * _schedule((step + 0.5) / steps)
            value = loss()
            if not value.isfinite():
                raise TrainingDiverged(
                    f"The loss became {float(value.detach())} in epoch {step // steps_per_epoch + 1} of {self.epochs}, "
                    f"step {step % steps_per_epoch + 1} of {steps_per_epoch}, at a learning rate of at most "
                    f"{self.learning_rate:g}. Look for inputs that are not numbers, or change the method's settings."
                )
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            values.append(float(value.detach()))
        module.eval()
        return values


def pretrain_on_categories(
    network: Branches, loader: Loader, size: int, epochs: int, learning_rate: float = TrainingLoop.learning_rate
) -> None:
    """Train both views to classify the categories from their embeddings ``(n, size)``.

    Contrastive losses have a plateau: where all pairs are equally far apart, the pull on matching pairs and the push on
    the others cancel, and the loss is a quarter of the squared margin. Networks with random weights get stuck there.
    The originals start from trained weights; ours first learn the categories, with one classifier for both views that
    is discarded afterwards.
    """
    classifier = nn.Linear(size, len(loader.sampler.photos))

    def loss() -> Tensor:
        photos, sketches, labels = loader.draw()
        directions = functional.normalize(torch.cat(network(photos, sketches)))
        return functional.cross_entropy(classifier(_LOGIT_SCALE * directions), labels.repeat(2))

    loop = TrainingLoop(epochs, learning_rate)
    loop.run(nn.ModuleList([network, classifier]), loader.sampler.batches_per_epoch, loss)


@contextmanager
def seeded(seed: int) -> Iterator[Generator]:
    """Seed torch's global generator, which draws weights and dropout, and yield another one for the rest.

    The global generator's state is restored afterwards.
    """
    where = device()
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        torch.manual_seed(seed)
        yield Generator().manual_seed(seed)


def _schedule(done: float) -> float:
    return min(1.0, done / _WARM_UP) * (1 + math.cos(math.pi * done)) / 2


def _rows(labels: NDArray[np.int64], categories: NDArray[np.int64]) -> list[Tensor]:
    return [torch.from_numpy(np.flatnonzero(labels == category)) for category in categories]
