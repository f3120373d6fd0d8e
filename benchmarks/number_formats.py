"""A training run's network in PyTorch and exported in several number formats: size, speed, and the mAP of its codes.

Model folders in 8-bit integers are only measured, never shipped. *Dynamic* quantisation stores weights in 8 bits and
measures the range of activations in every call. *Static* quantisation measures the ranges once, on pictures that the
networks were trained on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.datasets import Item
from sketchhash.dsh.export import Weights, describe, export_model
from sketchhash.dsh.networks import HashNetwork
from sketchhash.dsh.runs import Job
from sketchhash.errors import SketchHashError, require
from sketchhash.evaluation import Setting, labels, mean_average_precision, rank_codes
from sketchhash.evaluation.encodings import ink_picture, photo_picture
from sketchhash.model import manifest, read_manifest, write_model
from stages import Inputs, Picture, Stages
from timing import Schedule, Timing, interleaved

_log = logging.getLogger(__name__)

_BATCH = 16
_CALIBRATED_ON = 64
_SEED = 0
_ROUNDS = 5
_CALLS_A_TURN = 20

Run = Callable[[Inputs], NDArray[np.float32]]
Rows = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class NumberFormat:
    """One way to run the networks; ``bytes`` are those of its two graphs, or of its weights."""

    name: str
    bytes: int
    photos: Run
    sketches: Run


@dataclass(frozen=True)
class FormatTimes:
    """Seconds of one call, on one thread, with pictures that are prepared already."""

    sketch: Timing
    photo: Timing
    batch: Timing


@dataclass(frozen=True)
class FormatResult:
    """Bytes of both networks, times, and mAP by the title of a setting."""

    name: str
    bytes: int
    times: FormatTimes
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Preparation:
    """How items become inputs of the networks: read one by one, then prepared together."""

    read: Callable[[Item], Picture]
    prepare: Callable[[Sequence[Picture]], Inputs]

    @classmethod
    def photos(cls, stages: Stages) -> Preparation:
        """Prepare photos."""
        return cls(photo_picture, stages.photo_inputs)

    @classmethod
    def sketches(cls, stages: Stages) -> Preparation:
        """Prepare sketches."""
        return cls(partial(ink_picture, stages.manifest.ink), stages.sketch_inputs)

    def readable(self, items: Iterable[Item]) -> dict[str, Picture]:
        """Read items, by id; items that cannot be read are left out."""
        found = {}
        for item in items:
            try:
                found[item.id] = self.read(item)
            except (SketchHashError, OSError):
                continue
        return found

    def one_by_one(self, items: Iterable[Item]) -> list[Inputs]:
        """Prepare each readable item for a call of its own."""
        return [self.prepare([picture]) for picture in self.readable(items).values()]


def compare(job: Job, network: HashNetwork, settings: Sequence[Setting], seconds: float) -> list[FormatResult]:
    """Score and time a run's network in every number format."""
    with TemporaryDirectory() as place:
        folders = export_all(job, network, Path(place))
        formats = [*(onnx_format(name, folder) for name, folder in folders.items()), torch_format(network)]
        stages = Stages(folders[Weights.FLOAT32])
        scores = score_formats(formats, stages, settings)
        sketches = Preparation.sketches(stages).one_by_one(settings[0].queries[:_BATCH])
        photos = Preparation.photos(stages).one_by_one(settings[0].gallery[:_BATCH])
        times = time_formats(formats, sketches, photos, seconds)
    return [FormatResult(each.name, each.bytes, times[each.name], scores[each.name]) for each in formats]


def export_all(job: Job, network: HashNetwork, place: Path) -> dict[str, Path]:
    """Write the network in ``float32``, ``float16`` and, where the runtime can, ``int8``: folders by name."""
    folders = {str(weights): place / weights for weights in Weights}
    for weights in Weights:
        export_model(network, job, folders[weights], describe(job), {}, weights)
    plain = folders[Weights.FLOAT32]
    calibration = _calibration(job, Stages(plain))
    integers: dict[str, Callable[[Path], None]] = {
        "int8, dynamic": lambda target: write_dynamic(plain, target),
        "int8, static": lambda target: write_static(plain, target, *calibration),
    }
    for name, write in integers.items():
        target = place / name.replace(", ", "-")
        try:
            write(target)
            Stages(target)
        except Exception as problem:  # the runtime's many errors share no nearer ancestor
            _log.warning("%s networks cannot be made: %s", name, problem)
        else:
            folders[name] = target
    return folders


