"""Small pictures and datasets that the tests make for themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from PIL import Image, ImageDraw

# Machines are shared and noisy: a slow example is no defect.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


@pytest.fixture
def paint_photo() -> Callable[[Path, int], Path]:
    """Give a function that writes a small coloured JPEG photo, different for each seed."""

    def paint(path: Path, seed: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((64, 48)).save(path, format="JPEG")
        return path

    return paint


@pytest.fixture
def paint_sketch() -> Callable[[Path, int], Path]:
    """Give a function that writes a small black-on-white PNG sketch, different for each seed."""

    def paint(path: Path, seed: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = Image.new("L", (64, 64), 255)
        points = np.random.default_rng(seed).integers(8, 56, (5, 2))
        ImageDraw.Draw(picture).line([tuple(map(int, point)) for point in points], fill=0, width=2)
        picture.save(path, format="PNG")
        return path

    return paint
