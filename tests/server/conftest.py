"""A tiny model, a gallery of photos in folders, and clients of a service for them."""

import io
import shutil
import threading
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from sketchhash.gallery import Gallery, index_photos
from sketchhash.model import InkInput, MadeWith, Manifest, Model, PhotoInput, write_model
from sketchhash.server import Access, create_app, listen, open_service, server

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2, which schemathesis does not use
    from fastapi.testclient import TestClient

BITS, SIZE = 32, 16
NAMES = ("2023/a.png", "2024/summer/b.png", "2024/summer/c.png", "2024/winter/d.png", "2024/winter/e.bmp", "f.png")


def network(name, shape):
    """Serialise values = flatten(input) · weights, of which about half are positive."""
    weights = np.random.default_rng(0).standard_normal((np.prod(shape), BITS)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", [name], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["float"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["values"]),
    ]
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(name, TensorProto.UINT8, ["n", *shape])],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["n", BITS])],
        [numpy_helper.from_array(weights, "weights")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny"
    manifest = Manifest(
        name="tiny",
        bits=BITS,
        categories=("cat", "dog"),
        photos=PhotoInput(SIZE, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        ink=InkInput(SIZE, offset=0.0, scale=1.0, line_width=0.1, margin=0.05),
        tokens=None,
        made_with=MadeWith("0.1.0", "toy", "ab" * 32, 3, "cd" * 32, {}),
        scores={"map": 0.5},
    )
    write_model(
        folder,
        manifest,
        image_onnx=network("photos", (SIZE, SIZE, 3)),
        sketch_onnx=network("sketches", (SIZE, SIZE)),
        card="# tiny\n",
    )
    return folder


@pytest.fixture(scope="session")
def model(model_folder):
    return Model.load(model_folder)


@pytest.fixture(scope="session")
def original(tmp_path_factory, model):
    """Write photos of noise, each its own, and index them: what every test gets a copy of."""
    folder = tmp_path_factory.mktemp("original")
    for seed, name in enumerate(NAMES):
        path = folder / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
    with Gallery.create(folder / "test.gallery", model) as gallery:
        list(index_photos(gallery, model, [folder / "photos"], labels="folder"))
    return folder


@pytest.fixture
def photos(tmp_path, original):
    return shutil.copytree(original / "photos", tmp_path / "photos")


@pytest.fixture
def gallery_file(tmp_path, original, photos):
    path = Path(shutil.copy(original / "test.gallery", tmp_path))
    with Gallery.open(path) as gallery:
        moved = (str(original / "photos"), str(photos))
        gallery.rows("UPDATE photos SET path = CAST(replace(path, ?, ?) AS BLOB)", *moved)
    return path


@pytest.fixture
def gallery(gallery_file):
    with Gallery.open(gallery_file) as opened:
        yield opened


@pytest.fixture
def id_of(gallery, photos):
    """Give a function that tells the id of a photo by its name."""
    return lambda name: gallery.at(photos / name).id


@pytest.fixture
def service(gallery_file, model_folder):
    with open_service(gallery_file, model_folder) as opened:
        yield opened


@pytest.fixture
def client_for():
    """Give a function that makes clients of a service, which lets them in as ``access`` says."""
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
    """Give a function that makes a PNG file of given sides."""

    def make(width=8, height=8, mode="RGB", colour=0):
        file = io.BytesIO()
        Image.new(mode, (width, height), colour).save(file, "PNG")
        return file.getvalue()

    return make


@pytest.fixture
def running():
    """Give a function that runs an application on a free port of this machine until the block ends."""

    @contextmanager
    def run(app):
        with listen("127.0.0.1", 0) as listener:
            running_server = server(app)
            thread = threading.Thread(target=running_server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                yield listener.getsockname()
            finally:
                running_server.should_exit = True
                thread.join(20)
                assert not thread.is_alive()

    return run
