"""What the replies come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sketchhash.benchmark.serving.drawers import Reply

OK = 200


@dataclass(frozen=True)
class Memory:
    """What the server's process holds, in bytes: when it has warmed up, and at the end."""

    warm: int
    end: int


@dataclass(frozen=True)
class Figures:
    """A run in numbers; seconds are those of answers that came, as their clients saw them."""

    drawers: int
    seconds: float
    photos: int
    requests: int
    per_second: float
    p50_seconds: float
    p99_seconds: float
    worst_seconds: float
    errors: Mapping[int, int]
    memory: Memory

    @classmethod
    def of(cls, replies: Sequence[Reply], drawers: int, seconds: float, photos: int, memory: Memory) -> Self:
        """Sum up the replies of a run; ``errors`` counts those other than 200, by status."""
        times = [reply.seconds for reply in replies if reply.status == OK] or [float("nan")]
        p50, p99, worst = np.percentile(times, (50, 99, 100)).tolist()
        errors = Counter(reply.status for reply in replies if reply.status != OK)
        return cls(drawers, seconds, photos, len(replies), len(replies) / seconds, p50, p99, worst, errors, memory)


def figures_table(figures: Figures) -> str:
    """Write a run as Markdown."""
    errors = ", ".join(f"{count} × {status or 'no answer'}" for status, count in sorted(figures.errors.items()))
    growth = figures.memory.end - figures.memory.warm
    rows = (
        ("photos", f"{figures.photos:,}"),
        ("drawers", f"{figures.drawers}"),
        ("seconds", f"{figures.seconds:.0f}"),
        ("requests", f"{figures.requests:,}"),
        ("requests/s", f"{figures.per_second:.1f}"),
        ("p50", f"{1000 * figures.p50_seconds:.1f} ms"),
        ("p99", f"{1000 * figures.p99_seconds:.1f} ms"),
        ("worst", f"{1000 * figures.worst_seconds:.1f} ms"),
        ("errors", errors or "none"),
        ("memory", f"{figures.memory.end / 1e6:.0f} MB ({growth / 1e6:+.1f} MB since warm)"),
    )
    return "\n".join(f"| {name} | {value} |" for name, value in (("what", "figure"), ("---", "---"), *rows))
