"""How fast photos are indexed: stage by stage, by several processes, and a forecast for more.

    python benchmarks/indexing.py --photos ~/Pictures

The peer is reading and decoding alone, which no index of photos can avoid.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Annotated, Any, Self

import typer

from sketchhash.gallery import GalleryFile, PhotoFile, index_events
from sketchhash.gallery.photos import decode, read_file
from sketchhash.gallery.workers import WorkerProcesses
from sketchhash.gallery.writer import Writer
from sketchhash.imaging import fit_square, thumbnail
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import NO_VALUE, markdown_table
from stages import Samples, Stages, take_samples
from timing import Cost, RecordFile, ShownRecord, cost, finish, read_record, run, say

WRITE = "write"

_BATCH = 16  # as in indexing
_COLD_ROUNDS = 5
_WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_HOUR = 3600
_LEAST_SECONDS = 1e-9  # the difference of two runs with a photo or two may be nothing, or less


@dataclass(frozen=True)
class IndexRun:
    """A whole run of indexing.

    Attributes:
        workers: Processes that read and encode; 0 stands for threads of the process that writes.
        photos: How many were indexed.
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
        """Photos a second after start-up."""
        return self.photos / max(_LEAST_SECONDS, self.seconds - self.startup_seconds)


@dataclass(frozen=True)
class IndexingCosts:
    """All that was measured.

    Attributes:
        source: Where the photos are from.
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
    runs: tuple[IndexRun, ...]

    @property
    def worker_seconds(self) -> float:
        """Processor time that a worker takes for a photo: all stages but the last."""
        milliseconds = sum(each.cpu_milliseconds for name, each in self.stages.items() if name != WRITE)
        return max(_LEAST_SECONDS, milliseconds / 1000)

    @property
    def writer_seconds(self) -> float:
        """Time that the one writer takes for a photo: its processor time, and waiting for the disk."""
        cpu = min(run.writer_cpu_seconds / run.photos for run in self.runs if run.workers)
        write = self.stages[WRITE]
        return max(_LEAST_SECONDS, cpu + max(0.0, write.milliseconds - write.cpu_milliseconds) / 1000)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        return cls(
            record["source"],
            record["photo_bytes"],
            record["gallery_bytes"],
            {name: Cost(**each) for name, each in record["stages"].items()},
            record["cold_bytes_per_second"],
            tuple(IndexRun(**each) for each in record["runs"]),
        )


@dataclass(frozen=True)
class Forecast:
    """Photos a second of so many workers, and what keeps it from being more."""

    workers: int
    per_second: float
    limit: str


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
    workers: Annotated[list[int] | None, typer.Option(min=0, help="Processes, 0: none; repeat for several.")] = None,
    seconds: Annotated[float, typer.Option(min=0, help="How long each stage is measured.")] = 2.0,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Time indexing by stage and by number of processes, and compute where the writer or the disk is the limit."""
    if show is not None:
        costs = read_record(show, IndexingCosts.from_record)
    else:
        folder = default_model_folder() if model is None else model
        # The writer of a run without workers cannot be told from its readers.
        tried = workers if workers and any(workers) else [*(workers or [0]), 1, 2]
        costs = measure(folder, take_samples(samples, photos), count, tried, seconds, say)
    finish(page(costs), asdict(costs), out)


def measure(
    folder: Path, samples: Samples, photos: int, workers: Sequence[int], seconds: float, tell: Callable[[str], None]
) -> IndexingCosts:
    """Measure indexing with the model in ``folder``.

    Args:
        folder: The model.
        samples: Photos; they are repeated until there are enough.
        photos: How many each run indexes.
        workers: The numbers of processes to try; 0 stands for threads of this process.
        seconds: How long each stage is measured.
        tell: Is told what is being done.
    """
    model = Model.load(folder)
    with TemporaryDirectory() as name:
        place = Path(name)
        paths = write_photos(place / "photos", samples, photos)
        tell("Timing the stages ...")
        stages = _stage_costs(folder, model, paths[: len(samples.photo_files)], seconds)
        stages[WRITE] = _write_cost(place, model, paths, seconds)
        cold = _cold_bytes_per_second(paths)
        runs = []
        for number in workers:
            tell(f"Indexing {photos} photos {f'in {number} processes' if number else 'on threads'} ...")
            runs.append(_index(place / f"{number}.gallery", folder, model, paths, number))
        gallery_bytes = (place / f"{workers[-1]}.gallery").stat().st_size / photos
        size = mean(path.stat().st_size for path in paths)
        return IndexingCosts(samples.source, size, gallery_bytes, stages, cold, tuple(runs))


