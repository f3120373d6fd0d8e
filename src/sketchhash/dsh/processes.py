"""One process or several (``torchrun``): who I am, and what only the first of us does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


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
        """Give this process's part of some rows: together the parts are all rows, once."""
        return rows[self.rank :: self.count]

    def joined(self, values: Tensor) -> Tensor:
        """Add up what each process computed; rows it did not compute are zero."""
        if self.count > 1:
            distributed.all_reduce(values)
        return values

    def wrap(self, module: nn.Module) -> nn.Module:
        """Let gradients be averaged over the processes."""
        return DistributedDataParallel(module) if self.count > 1 else module

    def wait(self) -> None:
        """Wait for the others."""
        if self.count > 1:
            distributed.barrier()


@contextmanager
def started() -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started, or be alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield Processes(distributed.get_rank(), count)
    finally:
        distributed.destroy_process_group()


def device() -> torch.device:
    """Give this process's device: its CUDA card when there is one, the processor otherwise."""
    if torch.cuda.is_available():
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return torch.device("cpu")
