"""Tiny models, photos and galleries of them."""

import numpy as np
import pytest
from PIL import Image

from sketchhash.gallery import GalleryFile, Summary, index_events
from sketchhash.model import Model


@pytest.fixture(scope="session")
def make_model(make_model_folder):
    """Return a function that makes tiny models."""
    return lambda **options: Model.load(make_model_folder(**options))


@pytest.fixture(scope="session")
def other_model(make_model):
    return make_model(bits=64, seed=1)


@pytest.fixture
def photo():
    """Return a function that writes a photo, different for each seed."""

    def write(path, seed=0):
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path, format="PNG")
        return path

    return write


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "photos"
    path.mkdir()
    return path


@pytest.fixture
def gallery(tmp_path, model):
    with GalleryFile.create(tmp_path / "test.gallery", model) as gallery:
        yield gallery


@pytest.fixture
def index(gallery, model, folder):
    """Return a function that indexes the folder and returns the summary."""

    def run(places=None, **options):
        *_, summary = index_events(gallery, model, places or [folder], **options)
        assert isinstance(summary, Summary)
        return summary

    return run


@pytest.fixture
def counts():
    """Return a function that tells the numbers of a summary that are not zero."""

    def tell(summary):
        numbers = {name: getattr(summary, name) for name in ("added", "updated", "moved", "unchanged", "removed")}
        numbers["failed"] = len(summary.failed)
        return {name: number for name, number in numbers.items() if number}

    return tell
