"""What getting photos tells while it runs; whoever starts it decides how that is shown."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Listener(Protocol):
    """Listens to long work."""

    def say(self, text: str) -> None:
        """Hear something worth telling a person."""
        ...

    def stage(self, name: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
        """Begin a stage of so many steps; what this gives is called after each."""
        ...
