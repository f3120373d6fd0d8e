"""Model folders whose networks compute in 8-bit integers, to be measured: nothing ships them.

*Dynamic* quantisation stores weights in 8 bits and measures the range of activations in every call. *Static*
quantisation measures the ranges once, on pictures that the networks were trained on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sketchhash.benchmark.model_speed.stages import Inputs
from sketchhash.errors import require
from sketchhash.model import manifest, read_manifest, write_model


def write_dynamic(source: Path, target: Path) -> None:
    """Write the model in ``source`` with weights in 8 bits."""
    quantisation = _quantisation()

    def quantise(graph: Path, quantised: Path) -> None:
        # Convolutions of integers exist for unsigned weights alone.
        quantisation.quantize_dynamic(graph, quantised, weight_type=quantisation.QuantType.QUInt8)

    _write(source, target, {name: quantise for name in (manifest.IMAGE_NETWORK, manifest.SKETCH_NETWORK)})


def write_static(source: Path, target: Path, photos: Sequence[Inputs], sketches: Sequence[Inputs]) -> None:
    """Write the model in ``source`` with weights and activations in 8 bits, by what these pictures lead to."""
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
    """Give pictures in the form that calibration asks for them."""

    class Reader(quantisation.CalibrationDataReader):  # type: ignore[misc]  # its base is untyped
        def __init__(self) -> None:
            self._left = iter(inputs)

        def get_next(self) -> dict[str, object] | None:
            following = next(self._left, None)
            return None if following is None else dict(following)

    return Reader()


@contextmanager
def _silent() -> Iterator[None]:
    """Keep back advice on pre-processing, which is written to the root logger."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
