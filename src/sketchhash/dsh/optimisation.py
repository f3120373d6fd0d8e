"""Gradient steps, in one process or several (``torchrun``): for pre-training and for the Θ step of Algorithm 1."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, TypeVar

import torch
from torch import Generator, Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from sketchhash.devices import device
from sketchhash.dsh.recipe import Steps
from sketchhash.errors import TrainingDiverged

Batch = TypeVar("Batch")
Read = TypeVar("Read", covariant=True)


class Batches(Protocol[Read]):
    """The batches of an epoch."""

    def __len__(self) -> int:
        """Count them."""
        ...

    def __iter__(self) -> Iterator[Read]:
        """Read one after the other."""
        ...


class Descent:
    """An optimiser that follows a recipe's learning rate."""

    def __init__(self, module: nn.Module, steps: Steps) -> None:
        """Train the parameters of ``module`` that are not frozen."""
        self.steps = steps
        self.parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        # Biases and normalisation weights are not pulled towards zero.
        decayed = [parameter for parameter in self.parameters if parameter.ndim > 1]
        others = [parameter for parameter in self.parameters if parameter.ndim <= 1]
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
        self, number: int, batches: Batches[Batch], loss: Callable[[Batch], Tensor], advance: Callable[[], None]
    ) -> float:
        """Take one step a batch and return the mean loss; ``number`` counts epochs from 0.

        Raises:
            TrainingDiverged: If the loss of a batch is not finite; the networks stay as the step before left them.
        """
        total = 0.0
        for done, batch in enumerate(batches):
            for group in self.optimiser.param_groups:
                group["lr"] = self.steps.rate(number, done / len(batches))
            value = loss(batch)
            if not value.isfinite():
                raise TrainingDiverged(
                    f"The loss became {float(value.detach())} in epoch {number + 1}, batch {done + 1} of "
                    f"{len(batches)}. Lower the learning rate, {self.steps.learning_rate:g} in this recipe."
                )
            self.optimiser.zero_grad()
            value.backward()
            if self.steps.longest_gradient:
                nn.utils.clip_grad_norm_(self.parameters, self.steps.longest_gradient)
            self.optimiser.step()
            total += float(value.detach())
            advance()
        return total / len(batches)


def autocast(steps: Steps) -> AbstractContextManager[object]:
    """Let networks compute in the precision of a stage; what follows them stays in float32."""
    if steps.precision == "float32":
        return nullcontext()
    return torch.autocast(device().type, dtype=getattr(torch, steps.precision))


def shuffled(count: int, batches: int, generator: Generator) -> tuple[Tensor, ...]:
    """Divide all rows at random into ``batches`` parts of nearly equal size."""
    return torch.randperm(count, generator=generator).tensor_split(batches)


def drawn(chances: Tensor, batches: int, generator: Generator) -> tuple[Tensor, ...]:
    """Draw as many rows as there are, each by its chance and with replacement, in ``batches`` parts."""
    return torch.multinomial(chances, len(chances), replacement=True, generator=generator).tensor_split(batches)


@contextmanager
def seeded_epoch(seed: int, stage: str, epoch: int, processes: Processes) -> Iterator[Generator]:
    """Seed everything random in one epoch of one stage, so that a resumed run repeats it exactly.

    The generator draws alike in every process. Inside, torch's own generator, from which dropout draws, is
    seeded too, apart from the other processes'; afterwards it is as it was.
    """
    number = int.from_bytes(stage.encode(), "big") % 1_000_003
    mixed = (seed * 1_000_003 + number) * 10_007 + epoch
    where = device()
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        torch.manual_seed(processes.own(Generator().manual_seed(mixed)).initial_seed())
        yield Generator().manual_seed(mixed + 1)


# The others wait while the first looks for the contours of a whole dataset.
_PATIENCE = timedelta(days=1)
_NEXT_STREAM = 1_000_000_007  # far from a run's other seeds, of which torch looks at 32 bits


@dataclass(frozen=True)
class Processes:
    """This process among its peers."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes files."""
        return self.rank == 0

    def share(self, rows: Tensor) -> Tensor:
        """Return this process's part of some rows: together the parts are all rows, once."""
        return rows[self.rank :: self.count]

    def own(self, generator: Generator) -> Generator:
        """Return a generator that draws apart from the other processes'; the first keeps the one it has."""
        if self.is_first:
            return generator
        return Generator().manual_seed(generator.initial_seed() + self.rank * _NEXT_STREAM)

    def joined(self, values: Tensor) -> Tensor:
        """Add up what each process computed; rows it did not compute are zero."""
        if self.count > 1:
            distributed.all_reduce(values)
        return values

    def mean(self, value: float) -> float:
        """Average a number over the processes."""
        if self.count == 1:
            return value
        return float(self.joined(torch.tensor(value, dtype=torch.float64, device=device()))) / self.count

    def wrap(self, module: nn.Module) -> nn.Module:
        """Let gradients be averaged over the processes."""
        return DistributedDataParallel(module) if self.count > 1 else module

    def align(self, module: nn.Module) -> None:
        """Copy the first process's batch statistics to all: each has seen other rows."""
        if self.count > 1:
            for buffer in module.buffers():
                distributed.broadcast(buffer, 0)

    def copy_first(self, module: nn.Module) -> None:
        """Copy the first process's weights and batch statistics to all: rounding may depend on the threads of each."""
        if self.count > 1:
            for tensor in module.state_dict().values():
                distributed.broadcast(tensor, 0)

    def wait(self) -> None:
        """Wait for the others."""
        if self.count > 1:
            distributed.barrier()

    @contextmanager
    def first_ahead(self) -> Iterator[None]:
        """Let the first do this alone; the others follow, and find on disk what it kept there.

        While its neighbours on the machine wait, the first uses their threads too.
        """
        if not self.is_first:
            self.wait()
        threads = torch.get_num_threads()
        try:
            if self.is_first:
                torch.set_num_threads(threads * int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
            yield
        finally:
            torch.set_num_threads(threads)
            if self.is_first:
                self.wait()


@contextmanager
def started() -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started, or be alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    if device().type == "cuda":
        torch.cuda.set_device(device())
        distributed.init_process_group("nccl", timeout=_PATIENCE, device_id=device())
    else:
        distributed.init_process_group("gloo", timeout=_PATIENCE)
    try:
        yield Processes(distributed.get_rank(), count)
    finally:
        distributed.destroy_process_group()
