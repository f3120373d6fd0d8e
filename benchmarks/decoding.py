"""What it costs indexing that processes of their own decode: whole runs on threads, with and without them, in turns.

    python benchmarks/decoding.py --out results/decoding.json

The same photos go into a new gallery again and again, decoded by processes (`sketchhash.imaging.decoders`), as indexing
does, and by the threads themselves, which are then as many as there are cores. Each pair of runs gives one ratio, so
what else the machine does meets both sides.
The processes are started before each run, as they end when a run on the other side takes long: a run of many photos
starts them once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import Annotated, Any, Self
from unittest.mock import patch

import typer

from indexing import write_photos
from sketchhash.gallery import GalleryFile, index_events
from sketchhash.gallery.workers import WorkerThreads
from sketchhash.imaging import decoders
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from stages import Samples, take_samples
from timing import RecordFile, ShownRecord, finish, read_record, run, say

APART, HERE = "processes of their own", "the threads themselves"


@dataclass(frozen=True)
class Run:
    """A whole run of indexing: seconds by the clock, and processor time of all processes."""

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Decoding:
    """All that was measured.

    Attributes:
        source: Where the photos are from.
        photos: How many each run indexes.
        pairs: The runs, apart and here; who is first alternates.
    """

    source: str
    photos: int
    pairs: tuple[tuple[Run, Run], ...]

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        pairs = tuple((Run(**apart), Run(**here)) for apart, here in record["pairs"])
        return cls(record["source"], record["photos"], pairs)

    @property
    def losses(self) -> list[float]:
        """The share of photos a second that is lost to the processes, pair by pair."""
        return [1 - here.seconds / apart.seconds for apart, here in self.pairs]

    @property
    def cpu_losses(self) -> list[float]:
        """The same of photos a second of processor time, which is what cores that are all busy have to give."""
        return [1 - here.cpu_seconds / apart.cpu_seconds for apart, here in self.pairs]


def main(
    model: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The model folder; otherwise the default one.")
    ] = None,
    photos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Measure with photos below this folder."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="How many different photos.")] = 32,
    count: Annotated[int, typer.Option(min=1, help="How many photos each run indexes.")] = 320,
    rounds: Annotated[int, typer.Option(min=1, help="How many pairs of runs.")] = 8,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Index on threads, with processes that decode and without, in turns, and compare photos a second."""
    if show is not None:
        typer.echo(page(read_record(show, Decoding.from_record)))
        return
    folder = default_model_folder() if model is None else model
    measured = measure(Model.load(folder), take_samples(samples, photos), count, rounds, say)
    finish(page(measured), asdict(measured), out)


def measure(model: Model, samples: Samples, photos: int, rounds: int, tell: Callable[[str], None]) -> Decoding:
    """Index so many photos in pairs of runs; a short run that does not count comes before each."""
    pool, here = decoders.shared(), SimpleNamespace(run=decoders.run)
    # Threads that decode themselves never wait, and are best as many as there are cores.
    busy_threads = WorkerThreads(model, os.cpu_count() or 1)
    pairs = []
    with TemporaryDirectory() as name:
        paths = write_photos(Path(name, "photos"), samples, photos)

        def index(is_apart: bool, places: Sequence[Path]) -> Run:
            gallery = Path(name, "test.gallery")
            with patch.object(decoders, "shared", lambda: pool if is_apart else here):
                start, cpu_start = perf_counter(), _processor_time(pool)
                with GalleryFile.create(gallery, model) as opened:
                    for _ in index_events(opened, model, places, workers=None if is_apart else busy_threads):
                        pass
                spent = Run(perf_counter() - start, _processor_time(pool) - cpu_start)
            gallery.unlink()
            return spent

        def index_warm(is_apart: bool) -> Run:
            index(is_apart, paths[: 4 * (os.cpu_count() or 1)])
            return index(is_apart, [paths[0].parent])

        for number in range(rounds):
            order = (True, False) if number % 2 else (False, True)
            runs = {is_apart: index_warm(is_apart) for is_apart in order}
            pairs.append((runs[True], runs[False]))
            tell(f"Pair {number + 1} of {rounds}: apart {runs[True].seconds:.1f} s, here {runs[False].seconds:.1f} s")
    return Decoding(samples.source, photos, tuple(pairs))


def page(measured: Decoding) -> str:
    """Return both sides, and what the processes cost, as Markdown."""
    rows = []
    for place, runs in zip((APART, HERE), zip(*measured.pairs, strict=True), strict=True):
        seconds, cpu_seconds = median(each.seconds for each in runs), median(each.cpu_seconds for each in runs)
        rows.append((place, f"{measured.photos / seconds:.1f}", f"{1000 * cpu_seconds / measured.photos:.1f} ms"))
    table = markdown_table(("decoded by", "photos/s", "processor time a photo"), rows)
    text = (
        f"Photos: {measured.source}; {measured.photos} a run, the median of {len(measured.pairs)} runs. Processes of "
        f"their own cost {_with_spread(measured.losses)} of the photos a second by the clock, and "
        f"{_with_spread(measured.cpu_losses)} of those a second of processor time."
    )
    return f"{table}\n\n{text}"


def _with_spread(shares: Sequence[float]) -> str:
    low, middle, high = (100 * share for share in (min(shares), median(shares), max(shares)))
    return f"{middle:.1f} % ({low:.1f} to {high:.1f} in single pairs)"


def _processor_time(pool: decoders.DecoderPool) -> float:
    """Return the processor time of this process, of decoders, and of other processes that it started and that ended."""
    times = os.times()
    return process_time() + times.children_user + times.children_system + sum(map(_time_so_far, pool.pids))


def _time_so_far(pid: int) -> float:
    """Return the processor time of a process that lives, or 0 where the system does not tell (all but Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    user, system = map(int, fields[11:13])
    return (user + system) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    run(main)
