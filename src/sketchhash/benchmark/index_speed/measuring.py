"""Index photos, time it, and time each of its stages alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from sketchhash.benchmark.index_speed.figures import WRITE, IndexingFigures, Run
from sketchhash.benchmark.model_speed import Samples
from sketchhash.benchmark.model_speed.stages import Stages
from sketchhash.benchmark.model_speed.timing import Cost, cost
from sketchhash.gallery import GalleryFile, PhotoFile, index_events
from sketchhash.gallery.database import Writer
from sketchhash.gallery.photos import decode, read_file
from sketchhash.gallery.workers import WorkerProcesses
from sketchhash.imaging import fit_square, thumbnail
from sketchhash.model import Model

_BATCH = 16  # as indexing has it
_COLD_ROUNDS = 5


def measure(
    folder: Path, samples: Samples, photos: int, workers: Sequence[int], seconds: float, tell: Callable[[str], None]
) -> IndexingFigures:
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
        paths = _write_photos(place / "photos", samples, photos)
        tell("Timing the stages ...")
        stages = _stages(folder, paths[: len(samples.photo_files)], seconds)
        stages[WRITE] = _write_cost(place, model, paths, seconds)
        cold = _cold_bytes_per_second(paths)
        runs = []
        for count in workers:
            tell(f"Indexing {photos} photos {f'in {count} processes' if count else 'on threads'} ...")
            runs.append(_run(place / f"{count}.gallery", folder, model, paths, count))
        gallery_bytes = (place / f"{workers[-1]}.gallery").stat().st_size / photos
        return IndexingFigures(
            samples.source, mean(path.stat().st_size for path in paths), gallery_bytes, stages, cold, tuple(runs)
        )


def _write_photos(folder: Path, samples: Samples, count: int) -> list[Path]:
    """Write so many files, no two of the same content: what the gallery has already would not be encoded again."""
    folder.mkdir()
    paths = [folder / f"{number:06}.jpg" for number in range(count)]
    for number, path in enumerate(paths):
        picture = samples.photo_files[number % len(samples.photo_files)]
        with path.open("wb") as file:
            file.write(picture + number.to_bytes(8))  # decoders do not look beyond the end of the picture
            file.flush()
            os.fsync(file.fileno())
    return paths


def _stages(folder: Path, paths: Sequence[Path], seconds: float) -> dict[str, Cost]:
    stages = Stages(folder)
    files = [read_file(path)[1] for path in paths]
    pixels = [decode(file) for file in files]
    batch = min(_BATCH, len(pixels))
    costs = {"read": cost(read_file, paths, seconds), "decode": cost(decode, files, seconds)}
    if stages.manifest.photos:
        side = stages.manifest.photos.size
        costs["squeeze"] = cost(lambda photo: fit_square(photo, side), pixels, seconds)
    if stages.has_tokens:
        costs["tokens"] = cost(stages.tokens, pixels, seconds)
    inputs = [stages.photo_inputs(pixels[:batch])]
    costs["encode"] = _each(cost(stages.image.run, inputs, seconds), batch)
    costs["thumbnail"] = cost(thumbnail, pixels, seconds)
    return costs


def _write_cost(place: Path, model: Model, paths: Sequence[Path], seconds: float) -> Cost:
    """Time storing a batch in one transaction, which ends on the disk."""
    file, content = read_file(paths[0])
    small, code = thumbnail(decode(content)), bytes(model.bits // 8)
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

        return _each(cost(store, [None], seconds), _BATCH)


def _each(batch: Cost, size: int) -> Cost:
    return Cost(batch.milliseconds / size, batch.cpu_milliseconds / size, batch.per_second * size, batch.calls * size)


def _cold_bytes_per_second(paths: Sequence[Path]) -> float:
    """Read files that the system has been asked to forget, a few times, and take the best: others use the disk too.

    Gives 0 where the system cannot be asked.
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


def _run(gallery: Path, folder: Path, model: Model, paths: Sequence[Path], workers: int) -> Run:
    workplace = WorkerProcesses(folder, workers) if workers else None

    def index(path: Path, places: Sequence[Path]) -> tuple[float, float, float]:
        start, cpu_start, workers_start = perf_counter(), process_time(), _workers_time()
        with GalleryFile.create(path, model) as opened:
            for _ in index_events(opened, model, places, workers=workplace):
                pass
        return perf_counter() - start, process_time() - cpu_start, _workers_time() - workers_start

    startup, startup_cpu, startup_workers = index(gallery.with_suffix(".startup"), paths[:1])
    seconds, cpu, worker_cpu = index(gallery, [paths[0].parent])
    own = max(0.0, cpu - startup_cpu)
    theirs = max(0.0, worker_cpu - workers * startup_workers)  # one photo starts one worker only
    return Run(workers, len(paths), seconds, startup, own, own + theirs)


def _workers_time() -> float:
    """Give the processor time of all processes that this one has started, and that have ended."""
    times = os.times()
    return times.children_user + times.children_system