def onnx_format(name: str, folder: Path) -> NumberFormat:
    """Run the graphs of a model folder."""
    stages = Stages(folder)
    size = sum((folder / graph).stat().st_size for graph in (manifest.IMAGE_NETWORK, manifest.SKETCH_NETWORK))
    return NumberFormat(name, size, stages.image.run, stages.sketch.run)


def torch_format(network: HashNetwork) -> NumberFormat:
    """Run a network eagerly in PyTorch, on one thread."""
    torch.set_num_threads(1)
    network.eval()
    spec = network.spec

    def photos(inputs: Inputs) -> NDArray[np.float32]:
        rows = len(next(iter(inputs.values())))
        absent = np.zeros((rows, spec.ink_side, spec.ink_side), dtype=np.uint8)
        tokens = torch.from_numpy(inputs.get("tokens", absent)).unsqueeze(1)
        pictures = torch.from_numpy(inputs["photos"]).permute(0, 3, 1, 2) if "photos" in inputs else tokens
        with torch.inference_mode():
            return network.encode_photos(pictures, tokens).numpy()

    def sketches(inputs: Inputs) -> NDArray[np.float32]:
        with torch.inference_mode():
            return network.encode_sketches(torch.from_numpy(inputs["sketches"]).unsqueeze(1)).numpy()

    size = sum(tensor.nbytes for tensor in network.state_dict().values())
    return NumberFormat("PyTorch, float32", size, photos, sketches)


def score_formats(
    formats: Sequence[NumberFormat], stages: Stages, settings: Sequence[Setting]
) -> dict[str, dict[str, float]]:
    """Return the mAP of each format's codes in each setting: by the format's name, and by the setting's title.

    Pictures are prepared once for all formats.
    """
    photos = _unique(item for setting in settings for item in setting.gallery)
    sketches = _unique(item for setting in settings for item in setting.queries)
    photo_rows = _encode({each.name: each.photos for each in formats}, photos, Preparation.photos(stages))
    sketch_rows = _encode({each.name: each.sketches for each in formats}, sketches, Preparation.sketches(stages))
    return {
        each.name: {some.title: _score(some, sketch_rows[each.name], photo_rows[each.name]) for some in settings}
        for each in formats
    }


def time_formats(
    formats: Sequence[NumberFormat], sketches: Sequence[Inputs], photos: Sequence[Inputs], seconds: float
) -> dict[str, FormatTimes]:
    """Time all formats in turns, each number for about ``seconds`` a format; a batch is all photos together."""
    batch = {name: np.concatenate([photo[name] for photo in photos]) for name in photos[0]}
    sketch_times = _timed({each.name: each.sketches for each in formats}, sketches, seconds)
    photo_times = _timed({each.name: each.photos for each in formats}, photos, seconds)
    batch_times = _timed({each.name: each.photos for each in formats}, [batch], seconds)
    return {
        each.name: FormatTimes(sketch_times[each.name], photo_times[each.name], batch_times[each.name])
        for each in formats
    }


def write_dynamic(source: Path, target: Path) -> None:
    """Write the model in ``source`` with weights in 8 bits."""
    quantisation = _quantisation()

    def quantise(graph: Path, quantised: Path) -> None:
        # Convolutions of integers exist for unsigned weights alone.
        quantisation.quantize_dynamic(graph, quantised, weight_type=quantisation.QuantType.QUInt8)

    _write(source, target, {name: quantise for name in (manifest.IMAGE_NETWORK, manifest.SKETCH_NETWORK)})


def write_static(source: Path, target: Path, photos: Sequence[Inputs], sketches: Sequence[Inputs]) -> None:
    """Write the model in ``source`` with weights and activations in 8 bits, calibrated on these pictures."""
    quantisation = _quantisation()

    def quantise(graph: Path, quantised: Path, inputs: Sequence[Inputs]) -> None:
        quantisation.quantize_static(
            graph,
            quantised,
            _reader(quantisation, inputs),
            quant_format=quantisation.QuantFormat.QDQ,
            per_channel=True,
            activation_type=quantisation.QuantType.QUInt8,
            weight_type=quantisation.QuantType.QInt8,
        )

    _write(
        source,
        target,
        {
            manifest.IMAGE_NETWORK: lambda graph, quantised: quantise(graph, quantised, photos),
            manifest.SKETCH_NETWORK: lambda graph, quantised: quantise(graph, quantised, sketches),
        },
    )


