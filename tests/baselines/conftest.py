"""Small classes that the methods can learn, as features and as pictures, and samples of them to encode later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.baselines import Input, Views

PHOTO_COUNTS = (30, 25, 30, 20, 30, 30)
SKETCHES = 20
CATEGORIES = 4
PICTURES = 10
SIDE = 64


@dataclass(frozen=True, eq=False)
class World:
    """What a method learns from, and what it has not seen."""

    training: Views
    unseen: Views


@pytest.fixture(scope="session")
def worlds():
    """The small world of each kind of input."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 20)), rng.normal(size=(6, 18))
    features = World(_clouds(rng, centres, PHOTO_COUNTS, SKETCHES), _clouds(rng, centres, (10,) * 6, 10))
    return {Input.FEATURES: features, Input.PICTURES: World(_pictures(rng, PICTURES), _pictures(rng, PICTURES // 2))}


@pytest.fixture
def views(worlds):
    """Six categories as clouds around centres of their own in each view, of different sizes."""
    return worlds[Input.FEATURES].training


@pytest.fixture
def drawn_pairs(views):
    """Return a function that draws a method's own pairs again, as matrices with a row for every pair."""

    def draw(total, seed=0):
        rows = views.pairs(total // 6, np.random.default_rng(seed))
        return tuple(features[some] for features, some in zip(views.matrices, rows, strict=True))

    return draw


def _clouds(rng, centres, photo_counts, sketches):
    labels = np.repeat(np.arange(6), photo_counts), np.repeat(np.arange(6), sketches)
    photos, sketches = (
        middle[of] + 0.6 * rng.normal(size=(len(of), middle.shape[1]))
        for middle, of in zip(centres, labels, strict=True)
    )
    return Views(photos, labels[0], sketches, labels[1])


def _pictures(rng, each):
    labels = np.repeat(np.arange(CATEGORIES), each)
    return Views(
        [_photo(rng, label) for label in labels], labels, [_sketch(rng, label) for label in labels], labels.copy()
    )


def _sketch(rng, label):
    paper = Image.new("L", (SIDE, SIDE), 255)
    _draw(rng, paper, label, ink=0, width=2)
    return np.array(paper)


def _photo(rng, label):
    ground, thing = rng.integers(180, 256, 3), rng.integers(0, 80, 3)
    photo = Image.new("RGB", (SIDE + 16, SIDE), tuple(ground.tolist()))
    _draw(rng, photo, label, ink=tuple(thing.tolist()), width=5)
    return np.clip(np.array(photo) + rng.normal(scale=3, size=(SIDE, SIDE + 16, 3)), 0, 255).astype(np.uint8)


def _draw(rng, picture, label, ink, width):
    """Draw a ring, a cross, three bars or a zigzag, somewhere about the middle."""
    radius = picture.height * rng.uniform(0.32, 0.4)
    middle = np.array(picture.size) / 2 + rng.uniform(-4, 4, 2)
    lines = [
        [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 2 * np.pi, 25)],
        [(-1, -1), (1, 1), (0, 0), (1, -1), (-1, 1)],
        [(-1, -0.8), (1, -0.8), None, (-1, 0), (1, 0), None, (-1, 0.8), (1, 0.8)],
        [(-0.9, -1), (-0.6, 1), (-0.3, -1), (0, 1), (0.3, -1), (0.6, 1), (0.9, -1)],
    ][label]
    pen, stroke = ImageDraw.Draw(picture), []
    for point in [*lines, None]:
        if point is None:
            pen.line(stroke, fill=ink, width=width)
            stroke = []
        else:
            stroke.append(tuple(map(float, middle + radius * np.array(point) + rng.normal(scale=0.8, size=2))))