def write_photos(folder: Path, samples: Samples, count: int) -> list[Path]:
    """Write so many files, no two of the same content: a photo that the gallery has is not encoded again."""
    folder.mkdir()
    paths = [folder / f"{number:06}.jpg" for number in range(count)]
    for number, path in enumerate(paths):
        picture = samples.photo_files[number % len(samples.photo_files)]
        with path.open("wb") as file:
            file.write(picture + number.to_bytes(8))  # decoders do not look beyond the end of the picture
            file.flush()
            os.fsync(file.fileno())
    return paths


def forecast(costs: IndexingCosts, workers: int) -> Forecast:
    """Return the speed of the slowest: all workers together, the disk they read from, or the one writer.

    The disk is as fast as one reader found it, which is careful: several at once are usually served better.
    """
    rates = {
        "workers": workers / costs.worker_seconds,
        "writer": 1 / costs.writer_seconds,
        "disk": costs.cold_bytes_per_second / costs.photo_bytes or float("inf"),
    }
    limit = min(rates, key=rates.__getitem__)
    return Forecast(workers, rates[limit], limit)


def most_workers(costs: IndexingCosts) -> int:
    """Return how many workers the disk and the writer can keep busy."""
    others = min(1 / costs.writer_seconds, costs.cold_bytes_per_second / costs.photo_bytes or float("inf"))
    return max(1, int(others * costs.worker_seconds))


def page(costs: IndexingCosts) -> str:
    """Return everything as Markdown."""
    return "\n\n".join((_stage_table(costs), _run_table(costs), _forecast_table(costs)))


def _stage_costs(folder: Path, model: Model, paths: Sequence[Path], seconds: float) -> dict[str, Cost]:
    stages = Stages(folder)
    files = [read_file(path)[1] for path in paths]
    pixels = [decode(file, model) for file in files]
    batch = min(_BATCH, len(pixels))
    costs = {"read": cost(read_file, paths, seconds)}
    costs["decode"] = cost(lambda file: decode(file, model), files, seconds)
    if stages.manifest.photos:
        side = stages.manifest.photos.size
        costs["squeeze"] = cost(lambda photo: fit_square(photo, side), pixels, seconds)
    if stages.has_tokens:
        costs["tokens"] = cost(stages.tokens, pixels, seconds)
    inputs = [stages.photo_inputs(pixels[:batch])]
    costs["encode"] = cost(stages.image.run, inputs, seconds).each_of(batch)
    costs["thumbnail"] = cost(thumbnail, pixels, seconds)
    return costs


