"""A tiny model, a gallery of photos in folders, and clients of a service for them."""

import io
import shutil
import threading
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sketchhash.gallery import GalleryFile, index_events
from sketchhash.server import Access, create_app, create_server, listen, open_service

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2, which schemathesis does not use
    from fastapi.testclient import TestClient

NAMES = ("2023/a.png", "2024/summer/b.png", "2024/summer/c.png", "2024/winter/d.png", "2024/winter/e.bmp", "f.png")


@pytest.fixture(scope="session")
def original(tmp_path_factory, model):
    """Write photos of noise, each its own, and index them: what every test gets a copy of."""
    folder = tmp_path_factory.mktemp("original")
    for seed, name in enumerate(NAMES):
        path = folder / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
    with GalleryFile.create(folder / "test.gallery", model) as gallery:
        list(index_events(gallery, model, [folder / "photos"], labels="folder"))
    return folder


@pytest.fixture
def photos(tmp_path, original):
    return shutil.copytree(original / "photos", tmp_path / "photos")


@pytest.fixture
def gallery_file(tmp_path, original, photos):
    path = Path(shutil.copy(original / "test.gallery", tmp_path))
    with GalleryFile.open(path) as gallery:
        moved = (str(original / "photos"), str(photos))
        gallery.rows("UPDATE photos SET path = CAST(replace(path, ?, ?) AS BLOB)", *moved)
    return path


@pytest.fixture
def gallery(gallery_file):
    with GalleryFile.open(gallery_file) as opened:
        yield opened


@pytest.fixture
def id_of(gallery, photos):
    """Return a function that tells the id of a photo by its name."""
    return lambda name: gallery.at(photos / name).id


@pytest.fixture
def service(gallery_file, model_folder):
    with open_service(gallery_file, model_folder) as opened:
        yield opened


@pytest.fixture
def client_for():
    """Return a function that makes clients of a service, which lets them in as ``access`` says."""
    with ExitStack() as stack:

        def make(service, access=None):
            client = TestClient(create_app(service, access or Access()), base_url="http://localhost")
            return stack.enter_context(client)

        yield make


@pytest.fixture
def client(client_for, service):
    return client_for(service)


@pytest.fixture
def strokes():
    return [[[0, 0], [9, 0], [9, 9]], [[2, 2], [3, 7]]]


@pytest.fixture
def png():
    """Return a function that makes a PNG file of given sides."""

    def make(width=8, height=8, mode="RGB", colour=0):
        file = io.BytesIO()
        Image.new(mode, (width, height), colour).save(file, "PNG")
        return file.getvalue()

    return make


@pytest.fixture
def running():
    """Return a function that runs an application on a free port of this machine until the block ends."""

    @contextmanager
    def run(app):
        with listen("127.0.0.1", 0) as listener:
            running_server = create_server(app)
            thread = threading.Thread(target=running_server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                yield listener.getsockname()
            finally:
                running_server.should_exit = True
                thread.join(20)
                assert not thread.is_alive()

    return run
