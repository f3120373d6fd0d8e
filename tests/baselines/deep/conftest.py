"""A dataset of three shapes, drawn and photographed, as the deep methods are given them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.baselines.method import Views

EACH = 5
SHAPES = ("bar", "cross", "disc")


@pytest.fixture(scope="session")
def shape_views() -> Views:
    """15 sketches of 64 pixels and 15 photos of 72 × 60; the labels have gaps."""
    rng = np.random.default_rng(0)
    labels = np.repeat([2, 5, 9], EACH)
    sketches, photos = [], []
    for shape in np.repeat(SHAPES, EACH):
        sketch = Image.new("L", (64, 64), 255)
        _draw(sketch, shape, rng, ink=0)
        sketches.append(np.array(sketch))
        photo = Image.new("RGB", (72, 60), tuple(map(int, rng.integers(150, 250, 3))))
        _draw(photo, shape, rng, ink=tuple(map(int, rng.integers(0, 80, 3))))
        photos.append(np.array(photo))
    return Views(photos, labels, sketches, labels)


def _draw(picture, shape, rng, ink) -> None:
    left, top = map(int, rng.integers(4, 12, 2))
    right, bottom = map(int, rng.integers(44, 56, 2))
    pen = ImageDraw.Draw(picture)
    if shape == "bar":
        pen.line([left, (top + bottom) // 2, right, (top + bottom) // 2], fill=ink, width=3)
    elif shape == "cross":
        pen.line([left, top, right, bottom], fill=ink, width=3)
        pen.line([left, bottom, right, top], fill=ink, width=3)
    else:
        pen.ellipse([left, top, right, bottom], outline=ink, width=3)
