"""One ONNX graph on the CPU: checked against what it should take and give, then run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import IncompatibleModel
from sketchhash.model.manifest import FETCH_AGAIN

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_ONLY_FATAL = 4


@dataclass(frozen=True)
class Port:
    """An input or output as a graph declares it; ``shape`` leaves out the first axis, which must be free."""

    name: str
    element: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        """Read as ``photos uint8 (n, 224, 224, 3)``."""
        return f"{self.name} {self.element} ({', '.join(map(str, ('n', *self.shape)))})"


class Network:
    """A graph that gives one value per bit for each row of its inputs; safe to run from many threads."""

    def __init__(self, path: Path, inputs: Sequence[Port], bits: int, threads: int) -> None:
        """Open the graph at ``path``, or raise `IncompatibleModel` when it is not one that was asked for."""
        self._session = _open(path, threads)
        output = Port("values", "float", (bits,))
        _check_ports(f"{path} takes", self._session.get_inputs(), inputs)
        _check_ports(f"{path} gives", self._session.get_outputs(), [output])

    def run(self, inputs: Mapping[str, NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Give ``(rows, bits)`` values."""
        values: NDArray[np.float32] = self._session.run(["values"], dict(inputs))[0]
        return values


def _open(path: Path, threads: int) -> InferenceSession:
    # Imported here so that `sketchhash --help` does not wait for the runtime's library.
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ONLY_FATAL
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # the runtime's many errors share no nearer ancestor
        raise IncompatibleModel(f"{path} is not a network that can be run: {problem}. {FETCH_AGAIN}") from problem


def _check_ports(claim: str, declared: list[Any], expected: Sequence[Port]) -> None:
    """Compare names, element types and shapes; the order of inputs does not matter, as they go by name."""
    found = sorted(_describe(port) for port in declared)
    wanted = sorted(map(str, expected))
    if found != wanted:
        raise IncompatibleModel(
            f"{claim} {' and '.join(found)}, but its manifest says {' and '.join(wanted)}. Export the model anew."
        )


def _describe(port: Any) -> str:  # noqa: ANN401 - onnxruntime is untyped
    element = port.type.removeprefix("tensor(").removesuffix(")")
    axes = [str(axis) for axis in port.shape]
    if axes and not isinstance(port.shape[0], int):
        axes[0] = "n"
    return f"{port.name} {element} ({', '.join(axes)})"
