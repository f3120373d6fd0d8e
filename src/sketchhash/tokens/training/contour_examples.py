"""What the contour network learns from: crops of photos, with what people traced and what the teacher saw in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torch.nn import functional

from sketchhash.errors import require
from sketchhash.tokens.training.bsds import TracedPhoto
from sketchhash.tokens.training.contour_layers import Plan

_SCALES = (1.0, 0.72, 0.52)  # of a traced photo, so that contours are known at the 256 pixels of token maps, too


@dataclass(frozen=True, eq=False)
class Batch:
    """Crops ``(n, 3, side, side)``, annotators' share and teacher's score ``(n, side, side)``, and which are traced."""

    photos: Tensor
    share: Tensor
    label: Tensor
    is_traced: Tensor


@dataclass(frozen=True, eq=False)
class Examples:
    """Stacks ``(5, h, w)`` of bytes: red, green, blue, annotators' share, teacher's score; traced at each scale."""

    traced: Sequence[Sequence[NDArray[np.uint8]]]
    untraced: Sequence[NDArray[np.uint8]]

    def draw(self, plan: Plan, rng: np.random.Generator) -> Batch:
        """Draw a batch: cropped anywhere, turned, mirrored and scaled a little, in other light."""
        crops, traced = [], []
        for _ in range(plan.batch):
            is_traced = not self.untraced or rng.random() >= plan.untraced
            if is_traced:
                scales = self.traced[int(rng.integers(len(self.traced)))]
                crops.append(_crop(scales[int(rng.integers(len(scales)))], plan.crop, rng.uniform(0.9, 1.15), rng))
            else:
                crops.append(
                    _crop(self.untraced[int(rng.integers(len(self.untraced)))], plan.crop, rng.uniform(0.8, 1.1), rng)
                )
            traced.append(is_traced)
        stacked = torch.cat(crops) / 255
        light = torch.stack([_light(rng) for _ in crops])
        photos = (stacked[:, :3] * light[:, :3, None, None] + light[:, 3:, None, None]).clamp(0, 1) - 0.5
        return Batch(
            photos.contiguous(memory_format=torch.channels_last), stacked[:, 3], stacked[:, 4], torch.tensor(traced)
        )


def _crop(stack: NDArray[np.uint8], side: int, zoom: float, rng: np.random.Generator) -> Tensor:
    """Cut a square out of a stack, turned, perhaps mirrored: ``(1, 5, side, side)``."""
    height, width = stack.shape[1:]
    angle = np.deg2rad(rng.choice([0, 0, 90, 180, 270]) + rng.uniform(-15, 15) * (rng.random() < 0.5))
    mirror = rng.choice([-1.0, 1.0])
    half = side / 2 / zoom
    x, y = (rng.uniform(min(half, length / 2), max(length - half, length / 2)) for length in (width, height))
    cos, sin = np.cos(angle) * half, np.sin(angle) * half
    # From the crop's coordinates in [-1, 1] to the stack's, first in pixels, then in its own [-1, 1].
    turn = np.array([[mirror * cos, -sin, x], [mirror * sin, cos, y]]) * [[2 / width], [2 / height]] - [
        [0, 0, 1],
        [0, 0, 1],
    ]
    grid = functional.affine_grid(torch.from_numpy(turn[None]).float(), [1, 5, side, side], align_corners=False)
    picture = torch.from_numpy(stack[None]).float()
    return functional.grid_sample(picture, grid, mode="bilinear", padding_mode="reflection", align_corners=False)


def _light(rng: np.random.Generator) -> Tensor:
    """Draw a factor for each colour and an offset for all: ``(4,)``."""
    if rng.random() < 0.5:
        return torch.tensor([1.0, 1.0, 1.0, 0.0])
    factors = rng.uniform(0.7, 1.3) * (rng.uniform(0.85, 1.15, 3) if rng.random() < 0.4 else np.ones(3))
    return torch.tensor([*factors, rng.uniform(-0.1, 0.1)], dtype=torch.float32)


def traced_pyramid(photo: TracedPhoto, label: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """Stack a traced photo at each scale."""
    height, width = label.shape
    sizes = [(round(width * scale), round(height * scale)) for scale in _SCALES]
    return [
        stacked_photo(_resized(photo.photo, size), _share_of_annotators(photo, size), _resized(label, size))
        for size in sizes
    ]


def stacked_photo(
    photo: NDArray[np.uint8], share: NDArray[np.float64] | None, label: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Stack colours, annotators' share and teacher's score: ``(5, h, w)``."""
    shares = np.zeros(label.shape) if share is None else np.rint(255 * share)
    return np.concatenate([photo.transpose(2, 0, 1), shares[None].astype(np.uint8), label[None]])


def _share_of_annotators(photo: TracedPhoto, size: tuple[int, int] | None = None) -> NDArray[np.float64]:
    """Return the share of annotators with a contour at each pixel or beside it, at a ``size`` of width and height."""
    height, width = photo.contours.shape[1:]
    if size in (None, (width, height)):
        near = require("scipy.ndimage", "train").binary_dilation(photo.contours, np.ones((1, 3, 3)))
        return np.asarray(near.mean(axis=0))
    shares: NDArray[np.float64] = np.mean(
        [_resized(np.uint8(255) * lines, size) > 64 for lines in photo.contours], axis=0
    )
    return shares


def _resized(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    if pixels.shape[1::-1] == size:
        return pixels
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))
