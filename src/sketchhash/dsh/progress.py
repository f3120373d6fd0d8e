"""What long work tells while it runs; whoever starts it decides how that is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """Listens to a training run."""

    def stage(self, name: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
        """Begin a stage of so many steps; the function it returns is called after each."""
        ...

    def report(self, entry: Mapping[str, object]) -> None:
        """Hear what an epoch came to: its stage, number, loss, and the terms of the objective."""
        ...


class Silent:
    """Listens to nothing."""

    @contextmanager
    def stage(self, name: str, steps: int) -> Iterator[Callable[[], None]]:
        """Count nothing."""
        yield lambda: None

    def report(self, entry: Mapping[str, object]) -> None:
        """Ignore it."""
