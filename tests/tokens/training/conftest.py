"""Photos of one bright shape each, and two annotators who traced its outline a pixel apart."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.tokens.training import Preset, TracedPhoto

SIZE = 72


def _paint(seed: int) -> TracedPhoto:
    rng = np.random.default_rng(seed)
    box = [22 + seed, 24, 48, 46 + seed]
    shape = "ellipse" if seed % 2 else "rectangle"
    photo = Image.fromarray(rng.integers(60, 100, (SIZE, SIZE, 3), dtype=np.uint8))
    getattr(ImageDraw.Draw(photo), shape)(box, fill=(230, 180, 40))
    contours = []
    for shift in (0, 1):
        traced = Image.new("1", (SIZE, SIZE))
        getattr(ImageDraw.Draw(traced), shape)([side + shift for side in box], outline=1)
        contours.append(np.array(traced))
    return TracedPhoto(f"photo-{seed}", np.array(photo), np.stack(contours))


@pytest.fixture(scope="session")
def photos() -> list[TracedPhoto]:
    return [_paint(seed) for seed in range(4)]


@pytest.fixture(scope="session")
def tiny() -> Preset:
    return Preset(positives=40, negatives=60, trees=3, features=600, tokens=5, contours=400)


@pytest.fixture
def bsds_folder(tmp_path, photos):
    """Write the photos the way BSDS500 lies on disk; as PNG inside, so that no pixel changes."""
    for traced in photos:
        image = tmp_path / "bsds" / "images" / "train" / f"{traced.id}.jpg"
        image.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(traced.photo).save(image, format="PNG")
        maps = tmp_path / "bsds" / "boundaries" / "train" / traced.id
        maps.mkdir(parents=True)
        for annotator, contours in enumerate(traced.contours):
            Image.fromarray(contours).save(maps / f"{annotator}.png")
    return tmp_path / "bsds"
