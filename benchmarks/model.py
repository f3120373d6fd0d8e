"""How fast and how large a model folder is: stage by stage, in memory, served, and in other number formats.

python benchmarks/model.py --photos ~/Pictures
python benchmarks/model.py --run my-model.run --data DATA      # beside PyTorch and other number formats
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

import serving
from sketchhash import datasets
from sketchhash.codes import pack
from sketchhash.errors import BadArgument, require
from sketchhash.evaluation import EvaluationData, PhotoLimit
from sketchhash.gallery import GalleryFile
from sketchhash.gallery.photos import decode
from sketchhash.imaging import Drawing, fit_square
from sketchhash.model import Model, read_manifest
from sketchhash.model.folder import default_model_folder
from sketchhash.results import NO_VALUE, markdown_table
from stages import Samples, Stages, take_samples
from timing import Cost, RecordFile, Timing, cost, finish, in_another_process, resident_bytes, run, say

if TYPE_CHECKING:
    from number_formats import FormatResult
    from sketchhash.dsh.networks import HashNetwork, NetworkSpec

_BATCH = 16  # as in indexing
_SERVED_SECONDS = 5.0


@dataclass(frozen=True)
class ModelSpeed:
    """The size and the speed of a model folder.

    Attributes:
        model: Its name.
        bits: The length of its codes.
        files: Bytes of each file.
        photos_from: Where the photos are from.
        sketches: Cost of a sketch by stage, one core.
        photos: Cost of a photo by stage, one core.
        indexing: Photos from files to codes, by the number of threads; ``per_second`` counts photos.
    """

    model: str
    bits: int
    files: Mapping[str, int]
    photos_from: str
    sketches: Mapping[str, Cost]
    photos: Mapping[str, Cost]
    indexing: Mapping[int, Cost]


@dataclass(frozen=True)
class Memory:
    """Bytes that processes hold: with Python alone, with the model in ONNX, and with it in PyTorch if measured."""

    bare: int
    onnx: int
    torch: int | None = None


@dataclass(frozen=True)
class ModelRecord:
    """Everything that was measured; ``service`` is a server with as many random codes as it says."""

    speed: ModelSpeed
    memory: Memory
    service: serving.ServingTimes
    formats: tuple[FormatResult, ...] = ()

    def page(self) -> str:
        """Return everything as Markdown."""
        parts = [
            f"# {self.speed.model}: {self.speed.bits} bits, {sum(self.speed.files.values()):,} bytes",
            markdown_table(("file", "bytes"), ((name, f"{size:,}") for name, size in self.speed.files.items())),
            _cost_table("sketch, one core", self.speed.sketches),
            _cost_table("photo, one core", self.speed.photos),
            _indexing_table(self.speed),
            f"Photos: {self.speed.photos_from}. Processor time hardly depends on what else the machine does.",
            _memory_table(self.memory, self.service),
            *([_format_table(self.formats)] if self.formats else ()),
            _published(self.speed.bits),
        ]
        return "\n\n".join(parts)


def main(
    model: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The model folder; otherwise the default one.")
    ] = None,
    photos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Time with photos below this folder."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="How many different sketches and photos.")] = 32,
    seconds: Annotated[float, typer.Option(min=0, help="How long each number is measured.")] = 2.0,
    codes: Annotated[int, typer.Option(min=1, max=10_000_000, help="Codes in the gallery that is served.")] = 1_000_000,
    run_folder: Annotated[
        Path | None,
        typer.Option("--run", metavar="RUN", help="A training run's folder: compare number formats, and PyTorch."),
    ] = None,
    data: Annotated[str | None, typer.Option(metavar="DIR", help="The dataset that run was trained on.")] = None,
    data_photos: Annotated[
        str | None, typer.Option(metavar="DIR", help="Its photos, if they are another dataset's.")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A dataset that was joined with it; repeat for several.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Photos a category for the mAP of number formats.")] = 20,
    out: RecordFile = None,
) -> None:
    """Measure a model folder: bytes, milliseconds by stage, photos a second, memory, and number formats."""
    if (run_folder is None) != (data is None):
        raise BadArgument("--run and --data go together: the run's networks are measured on its data.")
    folder = default_model_folder() if model is None else model
    say("Timing the stages ...")
    speed = measure(folder, take_samples(samples, photos), seconds)
    say(f"Serving {codes:,} random codes ...")
    service = serve_random_codes(folder, codes, min(_SERVED_SECONDS, 1 + seconds))
    memory = Memory(in_another_process(resident_bytes), in_another_process(_load_model, folder))
    record = ModelRecord(speed, memory, service)
    if run_folder is not None and data is not None:
        torch_memory, formats = _compare_formats(run_folder, [data, *(also or ())], data_photos, most, seconds)
        record = replace(record, memory=replace(memory, torch=torch_memory), formats=tuple(formats))
    finish(record.page(), asdict(record), out)


def measure(folder: Path, samples: Samples, seconds: float, threads: tuple[int, ...] = (1, 2)) -> ModelSpeed:
    """Time everything, each number for about ``seconds``."""
    manifest = read_manifest(folder)
    stages, model = Stages(folder), Model.load(folder)
    return ModelSpeed(
        model=manifest.name,
        bits=manifest.bits,
        files={path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()},
        photos_from=samples.source,
        sketches=_sketch_costs(stages, samples, seconds),
        photos=_photo_costs(stages, samples, seconds),
        indexing={count: _indexing_cost(model, samples, seconds, count) for count in threads},
    )


def model_bytes(folder: Path) -> int:
    """Return the memory of a process that has encoded a sketch and a photo with a model folder."""
    return in_another_process(_load_model, folder)


def torch_bytes(network: HashNetwork) -> int:
    """Return the memory of a process that has done the same with the network in PyTorch."""
    import torch

    with TemporaryDirectory() as place:
        weights = Path(place) / "weights.pt"
        torch.save(network.state_dict(), weights)
        return in_another_process(_load_network, network.spec, weights)


def serve_random_codes(folder: Path, codes: int, seconds: float) -> serving.ServingTimes:
    """Serve a gallery of so many random codes to one user, and return times and memory."""
    with TemporaryDirectory() as place:
        path = Path(place) / "random.gallery"
        with GalleryFile.create(path, Model.load(folder)) as gallery:
            serving.fill_with_random_codes(gallery, codes)
        return serving.measure(path, folder, users=1, seconds=seconds)


def _compare_formats(
    run_folder: Path, data: Sequence[str], photos: str | None, most: int, seconds: float
) -> tuple[int, list[FormatResult]]:
    """Return the memory that the run's networks take in PyTorch, and the results of all number formats."""
    require("torch", "train")
    from number_formats import compare
    from sketchhash.dsh import runs

    first, *more = data
    collections = [datasets.open_dataset(first, photos), *map(datasets.open_dataset, more)]
    job, network = runs.reopen(run_folder, datasets.join(collections))
    settings = EvaluationData(collections, job.split, PhotoLimit(most)).settings()
    say("Exporting, scoring and timing the run's networks in several number formats ...")
    results = compare(job, network, settings, seconds)
    return torch_bytes(network), results


