"""A package of npm with nothing in it, and a gallery to make a site of."""

from __future__ import annotations

import io
import tarfile
from base64 import b64encode
from hashlib import sha512

import pytest

from sketchhash.gallery import GalleryFile, index_events
from sketchhash.model import Model
from sketchhash.site import find_runtime, runtime


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write what is taken for onnxruntime-web's package."""
    path = tmp_path / "runtime.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name in (runtime._SCRIPT, runtime._BINARY):
            entry = tarfile.TarInfo(name)
            entry.size = len(name)
            archive.addfile(entry, io.BytesIO(name.encode()))
    monkeypatch.setattr(runtime, "_INTEGRITY", b64encode(sha512(path.read_bytes()).digest()).decode())
    return path


@pytest.fixture
def empty_runtime(package, tmp_path):
    return find_runtime(package, cache=tmp_path / "cache")


@pytest.fixture
def model(model_folder):
    return Model.load(model_folder)


@pytest.fixture
def gallery(tmp_path, model, paint_photo):
    for seed, name in enumerate(["cat/a.jpg", "cat/b.jpg", "dog/a.jpg", "dog/b.jpg", "dog/c.jpg"]):
        paint_photo(tmp_path / "photos" / name, seed)
    with GalleryFile.create(tmp_path / "test.gallery", model) as opened:
        list(index_events(opened, model, [tmp_path / "photos"], labels="folder"))
        yield opened
