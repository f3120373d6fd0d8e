"""The training loop: steps of AdamW whose rate warms up, then falls along a cosine to nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Generator, Tensor, nn

from sketchhash.baselines.deep.augment import jostle
from sketchhash.baselines.deep.batches import Batch, CategoryBatches

_WARM_UP = 0.1  # of all steps


@dataclass(frozen=True)
class Descent:
    """How long, how fast, and how much weights are pulled towards zero."""

    epochs: int
    learning_rate: float = 1e-3
    weight_decay: float = 0.02

    def run(self, module: nn.Module, steps_an_epoch: int, loss: Callable[[], Tensor]) -> list[float]:
        """Descend on what ``loss`` draws at each call, and give its value at each step."""
        optimiser = torch.optim.AdamW(module.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay)
        module.train()
        steps = self.epochs * steps_an_epoch
        values = []
        for step in range(steps):
            for group in optimiser.param_groups:
                group["lr"] = self.learning_rate * _pace((step + 0.5) / steps)
            value = loss()
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            values.append(float(value.detach()))
        module.eval()
        return values


class Source(Protocol):
    """Pictures of one view, or what a frozen network made of them."""

    def draw(self, rows: Tensor, generator: Generator) -> Tensor:
        """Give these rows, varied at random."""
        ...


@dataclass(frozen=True, eq=False)
class Jostled:
    """Pixels ``(n, channels, side, side)``, jostled anew at each draw."""

    pixels: Tensor

    def draw(self, rows: Tensor, generator: Generator) -> Tensor:
        """Give pixels from 0 to 255."""
        return jostle(self.pixels[rows], generator)


@dataclass(frozen=True, eq=False)
class Kept:
    """What a frozen network made of some views of each picture: ``(views, n, features)``."""

    features: Tensor

    def draw(self, rows: Tensor, generator: Generator) -> Tensor:
        """Give each row as one of its views."""
        return self.features[torch.randint(len(self.features), (len(rows),), generator=generator), rows].float()


@dataclass(frozen=True, eq=False)
class Lesson:
    """Both views, ready to be drawn in batches that show the same categories."""

    photos: Source
    sketches: Source
    batches: CategoryBatches
    generator: Generator

    def draw(self) -> tuple[Tensor, Tensor, Tensor]:
        """Give photos, sketches and the labels of both."""
        batch: Batch = self.batches.draw(self.generator)
        return (
            self.photos.draw(batch.photos, self.generator),
            self.sketches.draw(batch.sketches, self.generator),
            batch.labels,
        )


@contextmanager
def seeded(seed: int) -> Iterator[Generator]:
    """Seed torch's own generator, from which weights and dropout are drawn, and give another for the rest.

    Afterwards torch's own generator is as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield Generator().manual_seed(seed)


def _pace(done: float) -> float:
    return min(1.0, done / _WARM_UP) * (1 + math.cos(math.pi * done)) / 2
