"""How long the stages of one search take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Literal

Stage = Literal["ink", "encode", "search"]


class Stopwatch:
    """Runs from the arrival of a request; tells the seconds of each stage, and of everything."""

    def __init__(self) -> None:
        """Start now."""
        self._start = perf_counter()
        self.seconds: dict[str, float] = {"ink": 0.0, "encode": 0.0, "search": 0.0}

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Count the time of a block to ``stage``."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start

    def milliseconds(self) -> dict[str, float]:
        """Give the stages and the ``total`` so far, to a hundredth."""
        seconds = {**self.seconds, "total": perf_counter() - self._start}
        return {name: round(1000 * value, 2) for name, value in seconds.items()}


def server_timing(milliseconds: dict[str, float]) -> str:
    """Write a ``Server-Timing`` header, which browsers show beside the request.

    >>> server_timing({"encode": 4.1, "total": 6.0})
    'encode;dur=4.1, total;dur=6.0'
    """
    return ", ".join(f"{name};dur={value}" for name, value in milliseconds.items())
