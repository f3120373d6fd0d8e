"""A dataset of four shapes, drawn and photographed, that a tiny network learns in a second."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

CATEGORIES = ("bar", "cross", "disc", "fence")


@pytest.fixture(scope="session")
def shapes(tmp_path_factory) -> Path:
    """Return a folder with 6 sketches and 6 photos of each shape."""
    root = tmp_path_factory.mktemp("shapes")
    for seed, category in enumerate(CATEGORIES):
        rng = np.random.default_rng(seed)
        for number in range(6):
            sketch = Image.new("L", (64, 64), 255)
            _draw(sketch, category, rng, ink=0)
            _save(sketch, root / "sketches" / category / f"{number}.png")
            photo = Image.new("RGB", (64, 64), tuple(map(int, rng.integers(150, 250, 3))))
            _draw(photo, category, rng, ink=tuple(map(int, rng.integers(0, 80, 3))))
            _save(photo, root / "photos" / category / f"{number}.png")
    return root


def _draw(picture, category, rng, ink) -> None:
    left, top = map(int, rng.integers(6, 14, 2))
    right, bottom = map(int, rng.integers(48, 58, 2))
    draw = ImageDraw.Draw(picture)
    if category == "bar":
        draw.line([left, (top + bottom) // 2, right, (top + bottom) // 2], fill=ink, width=3)
    elif category == "cross":
        draw.line([left, top, right, bottom], fill=ink, width=3)
        draw.line([left, bottom, right, top], fill=ink, width=3)
    elif category == "disc":
        draw.ellipse([left, top, right, bottom], outline=ink, width=3)
    else:
        for x in np.linspace(left, right, 5):
            draw.line([x, top, x, bottom], fill=ink, width=3)


def _save(picture: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)
