"""State on disk that a killed run can go on from: written whole or not at all, read without running code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from sketchhash.errors import DamagedState, UnwritableState
from sketchhash.files import replacing

Number = TypeVar("Number", np.float32, np.int64, np.uint8)


def write_checkpoint(path: Path, state: Mapping[str, object]) -> None:
    """Write a checkpoint of tensors, numbers and text."""
    _write(path, lambda file: torch.save(dict(state), file))


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint; anything but tensors, numbers and text is refused."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # torch raises many kinds for a damaged file
        raise DamagedState(f"{path} cannot be read: remove it to start that stage anew.") from problem
    return state


def write_weights(path: Path, module: nn.Module) -> None:
    """Write a module's weights alone, in the safetensors format."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    _write(path, lambda file: file.write(save(weights)))


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read what `write_weights` wrote."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as problem:
        raise DamagedState(f"{path} cannot be read: remove it to pre-train anew.") from problem


def write_array(path: Path, array: NDArray[Number]) -> None:
    """Write an array in NumPy's format."""
    _write(path, lambda file: np.save(file, array))


def write_parts(path: Path, shape: tuple[int, ...], parts: Iterable[NDArray[np.float32]]) -> None:
    """Write an array of which only a part is ever in memory: its rows one after the other, the last index fastest."""
    header = {"descr": np.dtype(np.float32).str, "fortran_order": False, "shape": shape}

    def write(file: BinaryIO) -> None:
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(np.ascontiguousarray(part, dtype=np.float32).data)

    _write(path, write)


def read_array(path: Path, shape: tuple[int, ...], dtype: type[Number]) -> NDArray[Number] | None:
    """Open an array of this shape and kind, or return nothing if it is absent or damaged.

    It stays on disk, and what is used of it is in memory as long as there is room. Changes do not reach the file.
    """
    try:
        array: NDArray[Number] = np.load(path, mmap_mode="c")
    except (OSError, EOFError, ValueError):
        return None
    return array if array.shape == shape and array.dtype == dtype else None


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    _write(path, lambda file: file.write(text.encode()))


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            write(file)
    except (OSError, RuntimeError) as problem:  # torch raises the latter when a disk is full
        raise UnwritableState(
            f"{path} cannot be written: {problem}. Make room or choose another place, then --resume."
        ) from problem