def _sketch_costs(stages: Stages, samples: Samples, seconds: float) -> dict[str, Cost]:
    inputs = [stages.sketch_inputs([stages.ink(drawing)]) for drawing in samples.drawings]

    def encode(sketch: Drawing | bytes) -> object:
        return pack(stages.sketch.run(stages.sketch_inputs([stages.ink(sketch)])))

    return {
        "strokes to ink": cost(stages.ink, samples.drawings, seconds),
        "picture to ink": cost(stages.ink, samples.sketch_files, seconds),
        "network": cost(stages.sketch.run, inputs, seconds),
        "strokes to code": cost(encode, samples.drawings, seconds),
        "picture to code": cost(encode, samples.sketch_files, seconds),
    }


def _photo_costs(stages: Stages, samples: Samples, seconds: float) -> dict[str, Cost]:
    decoded = [decode(file) for file in samples.photo_files]
    inputs = [stages.photo_inputs([photo]) for photo in decoded]
    costs = {"decoding": cost(decode, samples.photo_files, seconds)}
    if stages.manifest.photos:
        side = stages.manifest.photos.size
        costs["squeezing"] = cost(lambda photo: fit_square(photo, side), decoded, seconds)
    if stages.has_tokens:
        costs["tokens"] = cost(stages.tokens, decoded, seconds)
    costs["network"] = cost(stages.image.run, inputs, seconds)
    return costs


