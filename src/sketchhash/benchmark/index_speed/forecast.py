"""What more workers would give: they share the work of encoding, and meet one disk and one writer."""

from __future__ import annotations

from dataclasses import dataclass

from sketchhash.benchmark.index_speed.figures import IndexingFigures


@dataclass(frozen=True)
class Forecast:
    """Photos a second of so many workers, and what keeps it from being more."""

    workers: int
    per_second: float
    limit: str


def forecast(figures: IndexingFigures, workers: int) -> Forecast:
    """Take the slowest of all workers together, the disk they read from and the one who writes.

    The disk is as fast as one reader found it, which is careful: several at once are usually served better.
    """
    rates = {
        "workers": workers / figures.worker_seconds,
        "writer": 1 / figures.writer_seconds,
        "disk": figures.cold_bytes_per_second / figures.photo_bytes or float("inf"),
    }
    limit = min(rates, key=rates.__getitem__)
    return Forecast(workers, rates[limit], limit)


def most_workers(figures: IndexingFigures) -> int:
    """Say how many workers the disk and the writer can keep busy."""
    others = min(1 / figures.writer_seconds, figures.cold_bytes_per_second / figures.photo_bytes or float("inf"))
    return max(1, int(others * figures.worker_seconds))