def _unique(items: Iterable[Item]) -> list[Item]:
    return list({item.id: item for item in items}.values())


def _encode(runs: Mapping[str, Run], items: Sequence[Item], preparation: Preparation) -> dict[str, Rows]:
    found: dict[str, Rows] = {name: {} for name in runs}
    for start in range(0, len(items), _BATCH):
        pictures = preparation.readable(items[start : start + _BATCH])
        if pictures:
            inputs = preparation.prepare(list(pictures.values()))
            for name, run in runs.items():
                found[name] |= dict(zip(pictures, run(inputs), strict=True))
    return found


def _score(setting: Setting, sketches: Rows, photos: Rows) -> float:
    queries = [item for item in setting.queries if item.id in sketches]
    gallery = [item for item in setting.gallery if item.id in photos]
    codes, searched = (
        pack(np.stack([rows[item.id] for item in items])) for rows, items in ((sketches, queries), (photos, gallery))
    )
    return mean_average_precision(rank_codes(codes, searched, labels(queries), labels(gallery))).value


def _timed(runs: Mapping[str, Run], inputs: Sequence[Inputs], seconds: float) -> dict[str, Timing]:
    for run in runs.values():
        run(inputs[0])  # whatever is built at first use

    def call(run: Run) -> Callable[[int], object]:
        return lambda number: run(inputs[number % len(inputs)])

    calls = {name: call(run) for name, run in runs.items()}
    return interleaved(calls, Schedule(_ROUNDS, _CALLS_A_TURN, seconds))


def _calibration(job: Job, stages: Stages) -> tuple[list[Inputs], list[Inputs]]:
    """Prepare some of the pictures that the network was trained on."""
    parts = job.split.apply(job.dataset)
    rng = np.random.default_rng(_SEED)
    photos, sketches = (
        [items[row] for row in rng.permutation(len(items))[:_CALIBRATED_ON].tolist()]
        for items in (parts.training_photos, parts.training_sketches)
    )
    return Preparation.photos(stages).one_by_one(photos), Preparation.sketches(stages).one_by_one(sketches)


def _quantisation() -> Any:  # noqa: ANN401 - onnxruntime is untyped
    require("onnx", "train")
    return require("onnxruntime.quantization", "train")


def _write(source: Path, target: Path, quantise: dict[str, Any]) -> None:
    import onnx

    graphs: dict[str, bytes] = {}
    with TemporaryDirectory() as place, _silent():
        for name, work in quantise.items():
            graph = onnx.load(source / name)
            del graph.graph.value_info[:]  # shapes noted for layers that are about to be transposed
            onnx.save(graph, Path(place) / name)
            work(Path(place) / name, Path(place) / f"quantised-{name}")
            graphs[name] = (Path(place) / f"quantised-{name}").read_bytes()
    weights = source / manifest.TOKEN_WEIGHTS
    write_model(
        target,
        replace(read_manifest(source), files={}),
        image_onnx=graphs[manifest.IMAGE_NETWORK],
        sketch_onnx=graphs[manifest.SKETCH_NETWORK],
        card=(source / manifest.CARD).read_text(encoding="utf-8"),
        extra_files={manifest.TOKEN_WEIGHTS: weights.read_bytes()} if weights.exists() else None,
    )


def _reader(quantisation: Any, inputs: Sequence[Inputs]) -> Any:  # noqa: ANN401
    """Return pictures in the form that calibration takes."""

    class Reader(quantisation.CalibrationDataReader):  # type: ignore[misc]  # its base is untyped
        def __init__(self) -> None:
            self._left = iter(inputs)

        def get_next(self) -> dict[str, object] | None:
            following = next(self._left, None)
            return None if following is None else dict(following)

    return Reader()


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress advice on pre-processing, which is written to the root logger."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
