"""Batches that are read while the one before is learned from.

One thread reads ahead, in order: so a generator draws as if nobody did, and every batch is the same. It is done only if
something else than the processor learns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Generic, TypeVar

from sketchhash.devices import device

Rows = TypeVar("Rows")
Batch = TypeVar("Batch")

_BATCHES = 3  # that wait on a card; each is a few megabytes


@dataclass(frozen=True)
class ReadAhead(Generic[Rows, Batch]):
    """The batches that ``read`` makes of rows, in order."""

    rows: Sequence[Rows]
    read: Callable[[Rows], Batch]

    def __len__(self) -> int:
        """Count the batches."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Batch]:
        """Read each batch, some before they are asked for."""
        waiting = _ahead()
        if not waiting:
            yield from map(self.read, self.rows)
            return
        pool = ThreadPoolExecutor(1)
        try:
            reading: deque[Future[Batch]] = deque()
            for rows in self.rows:
                # The thread must know which device was chosen.
                reading.append(pool.submit(copy_context().run, self.read, rows))
                if len(reading) > waiting:
                    yield reading.popleft().result()
            while reading:
                yield reading.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def _ahead() -> int:
    """Return how many batches may wait: none if the processor learns too."""
    return 0 if device().type == "cpu" else _BATCHES
