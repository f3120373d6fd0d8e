"""What a measurement of indexing gives, and how it is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sketchhash.benchmark.model_speed.timing import Cost
from sketchhash.errors import BadArgument

WRITE = "write"

_LEAST_SECONDS = 1e-9  # the difference of two runs with a photo or two may be nothing, or less


@dataclass(frozen=True)
class Run:
    """A whole run of indexing.

    Attributes:
        workers: Processes that read and encode; 0 stands for threads of the process that writes.
        seconds: By the clock, with ``startup_seconds``, which are those of a run with one photo.
        writer_cpu_seconds: Processor time of the process that writes; without workers, that is all there is.
        cpu_seconds: Processor time of all processes.
    """

    workers: int
    photos: int
    seconds: float
    startup_seconds: float
    writer_cpu_seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        """Photos a second once everybody has started."""
        return self.photos / max(_LEAST_SECONDS, self.seconds - self.startup_seconds)


@dataclass(frozen=True)
class IndexingFigures:
    """All that was measured.

    Attributes:
        source: What the photos are.
        photo_bytes: The mean size of a photo's file.
        gallery_bytes: What a gallery's file grows by for a photo.
        stages: The cost of a photo by stage, one core.
        cold_bytes_per_second: How fast one reader gets files that are not in memory; the best of a few rounds.
        runs: Whole runs.
    """

    source: str
    photo_bytes: float
    gallery_bytes: float
    stages: Mapping[str, Cost]
    cold_bytes_per_second: float
    runs: tuple[Run, ...]

    @property
    def worker_seconds(self) -> float:
        """Processor time that a worker takes for a photo: all stages but the last."""
        milliseconds = sum(cost.cpu_milliseconds for name, cost in self.stages.items() if name != WRITE)
        return max(_LEAST_SECONDS, milliseconds / 1000)

    @property
    def writer_seconds(self) -> float:
        """Time that the one writer takes for a photo: its processor time, and waiting for the disk."""
        cpu = min(run.writer_cpu_seconds / run.photos for run in self.runs if run.workers)
        write = self.stages[WRITE]
        return max(_LEAST_SECONDS, cpu + max(0.0, write.milliseconds - write.cpu_milliseconds) / 1000)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``sketchhash bench index --json`` printed."""
        try:
            kept = json.loads(path.read_bytes())
            kept["stages"] = {name: Cost(**cost) for name, cost in kept["stages"].items()}
            kept["runs"] = tuple(Run(**run) for run in kept["runs"])
            return cls(**kept)
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise BadArgument(
                f"{path} is not a record of indexing ({problem}). Make one with: sketchhash bench index --json > FILE"
            ) from problem
