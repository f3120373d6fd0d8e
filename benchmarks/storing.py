"""What goes through the process that starts a run, if workers store their own batches and if they do not.

    python benchmarks/storing.py --gallery postgresql://127.0.0.1/photos --out results/storing.json

Photos of the synthetic world are indexed by two workers of a local Ray cluster, once into a file, which this process
alone writes, and once into a new gallery on an engine, to which the workers write. The figures are those of this
process: bytes of results that come back for a photo, and its processor time for a photo once the cluster runs. They
hardly depend on what else the machine does, and say how many workers one process can keep busy.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Annotated

import typer

from indexing import write_photos
from sketchhash.engines import create_gallery
from sketchhash.gallery import Progress, index_events
from sketchhash.gallery.examining import Examined, Setup
from sketchhash.gallery.protocol import OpenGallery
from sketchhash.gallery.ray_workers import RayPool, RayWorkers
from sketchhash.gallery.writer import Task
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from stages import take_samples
from timing import RecordFile, finish, run, say

_WORKERS = 2


class CountingPool(RayPool):
    """A pool that counts the bytes of what its workers send back."""

    received = 0

    def examine(self, tasks: Sequence[Task]) -> list[Examined]:
        """Examine files on the cluster."""
        results = super().examine(tasks)
        CountingPool.received += len(pickle.dumps(results))
        return results


class CountingWorkers(RayWorkers):
    """Workers whose answers are counted."""

    def start(self, gallery: OpenGallery) -> CountingPool:
        """Start workers."""
        CountingPool.received = 0
        return CountingPool(self, Setup.of(gallery))


def measure(place: str | Path, folder: Path, model: Model, photos: Path) -> dict[str, float]:
    """Index all photos into a new gallery, and return what that took of this process."""
    with create_gallery(place, model) as gallery:
        begun = used = 0.0
        first = done = 0
        for event in index_events(gallery, model, [photos], workers=CountingWorkers(folder, "local", _WORKERS)):
            if isinstance(event, Progress) and event.done:
                if not begun:  # the cluster runs, and its workers have loaded the model
                    begun, used, first = perf_counter(), process_time(), event.done
                done = event.done
        seconds, cpu = perf_counter() - begun, process_time() - used
    return {
        "photos": done,
        "received_bytes_a_photo": round(CountingPool.received / done),
        "processor_ms_a_photo": round(1000 * cpu / max(done - first, 1), 3),
        "photos_a_second": round((done - first) / seconds, 1),
    }


def main(
    gallery: Annotated[str, typer.Option(metavar="ADDRESS", help="A gallery that is not there yet.")],
    photos: Annotated[int, typer.Option(min=64, help="How many photos to index.")] = 320,
    out: RecordFile = None,
) -> None:
    """Measure what workers send back, and what that costs."""
    folder = default_model_folder()
    model = Model.load(folder)
    with TemporaryDirectory() as place:
        write_photos(Path(place) / "photos", take_samples(32), photos)
        say("into a file ...")
        into_file = measure(Path(place) / "photos.gallery", folder, model, Path(place) / "photos")
        say("into an engine ...")
        into_engine = measure(gallery, folder, model, Path(place) / "photos")
    rows = {"a file, written by one process": into_file, "an engine, written by its workers": into_engine}
    table = markdown_table(
        ("into", "bytes back, a photo", "processor time of the one process, a photo"),
        [
            [name, f"{each['received_bytes_a_photo']:,}", f"{each['processor_ms_a_photo']:.2f} ms"]
            for name, each in rows.items()
        ],
    )
    finish(table, {"workers": _WORKERS, **rows}, out)


if __name__ == "__main__":
    run(main)
