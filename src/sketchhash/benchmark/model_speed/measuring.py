"""Time a model folder stage by stage, and as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sketchhash.benchmark.model_speed.samples import Samples
from sketchhash.benchmark.model_speed.stages import Stages
from sketchhash.benchmark.model_speed.timing import Cost, cost
from sketchhash.codes import pack
from sketchhash.gallery.photos import decode
from sketchhash.imaging import Drawing, fit_square
from sketchhash.model import Model, read_manifest

_BATCH = 16  # as indexing has it


@dataclass(frozen=True)
class Speed:
    """What a model folder weighs and takes.

    Attributes:
        model: Its name.
        bits: The length of its codes.
        files: Bytes of each file.
        photos_from: What the photos are.
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


def measure(folder: Path, samples: Samples, seconds: float, threads: tuple[int, ...] = (1, 2)) -> Speed:
    """Time everything, each number for about ``seconds``."""
    manifest = read_manifest(folder)
    stages, model = Stages(folder), Model.load(folder)
    return Speed(
        model=manifest.name,
        bits=manifest.bits,
        files={path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()},
        photos_from=samples.source,
        sketches=_sketch_costs(stages, samples, seconds),
        photos=_photo_costs(stages, samples, seconds),
        indexing={count: _indexing_cost(model, samples, seconds, count) for count in threads},
    )


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
    """Time files to codes in batches, a batch a thread at a time, as indexing does; storing is left out."""
    files = samples.photo_files
    size = min(_BATCH, len(files))
    batches = [files[start : start + size] for start in range(0, len(files) - size + 1, size)]
    taken = cost(lambda some: pack(model.encode_photos([decode(file) for file in some])), batches, seconds, threads)
    return Cost(taken.milliseconds / size, taken.cpu_milliseconds / size, taken.per_second * size, taken.calls * size)
