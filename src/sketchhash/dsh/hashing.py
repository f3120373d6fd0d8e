"""Algorithm 1: learn codes and networks in turn.

| paper    | here                                       | equation    |
|----------|--------------------------------------------|-------------|
| D        | `solve_basis`                              | 6           |
| B^I, B^S | `update_codes`                             | 11          |
| Θ1, Θ2   | `_Loss`, minimised by `Descent`            | 12          |
| F1, F2   | `TrainingSet.values`                       | 3           |
| T        | ``steps.epochs``                           | Algorithm 1 |

Where we differ: an epoch may take D, B^I and B^S several times in turn (``rounds``) before the networks move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from sketchhash.dsh.descent import Descent, seeded_epoch, shuffled
from sketchhash.dsh.discrete import random_codes, solve_basis, update_codes
from sketchhash.dsh.networks import HashNetwork
from sketchhash.dsh.objective import Problem, Samples, Terms, objective
from sketchhash.dsh.processes import Processes, device
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Steps
from sketchhash.dsh.sources import Features, Source

_STAGE = "hashing"
_ENCODE_BATCH = 256


@dataclass(frozen=True)
class TrainingSet:
    """Photos, their tokens and sketches as sources, with labels ``(n,)``: O₁ and O₂ of the paper."""

    photos: Source
    tokens: Source
    photo_labels: NDArray[np.int64]
    sketches: Source
    sketch_labels: NDArray[np.int64]

    def values(
        self, network: HashNetwork, photo_rows: Tensor, sketch_rows: Tensor, generator: Generator | None
    ) -> tuple[Tensor, Tensor]:
        """Compute F₁ and F₂ of some rows, augmented when a ``generator`` is given."""
        where = device()
        photos = self.photos.batch(photo_rows, generator).to(where)
        tokens = self.tokens.batch(photo_rows, generator).to(where)
        sketches = self.sketches.batch(sketch_rows, generator).to(where)
        if isinstance(self.sketches, Features):
            return network.photo_values(photos, tokens), network.sketch_values(sketches)
        photo_values, sketch_values = network(photos, tokens, sketches)
        return photo_values, sketch_values


@dataclass(frozen=True)
class Epoch:
    """What an epoch, counted from 1, came to."""

    number: int
    terms: Terms
    loss: float


class Hashing:
    """The alternation D → B^I → B^S → Θ, an epoch at a time."""

    def __init__(
        self,
        network: HashNetwork,
        training_set: TrainingSet,
        problem: Problem,
        steps: Steps,
        rounds: int,
        seed: int,
        processes: Processes,
    ) -> None:
        """Start from random codes (line 1 of Algorithm 1)."""
        self.network = network.to(device())
        self.training_set, self.problem, self.steps = training_set, problem, steps
        self.rounds, self.seed, self.processes = rounds, seed, processes
        rng = np.random.default_rng(seed)
        self.photo_codes = random_codes(len(training_set.photo_labels), network.spec.bits, rng)
        self.sketch_codes = random_codes(len(training_set.sketch_labels), network.spec.bits, rng)
        self.loss = processes.wrap(_Loss(network, training_set))
        self.descent = Descent(self.loss, steps)

    def epochs(self, first: int, progress: Progress) -> Iterator[Epoch]:
        """Run from epoch ``first`` (counted from 0) to the last."""
        for number in range(first, self.steps.epochs):
            terms = self._update_codes()
            loss = self._update_networks(number, progress)
            progress.report({"stage": _STAGE, "epoch": number + 1, "loss": loss, **asdict(terms)})
            yield Epoch(number + 1, terms, loss)

    def _update_codes(self) -> Terms:
        """Take the D, B^I and B^S steps with the networks' present values, and evaluate J."""
        photo_values, sketch_values = self._all_values()
        photos = Samples(self.training_set.photo_labels, self.photo_codes, photo_values)
        sketches = Samples(self.training_set.sketch_labels, self.sketch_codes, sketch_values)
        for _ in range(self.rounds):
            basis = solve_basis(self.problem, photos, sketches)
            photos = update_codes(self.problem, photos, sketches, basis)
            sketches = update_codes(self.problem, sketches, photos, basis)
        self.photo_codes, self.sketch_codes = photos.codes, sketches.codes
        return objective(self.problem, photos, sketches, solve_basis(self.problem, photos, sketches))

    def _update_networks(self, number: int, progress: Progress) -> float:
        """Take the Θ step: one pass over all photos and all sketches with the Euclidean loss."""
        self.network.train()
        photo_codes, sketch_codes = (torch.from_numpy(codes).float() for codes in (self.photo_codes, self.sketch_codes))
        photos, sketches, count = len(photo_codes), len(sketch_codes), self._batches(self.steps.batch)
        with seeded_epoch(self.seed, _STAGE, number, self.processes) as generator:
            batches = list(zip(shuffled(photos, count, generator), shuffled(sketches, count, generator), strict=True))
            own = self.processes.own(generator)

            def loss(batch: tuple[Tensor, Tensor]) -> Tensor:
                rows = tuple(self.processes.share(part) for part in batch)
                value: Tensor = self.loss(*rows, photo_codes[rows[0]], sketch_codes[rows[1]], own)
                # Torch averages over the processes: so together they give the loss of the whole batch.
                return value * self.processes.count / (2 * sum(len(part) for part in batch))

            stage = f"{_STAGE}, epoch {number + 1} of {self.steps.epochs}"
            with progress.stage(stage, count) as advance:
                mean = self.descent.epoch(number, batches, loss, advance)
        self.processes.align(self.network)
        return self.processes.mean(mean)

    def _all_values(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute F₁ and F₂ of the whole training set, each process a share."""
        self.network.eval()
        photos, sketches, count = len(self.photo_codes), len(self.sketch_codes), self._batches(_ENCODE_BATCH)
        photo_values, sketch_values = (
            torch.zeros(rows, self.network.spec.bits, device=device()) for rows in (photos, sketches)
        )
        parts = zip(torch.arange(photos).tensor_split(count), torch.arange(sketches).tensor_split(count), strict=True)
        with torch.inference_mode():
            for part in parts:
                photo_rows, sketch_rows = (self.processes.share(rows) for rows in part)
                photo_values[photo_rows], sketch_values[sketch_rows] = self.training_set.values(
                    self.network, photo_rows, sketch_rows, None
                )
        return (
            self.processes.joined(photo_values).cpu().numpy(),
            self.processes.joined(sketch_values).cpu().numpy(),
        )

    def _batches(self, size: int) -> int:
        """Count the batches of about ``size`` samples: each has a photo and a sketch for every process."""
        photos, sketches, processes = len(self.photo_codes), len(self.sketch_codes), self.processes.count
        return max(1, min((photos + sketches) // size, photos // processes, sketches // processes))


class _Loss(nn.Module):
    """The Euclidean loss (Eq. 12) of some rows, as one module: gradients of several processes meet in it."""

    def __init__(self, network: HashNetwork, training_set: TrainingSet) -> None:
        super().__init__()
        self.network, self.training_set = network, training_set

    def forward(
        self,
        photo_rows: Tensor,
        sketch_rows: Tensor,
        photo_codes: Tensor,
        sketch_codes: Tensor,
        generator: Generator,
    ) -> Tensor:
        photo_values, sketch_values = self.training_set.values(self.network, photo_rows, sketch_rows, generator)
        photo_loss = (photo_values - photo_codes.to(photo_values.device)).square().sum()
        return photo_loss + (sketch_values - sketch_codes.to(sketch_values.device)).square().sum()
