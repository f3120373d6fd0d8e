"""Four shapes that are easy to tell apart, as outlines that a pen drew and as photos that are filled."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.baselines import Views
from sketchhash.imaging import Drawing, rasterise

TURN = np.linspace(0, 2 * np.pi, 60, endpoint=False)
SHAPES = (
    np.column_stack([np.cos(TURN), np.sin(TURN)]),  # a disc
    np.array([[0, -1], [1, 1], [-1, 1]]),  # a triangle
    np.array([[-1, -0.25], [1, -0.25], [1, 0.25], [-1, 0.25]]),  # a bar
    np.array([[(1 if k % 2 else 0.35) * f(np.pi * k / 5) for f in (np.cos, np.sin)] for k in range(10)]),  # a star
)


def outline(shape, rng):
    return SHAPES[shape] * rng.uniform(0.9, 1.1, 2) + rng.normal(0, 0.02, SHAPES[shape].shape)


def draw_sketch(shape, seed=0, side=120):
    points = outline(shape, np.random.default_rng(seed))
    return rasterise(Drawing((np.concatenate([points, points[:1]]).astype(np.float32),)), side)


def paint_photo(shape, seed=0, side=150, at=(0.5, 0.5), radius=0.4):
    rng = np.random.default_rng(seed)
    dark, light = rng.integers(20, 90, 3), rng.integers(160, 240, 3)
    picture = Image.new("RGB", (side, side), tuple(map(int, light)))
    points = side * (np.array(at) + radius * outline(shape, rng))
    ImageDraw.Draw(picture).polygon([tuple(map(float, point)) for point in points], fill=tuple(map(int, dark)))
    return np.clip(np.array(picture) + rng.normal(0, 3, (side, side, 3)), 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def shapes():
    """Views of the four shapes, five of each."""
    labels = np.repeat(np.arange(4), 5)
    photos = [paint_photo(shape, seed) for seed, shape in enumerate(labels)]
    sketches = [draw_sketch(shape, seed) for seed, shape in enumerate(labels)]
    return Views(photos, labels, sketches, labels)