def _write_cost(place: Path, model: Model, paths: Sequence[Path], seconds: float) -> Cost:
    """Time storing a batch in one transaction, which ends on the disk."""
    file, content = read_file(paths[0])
    small, code = thumbnail(decode(content, model)), bytes(model.bits // 8)
    numbers = iter(range(1 << 62))

    def put(writer: Writer) -> None:
        number = next(numbers)
        sha256 = number.to_bytes(32).hex()
        writer.put(PhotoFile(file.path.with_name(f"{number}.jpg"), sha256, file.size, file.mtime_ns), code, small)

    with GalleryFile.create(place / "written.gallery", model) as gallery:

        def store(_: None) -> None:
            with gallery.writing(model) as writer:
                for _each_photo in range(_BATCH):
                    put(writer)

        return cost(store, [None], seconds).each_of(_BATCH)


def _cold_bytes_per_second(paths: Sequence[Path]) -> float:
    """Read files that the system was asked to drop from memory, a few times, and return the best speed.

    Returns 0 where the system cannot be asked.
    """
    if not hasattr(os, "posix_fadvise"):
        return 0.0
    rates = []
    for _ in range(_COLD_ROUNDS):
        for path in paths:
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = perf_counter()
        size = sum(len(path.read_bytes()) for path in paths)
        rates.append(size / (perf_counter() - start))
    return max(rates)


def _index(gallery: Path, folder: Path, model: Model, paths: Sequence[Path], workers: int) -> IndexRun:
    processes = WorkerProcesses(folder, workers) if workers else None

    def index(path: Path, places: Sequence[Path]) -> tuple[float, float, float]:
        start, cpu_start, workers_start = perf_counter(), process_time(), _workers_time()
        with GalleryFile.create(path, model) as opened:
            for _ in index_events(opened, model, places, workers=processes):
                pass
        return perf_counter() - start, process_time() - cpu_start, _workers_time() - workers_start

    startup, startup_cpu, startup_workers = index(gallery.with_suffix(".startup"), paths[:1])
    seconds, cpu, worker_cpu = index(gallery, [paths[0].parent])
    own = max(0.0, cpu - startup_cpu)
    theirs = max(0.0, worker_cpu - workers * startup_workers)  # one photo starts one worker only
    return IndexRun(workers, len(paths), seconds, startup, own, own + theirs)


def _workers_time() -> float:
    """Return the processor time of all processes that this one has started, and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _stage_table(costs: IndexingCosts) -> str:
    rows = [
        (name, f"{each.milliseconds:.2f} ms", f"{each.cpu_milliseconds:.2f} ms") for name, each in costs.stages.items()
    ]
    text = (
        f"Photos: {costs.source}; {costs.photo_bytes:,.0f} bytes each, and {costs.gallery_bytes:,.0f} in the "
        "gallery. A write is a sixteenth of a transaction, which ends on the disk; all else is done by workers."
    )
    alone = sum(costs.stages[name].cpu_milliseconds for name in ("read", "decode") if name in costs.stages)
    if alone:
        text += f" All of it takes {1000 * costs.worker_seconds / alone:.1f} times as long as reading and decoding."
    heading = ("a photo, one core", "by the clock (median)", "processor time (mean)")
    return f"{markdown_table(heading, rows)}\n\n{text}"


def _run_table(costs: IndexingCosts) -> str:
    rows = [
        (
            f"{run.workers} process{'es' if run.workers > 1 else ''}" if run.workers else "threads of one process",
            f"{run.seconds:.1f} s",
            f"{run.startup_seconds:.1f} s",
            f"{run.per_second:.1f}",
            f"{forecast(costs, run.workers).per_second:.1f}" if run.workers else NO_VALUE,
            f"{1000 * run.cpu_seconds / run.photos:.1f} ms",
            f"{1000 * run.writer_cpu_seconds / run.photos:.2f} ms" if run.workers else NO_VALUE,
        )
        for run in costs.runs
    ]
    heading = (
        "workers",
        f"{costs.runs[0].photos} photos",
        "of it start-up",
        "photos/s",
        "photos/s by the model",
        "processor time a photo",
        "of it the writer's",
    )
    return markdown_table(heading, rows)


def _forecast_table(costs: IndexingCosts) -> str:
    rows = [
        (
            each.workers,
            f"{each.per_second:,.0f}",
            each.limit,
            f"{1e6 / each.per_second / _HOUR:,.1f} h",
            f"{1e9 / each.per_second / _HOUR / 24:,.1f} days",
        )
        for each in (forecast(costs, workers) for workers in _WORKERS)
    ]
    cold = costs.cold_bytes_per_second
    text = (
        f"The model: a worker takes {1000 * costs.worker_seconds:.1f} ms of processor time for a photo, the writer "
        f"{1000 * costs.writer_seconds:.2f} ms with its waiting, and one reader gets {cold / 1e6:,.0f} MB/s from "
        f"this disk. {most_workers(costs):,} workers keep the slower of the two busy."
    )
    heading = ("workers", "photos/s", "limited by", "a million photos", "a thousand million")
    return f"{markdown_table(heading, rows)}\n\n{text}"


if __name__ == "__main__":
    run(main)
