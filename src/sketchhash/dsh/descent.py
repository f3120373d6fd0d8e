"""Gradient steps: the Θ step of Algorithm 1, and pre-training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Generator, Tensor, nn

from sketchhash.dsh.processes import Processes, device
from sketchhash.dsh.recipe import Steps

Batch = TypeVar("Batch")


class Descent:
    """An optimiser that follows a recipe's learning rate."""

    def __init__(self, module: nn.Module, steps: Steps) -> None:
        """Train the parameters of ``module`` that are not frozen."""
        self.steps = steps
        parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        # Biases and normalisation weights are not pulled towards zero.
        decayed = [parameter for parameter in parameters if parameter.ndim > 1]
        others = [parameter for parameter in parameters if parameter.ndim <= 1]
        groups = [
            {"params": decayed, "weight_decay": steps.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        self.optimiser: torch.optim.Optimizer = (
            torch.optim.AdamW(groups, lr=steps.learning_rate)
            if steps.optimiser == "adamw"
            else torch.optim.SGD(groups, lr=steps.learning_rate, momentum=steps.momentum)
        )

    def epoch(
        self, number: int, batches: Sequence[Batch], loss: Callable[[Batch], Tensor], advance: Callable[[], None]
    ) -> float:
        """Take one step a batch and give the mean loss; ``number`` counts epochs from 0."""
        total = 0.0
        for done, batch in enumerate(batches):
            for group in self.optimiser.param_groups:
                group["lr"] = self.steps.rate(number, done / len(batches))
            value = loss(batch)
            self.optimiser.zero_grad()
            value.backward()
            self.optimiser.step()
            total += float(value.detach())
            advance()
        return total / len(batches)


def shuffled(count: int, batches: int, generator: Generator) -> tuple[Tensor, ...]:
    """Divide all rows at random into ``batches`` parts of nearly equal size."""
    return torch.randperm(count, generator=generator).tensor_split(batches)


@contextmanager
def seeded_epoch(seed: int, stage: str, epoch: int, processes: Processes) -> Iterator[Generator]:
    """Seed everything random in one epoch of one stage, so that a resumed run repeats it exactly.

    What this gives draws alike in every process. Inside, torch's own generator, from which dropout draws, is
    seeded too, apart from the other processes'; afterwards it is as it was.
    """
    number = int.from_bytes(stage.encode(), "big") % 1_000_003
    mixed = (seed * 1_000_003 + number) * 10_007 + epoch
    where = device()
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        torch.manual_seed(processes.own(Generator().manual_seed(mixed)).initial_seed())
        yield Generator().manual_seed(mixed + 1)