def _indexing_cost(model: Model, samples: Samples, seconds: float, threads: int) -> Cost:
    """Time files to codes in batches, a batch a thread at a time, as in indexing; storing is left out."""
    files = samples.photo_files
    size = min(_BATCH, len(files))
    batches = [files[start : start + size] for start in range(0, len(files) - size + 1, size)]
    taken = cost(lambda some: pack(model.encode_photos([decode(file) for file in some])), batches, seconds, threads)
    return taken.each_of(size)


def _load_model(folder: Path) -> int:
    model = Model.load(folder)
    size = model.manifest.ink.size
    model.encode_sketches(np.full((1, size, size), 255, dtype=np.uint8))
    model.encode_photos([np.zeros((size, size, 3), dtype=np.uint8)])
    return resident_bytes()


def _load_network(spec: NetworkSpec, weights: Path) -> int:
    import torch

    from sketchhash.dsh.networks import build_network

    torch.set_num_threads(1)
    network = build_network(spec, seed=0, pretrained=False).eval()
    network.load_state_dict(torch.load(weights, weights_only=True))
    ink = torch.zeros(1, 1, spec.ink_side, spec.ink_side, dtype=torch.uint8)
    photos = torch.zeros(1, 3, spec.photo_side, spec.photo_side, dtype=torch.uint8)
    with torch.inference_mode():
        network.encode_sketches(ink)
        network.encode_photos(photos, ink)
    return resident_bytes()


def _cost_table(title: str, costs: Mapping[str, Cost]) -> str:
    rows = ((stage, f"{each.milliseconds:.2f} ms", f"{each.cpu_milliseconds:.2f} ms") for stage, each in costs.items())
    return markdown_table((title, "by the clock (median)", "processor time (mean)"), rows)


def _indexing_table(speed: ModelSpeed) -> str:
    rows = (
        (threads, f"{each.per_second:.1f}", f"{each.cpu_milliseconds:.1f} ms")
        for threads, each in speed.indexing.items()
    )
    return markdown_table(("files to codes, threads", "photos/s", "processor time a photo"), rows)


def _memory_table(memory: Memory, service: serving.ServingTimes) -> str:
    rows = [
        ("Python alone", _megabytes(memory.bare)),
        ("with this model loaded, a sketch and a photo encoded", _megabytes(memory.onnx)),
        *([("the same networks in PyTorch", _megabytes(memory.torch))] if memory.torch is not None else ()),
        (f"service with {service.photos:,} codes, searched", _megabytes(service.memory.end)),
    ]
    answers = (
        f"Its answers to one user: p50 {1000 * service.p50_seconds:.1f} ms, p99 {1000 * service.p99_seconds:.1f} ms."
    )
    return f"{markdown_table(('process', 'memory'), rows)}\n\n{answers}"


def _format_table(formats: Sequence[FormatResult]) -> str:
    settings = list(formats[0].scores)
    heading = ("networks", "bytes", "sketch", "photo", "photo, batched", *(f"mAP {setting}" for setting in settings))
    rows = (
        (
            each.name,
            f"{each.bytes:,}",
            _milliseconds(each.times.sketch),
            _milliseconds(each.times.photo),
            _milliseconds(each.times.batch),
            *(_against(each.scores[setting], formats[0].scores[setting]) for setting in settings),
        )
        for each in formats
    )
    note = "Networks alone, one thread, median; in brackets the difference to the first line."
    return f"{markdown_table(heading, rows)}\n\n{note}"


def _published(bits: int) -> str:
    return (
        f"This model stores {bits // 8} bytes a photo. For scale, published and not measured here: CLIP ViT-B/32 has "
        "about 151 million parameters and describes a photo by 512 values, which are 2,048 bytes in float32."
    )


def _against(score: float, first: float) -> str:
    return f"{score:.3f} ({score - first:+.3f})"


def _milliseconds(timing: Timing) -> str:
    return f"{1000 * timing.p50:.2f} ms"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size else NO_VALUE  # only Linux tells


if __name__ == "__main__":
    run(main)
