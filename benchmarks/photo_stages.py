"""What a photo costs on its way into a gallery: two ways of decoding it and finding its contours, beside peers.

    python benchmarks/photo_stages.py --photos ~/Pictures --out results/indexing/photo_stages.json

"forest at 512" is the way of models whose manifest names no decoded side: photos decoded at 512 pixels and the forest
of sketch tokens. "network at 256" is that of models that name 256: decoded once at that side for the image network, the
contour network and the thumbnail. Both run the same image network. The peers are Pillow's decoding of the whole file,
Canny and HED. All are timed in turns, in processor time on one core.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Annotated, Any, Self

import numpy as np
import typer
from numpy.typing import NDArray

from sketchhash.imaging import fit_square, read_photo, read_small_photo, shrink, thumbnail
from sketchhash.model.folder import default_model_folder
from sketchhash.results import NO_VALUE, markdown_table
from sketchhash.tokens import WORKING_SIDE, Detector, TokenStyle, detector, token_map
from stages import Stages, take_samples
from timing import RecordFile, ShownRecord, finish, read_record, run, say

Picture = NDArray[np.uint8]

BEFORE, AFTER = "forest at 512", "network at 256"
STAGES = ("decode", "squeeze", "tokens", "network", "thumbnail")

_BATCH = 16  # as in indexing
_SIDE_BEFORE = 512
_NOTE = (
    "Milliseconds of processor time a photo on one core, the median of all rounds. For comparison: the image encoder "
    "of CLIP ViT-B/32 takes 8.8 GFLOPs a photo (docs/model_profile.csv of open_clip)."
)


@dataclass(frozen=True)
class PhotoStages:
    """All that was measured, in milliseconds of processor time a photo.

    Attributes:
        source: Where the photos are from.
        ways: The stages of each way.
        peers: What the peers take.
        per_second: Photos a second of each way, by the number of threads.
    """

    source: str
    ways: Mapping[str, Mapping[str, float]]
    peers: Mapping[str, float]
    per_second: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        return cls(**{name: record[name] for name in ("source", "ways", "peers", "per_second")})


class Way:
    """One way from a file to what a gallery keeps, stage by stage."""

    def __init__(self, stages: Stages, contours: Detector, decode: Callable[[bytes], Picture]) -> None:
        """Take the image network and the sizes of ``stages``."""
        self.decode = decode
        self._stages, self._contours = stages, contours
        self._size = stages.manifest.photos.size if stages.manifest.photos else WORKING_SIDE
        self._style = TokenStyle(ink=stages.manifest.ink.style)

    def squeeze(self, photo: Picture) -> Picture:
        """Squeeze a photo to the square of the image network."""
        return fit_square(photo, self._size)

    def tokens(self, photo: Picture) -> Picture:
        """Draw the contours of a photo."""
        return token_map(photo, self._contours, self._stages.manifest.ink.size, self._style)

    def network(self, inputs: Mapping[str, Picture]) -> object:
        """Run the image network."""
        return self._stages.image.run(inputs)

    def inputs(self, photos: Sequence[Picture]) -> dict[str, Picture]:
        """Prepare photos for the image network."""
        prepared = {"tokens": np.stack([self.tokens(photo) for photo in photos])} if self._stages.has_tokens else {}
        if self._stages.manifest.photos:
            prepared["photos"] = np.stack([self.squeeze(photo) for photo in photos])
        return prepared

    def all_stages(self, files: Sequence[bytes]) -> None:
        """Do everything that indexing does with a batch but read and write it."""
        photos = [self.decode(file) for file in files]
        self.network(self.inputs(photos))
        for photo in photos:
            thumbnail(photo)


def main(
    model: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The model folder; otherwise the default one.")
    ] = None,
    photos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Measure with photos below this folder."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="How many different photos.")] = 32,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is measured.")] = 5,
    threads: Annotated[
        list[int] | None, typer.Option(min=1, help="Threads; repeat for several. [1 and all cores]")
    ] = None,
    peers: Annotated[bool, typer.Option(help="Measure Canny and HED, too.")] = True,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Time the stages of a photo before and after, beside peers."""
    if show is not None:
        costs = read_record(show, PhotoStages.from_record)
    else:
        os.environ.setdefault("OPENCV_FOR_THREADS_NUM", "1")
        taken = take_samples(samples, photos)
        folder = default_model_folder() if model is None else model
        counts = threads or sorted({1, os.cpu_count() or 1})
        costs = measure(folder, taken.photo_files, taken.source, rounds, counts, peers)
    finish(page(costs), asdict(costs), out)


