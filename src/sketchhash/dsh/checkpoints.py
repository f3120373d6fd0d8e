"""State on disk that a killed run can go on from: written whole or not at all, read without unpickling code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import nn

from sketchhash.errors import SketchHashError


class UnwritableState(SketchHashError):
    """A checkpoint could not be written; the one before it is still there."""


def write_checkpoint(path: Path, state: Mapping[str, object]) -> None:
    """Write a checkpoint of tensors, numbers and text."""
    _write(path, lambda unfinished: torch.save(dict(state), unfinished))


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint; anything but tensors, numbers and text is refused."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # torch raises many kinds for a damaged file
        raise SketchHashError(f"The checkpoint {path} cannot be read: {problem}. Remove it to start that stage anew.") from problem
    return state


def write_weights(path: Path, module: nn.Module) -> None:
    """Write a module's weights alone, in the safetensors format."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    _write(path, lambda unfinished: unfinished.write_bytes(save(weights)))


def write_array(path: Path, array: NDArray[np.float32]) -> None:
    """Write an array in NumPy's format."""

    def write(unfinished: Path) -> None:
        with unfinished.open("wb") as file:
            np.save(file, array)

    _write(path, write)


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    _write(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def _write(path: Path, write: Callable[[Path], object]) -> None:
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(unfinished)
        unfinished.replace(path)
    except (OSError, RuntimeError) as problem:
        raise UnwritableState(f"{path} cannot be written: {problem}. Make room or choose another place, then --resume.") from problem
    finally:
        unfinished.unlink(missing_ok=True)
