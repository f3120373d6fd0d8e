"""The measurement of indexing as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sketchhash.benchmark.index_speed.figures import IndexingFigures
from sketchhash.benchmark.index_speed.forecast import forecast, most_workers

_WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_HOUR = 3600


def page(figures: IndexingFigures) -> str:
    """Set everything as Markdown."""
    return "\n\n".join((_stages(figures), _runs(figures), _forecasts(figures)))


def _stages(figures: IndexingFigures) -> str:
    rows = [
        (name, f"{cost.milliseconds:.2f} ms", f"{cost.cpu_milliseconds:.2f} ms")
        for name, cost in figures.stages.items()
    ]
    text = (
        f"Photos: {figures.source}; {figures.photo_bytes:,.0f} bytes each, and {figures.gallery_bytes:,.0f} in the "
        "gallery. A write is a sixteenth of a transaction, which ends on the disk; all else is done by workers."
    )
    return f"{table(('a photo, one core', 'by the clock (median)', 'processor time (mean)'), rows)}\n\n{text}"


def _runs(figures: IndexingFigures) -> str:
    rows = [
        (
            f"{run.workers} process{'es' if run.workers > 1 else ''}" if run.workers else "threads of one process",
            f"{run.seconds:.1f} s",
            f"{run.startup_seconds:.1f} s",
            f"{run.per_second:.1f}",
            f"{forecast(figures, run.workers).per_second:.1f}" if run.workers else "–",
            f"{1000 * run.cpu_seconds / run.photos:.1f} ms",
            f"{1000 * run.writer_cpu_seconds / run.photos:.2f} ms" if run.workers else "–",
        )
        for run in figures.runs
    ]
    heading = (
        "workers",
        f"{figures.runs[0].photos} photos",
        "of it start-up",
        "photos/s",
        "photos/s by the model",
        "processor time a photo",
        "of it the writer's",
    )
    return table(heading, rows)


def _forecasts(figures: IndexingFigures) -> str:
    rows = [
        (
            each.workers,
            f"{each.per_second:,.0f}",
            each.limit,
            f"{1e6 / each.per_second / _HOUR:,.1f} h",
            f"{1e9 / each.per_second / _HOUR / 24:,.1f} days",
        )
        for each in (forecast(figures, workers) for workers in _WORKERS)
    ]
    cold = figures.cold_bytes_per_second
    text = (
        f"The model: a worker takes {1000 * figures.worker_seconds:.1f} ms of processor time for a photo, the writer "
        f"{1000 * figures.writer_seconds:.2f} ms with its waiting, and one reader gets {cold / 1e6:,.0f} MB/s from "
        f"this disk. {most_workers(figures):,} workers keep the slower of the two busy."
    )
    heading = ("workers", "photos/s", "limited by", "a million photos", "a thousand million")
    return f"{table(heading, rows)}\n\n{text}"


def table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Set a table as Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
