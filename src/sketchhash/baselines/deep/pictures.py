"""Pictures as tensors: read once into bytes, and augmented at random each time they are drawn.

Many pictures do not fit into memory: 204,489 photos of 224 pixels take 31 GB. More than a gigabyte goes to a temporary
file, of which only what is used is in memory, as long as there is room. It disappears with the tensor.

An edge map is Canny edges drawn by the pen that draws sketches, so that a network sees one kind of line.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import cast

import numpy as np
import torch
from PIL import Image
from torch import Generator, Tensor
from torch.nn import functional

from sketchhash.baselines.method import Picture, Samples
from sketchhash.errors import BadArgument, UnwritableState
from sketchhash.imaging import fit_square
from sketchhash.tokens import token_map
from sketchhash.tokens.peers import Canny

_IN_MEMORY = 2**30  # bytes of pixels
_FOLDER: ContextVar[Path | None] = ContextVar("folder", default=None)

_AT_ONCE = 64
_PAPER = 255.0
_ROTATION = 0.2  # radians
_SCALES = (0.85, 1.15)
_SHIFT = 0.1  # of half the side


@contextmanager
def keeping_pixels_in(folder: Path) -> Iterator[None]:
    """Keep pixels that are too many for memory in this folder inside, instead of in the system's temporary one."""
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def read_photos(photos: Samples, side: int) -> Tensor:
    """Squeeze photos into squares: ``(n, 3, side, side)``, bytes."""
    return _read(photos, lambda photo: fit_square(photo, side).transpose(2, 0, 1), (3, side, side))


def read_edges(photos: Samples, side: int) -> Tensor:
    """Draw the edges of photos as ink: ``(n, 1, side, side)``, bytes; about 20 ms a photo."""
    return _read(photos, lambda photo: token_map(photo, Canny(), side), (1, side, side))


def read_ink(sketches: Samples, side: int) -> Tensor:
    """Resize sketches: ``(n, 1, side, side)``, bytes."""
    return _read(sketches, lambda sketch: _resized(sketch, side), (1, side, side))


def in_parts(pictures: Samples) -> Iterator[list[Picture]]:
    """Decode pictures a few at a time, in order; a sequence need not support slices."""
    sequence = cast(Sequence[Picture], pictures)
    for first in range(0, len(sequence), _AT_ONCE):
        yield [sequence[row] for row in range(first, min(first + _AT_ONCE, len(sequence)))]


def augment(pictures: Tensor, generator: Generator) -> Tensor:
    """Mirror half of the pictures ``(n, channels, side, side)``, and rotate, scale and shift all of them a little.

    Beyond its border a picture of ink (one channel) has paper; a photo repeats its edge.
    """
    count = len(pictures)
    angle = _uniform((count,), -_ROTATION, _ROTATION, generator)
    scale = _uniform((count,), *_SCALES, generator)
    mirror = torch.randint(0, 2, (count,), generator=generator) * 2.0 - 1
    maps = torch.stack(
        [scale * mirror * angle.cos(), -scale * angle.sin(), scale * mirror * angle.sin(), scale * angle.cos()], dim=1
    ).view(count, 2, 2)
    shifts = _uniform((count, 2, 1), -_SHIFT, _SHIFT, generator)
    affine = torch.cat([maps, shifts], dim=2).to(pictures.device)
    grid = functional.affine_grid(affine, list(pictures.shape), align_corners=False)
    beyond = "zeros" if pictures.shape[1] == 1 else "border"
    return _PAPER - functional.grid_sample(_PAPER - pictures.float(), grid, padding_mode=beyond, align_corners=False)


def _read(pictures: Samples, prepare: Callable[[Picture], Picture], shape: tuple[int, int, int]) -> Tensor:
    whole = (len(pictures), *shape)
    prepared = (prepare(_checked(picture)) for picture in cast(Sequence[Picture], pictures))
    if prod(whole) > _IN_MEMORY:
        return _mapped(prepared, whole)
    pixels = np.empty(whole, dtype=np.uint8)
    for row, picture in enumerate(prepared):
        pixels[row] = picture
    return torch.from_numpy(pixels)


def _checked(picture: Picture) -> Picture:
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3):
        raise BadArgument(f"This method learns from pictures, uint8; got {picture.dtype} of shape {picture.shape}.")
    return picture


def _mapped(pictures: Iterator[Picture], shape: tuple[int, ...]) -> Tensor:
    """Write pictures to a temporary file one after the other, and map it into memory: ``shape``, bytes."""
    folder = _FOLDER.get() or Path(gettempdir())
    row = np.empty(shape[1:], dtype=np.uint8)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free, needed = shutil.disk_usage(folder).free, prod(shape)
        if free < needed:
            raise UnwritableState(
                f"{folder} has {free / 1e9:.1f} GB free; the pixels to learn from need {needed / 1e9:.1f} GB. Make "
                "room, or choose another --cache."
            )
        with TemporaryFile(dir=folder) as file:
            for picture in pictures:
                row[...] = picture
                file.write(row.data)
            file.flush()
            # Read only: the system refuses a writable map that is larger than the memory. It outlives the open file.
            pixels = np.memmap(file, dtype=np.uint8, mode="r", shape=shape)
    except OSError as problem:
        raise UnwritableState(f"Pixels cannot be kept in {folder}: {problem}. Make room and try again.") from problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch warns that nothing may be written to them
        return torch.from_numpy(pixels)


def _resized(sketch: Picture, side: int) -> Picture:
    if sketch.shape == (side, side):
        return sketch
    return np.asarray(Image.fromarray(sketch).resize((side, side), Image.Resampling.BILINEAR))


def _uniform(shape: tuple[int, ...], low: float, high: float, generator: Generator) -> Tensor:
    return torch.rand(shape, generator=generator) * (high - low) + low
