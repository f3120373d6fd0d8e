"""Pictures as tensors: read once into bytes, and turned into what a network is fed when it asks.

An edge map is Canny's edges drawn by the pen that draws sketches, so that a network sees one kind of line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from sketchhash.baselines.views import Given, Picture
from sketchhash.errors import BadArgument
from sketchhash.imaging import fit_square
from sketchhash.tokens import token_map
from sketchhash.tokens.peers import Canny

_MEAN = torch.tensor([123.675, 116.28, 103.53]).view(1, 3, 1, 1)  # of ImageNet, per channel
_DEVIATION = torch.tensor([58.395, 57.12, 57.375]).view(1, 3, 1, 1)


def read_photos(photos: Given, side: int) -> Tensor:
    """Squeeze photos into squares: ``(n, 3, side, side)``, bytes."""
    return _read(photos, lambda photo: fit_square(photo, side).transpose(2, 0, 1), (3, side, side))


def read_edges(photos: Given, side: int) -> Tensor:
    """Draw the edges of photos as ink: ``(n, 1, side, side)``, bytes; about 20 ms a photo."""
    return _read(photos, lambda photo: token_map(photo, Canny(), side), (1, side, side))


def read_ink(sketches: Given, side: int) -> Tensor:
    """Bring sketches to one size: ``(n, 1, side, side)``, bytes."""
    return _read(sketches, lambda sketch: _resized(sketch, side), (1, side, side))


class Ink(nn.Module):
    """Pixels of sketches or edge maps as a network is fed them: paper 0, which padding adds more of, and ink 1."""

    def forward(self, pixels: Tensor) -> Tensor:
        """Map ``(n, 1, side, side)`` from 0–255 to 1–0."""
        return _laid_out(1 - pixels.float() / 255)


class Colour(nn.Module):
    """Pixels as networks that learned from ImageNet are fed them; sketches get three equal channels."""

    def forward(self, pixels: Tensor) -> Tensor:
        """Standardise ``(n, 3, side, side)``, or ``(n, 1, side, side)``, of 0–255."""
        return _laid_out((pixels.float() - _MEAN) / _DEVIATION)


def _laid_out(pixels: Tensor) -> Tensor:
    # Weights and input in this layout: on a processor about twice as fast as torch's default one.
    return pixels.contiguous(memory_format=torch.channels_last)


def _read(pictures: Given, prepare: Callable[[Picture], Picture], shape: tuple[int, int, int]) -> Tensor:
    pixels = np.empty((len(pictures), *shape), dtype=np.uint8)
    for row, picture in enumerate(cast(Sequence[Picture], pictures)):
        if picture.dtype != np.uint8 or picture.ndim not in (2, 3):
            raise BadArgument(f"This method learns from pictures, uint8; got {picture.dtype} of shape {picture.shape}.")
        pixels[row] = prepare(picture)
    return torch.from_numpy(pixels)


def _resized(sketch: Picture, side: int) -> Picture:
    if sketch.shape == (side, side):
        return sketch
    return np.asarray(Image.fromarray(sketch).resize((side, side), Image.Resampling.BILINEAR))