def measure(
    folder: Path, files: Sequence[bytes], source: str, rounds: int, threads: Sequence[int], has_peers: bool
) -> PhotoStages:
    """Measure all stages of both ways with the image network in ``folder``."""
    stages = Stages(folder)
    ways = {
        BEFORE: Way(
            stages,
            detector("sketch-tokens"),
            lambda file: shrink(read_photo(file, longest=_SIDE_BEFORE), _SIDE_BEFORE),
        ),
        AFTER: Way(stages, detector("contour-net"), lambda file: read_small_photo(file, WORKING_SIDE)),
    }
    tasks: dict[tuple[str, str], tuple[Callable[[Any], object], Sequence[Any]]] = {}
    for name, way in ways.items():
        pictures = [way.decode(file) for file in files]
        batch = way.inputs(pictures[:_BATCH])
        each: dict[str, Callable[[Any], object]] = {
            "decode": way.decode,
            "squeeze": way.squeeze,
            "tokens": way.tokens,
            "thumbnail": thumbnail,
        }
        tasks |= {(name, stage): (work, files if stage == "decode" else pictures) for stage, work in each.items()}
        tasks[name, "network"] = (way.network, [batch])
    if has_peers:
        small = [read_small_photo(file, WORKING_SIDE) for file in files]
        tasks["peers", "Pillow, the whole file"] = (read_photo, files)
        tasks["peers", "Canny, scores"] = (detector("canny").detect, small)
        tasks["peers", "HED, scores"] = (detector("hed").detect, small[:4])
    say("Timing the stages ...")
    times = _in_turns(tasks, rounds)
    size = min(_BATCH, len(files))
    per_photo = {key: time / size if key[1] == "network" else time for key, time in times.items()}
    per_second = {}
    batches = [files[start : start + size] for start in range(0, len(files) - size + 1, size)]
    for name, way in ways.items():
        say(f"Timing all stages, {name} ...")
        per_second[name] = {str(count): _per_second(way, batches, count, rounds) for count in threads}
    return PhotoStages(
        source,
        {name: {stage: per_photo[name, stage] for stage in STAGES} for name in ways},
        {name: time for (group, name), time in per_photo.items() if group == "peers"},
        per_second,
    )


def page(costs: PhotoStages) -> str:
    """Draw up the tables."""
    rows = [
        (name, *(f"{way[stage]:.1f}" for stage in STAGES), f"{sum(way.values()):.1f}")
        for name, way in costs.ways.items()
    ]
    table = markdown_table(("way", *STAGES, "together"), rows)
    counts = sorted({int(count) for way in costs.per_second.values() for count in way})
    speeds = [
        (name, *(f"{way[str(count)]:.1f}" if str(count) in way else NO_VALUE for count in counts))
        for name, way in costs.per_second.items()
    ]
    speed_table = markdown_table(("photos a second", *(f"{count} threads" for count in counts)), speeds)
    peers = markdown_table(("peer", "ms"), [(name, f"{time:.1f}") for name, time in costs.peers.items()])
    return "\n\n".join([costs.source, table, speed_table, peers, _NOTE])


def _in_turns(tasks: Mapping[Any, tuple[Callable[[Any], object], Sequence[Any]]], rounds: int) -> dict[Any, float]:
    """Run all tasks over their inputs in turns; return the median over the rounds of milliseconds an input."""
    times: dict[Any, list[float]] = {key: [] for key in tasks}
    for work, inputs in tasks.values():
        work(inputs[0])
    for _ in range(rounds):
        for key, (work, inputs) in tasks.items():
            start = process_time()
            for each in inputs:
                work(each)
            times[key].append(1000 * (process_time() - start) / len(inputs))
    return {key: median(some) for key, some in times.items()}


def _per_second(way: Way, batches: Sequence[Sequence[bytes]], threads: int, rounds: int) -> float:
    """Return photos a second, by the clock, of so many threads that take batches."""
    work = [batch for _ in range(max(rounds, threads)) for batch in batches]
    start = perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(way.all_stages, work))
    return sum(map(len, work)) / (perf_counter() - start)


if __name__ == "__main__":
    run(main)
