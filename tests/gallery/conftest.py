"""A tiny model, photos of one colour and galleries of them."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from sketchhash.gallery import Gallery, Summary, index_photos
from sketchhash.model import InkInput, MadeWith, Manifest, Model, PhotoInput, write_model

SIZE = 4


def linear_graph(name, shape, bits, seed):
    """Serialise values = flatten(input) · weights, of which about half are positive."""
    matrix = np.random.default_rng(seed).standard_normal((np.prod(shape), bits)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", [name], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["float"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["values"]),
    ]
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(name, TensorProto.UINT8, ["n", *shape])],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["n", bits])],
        [numpy_helper.from_array(matrix, "weights")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


@pytest.fixture(scope="session")
def make_model_folder(tmp_path_factory):
    """Give a function that writes tiny models; models of different seeds give different codes."""

    def make(bits=32, seed=0):
        folder = tmp_path_factory.mktemp("model") / "tiny"
        manifest = Manifest(
            name="tiny",
            bits=bits,
            categories=("cat",),
            photos=PhotoInput(SIZE, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
            ink=InkInput(SIZE, offset=0.0, scale=1.0, line_width=0.1, margin=0.05),
            tokens=None,
            made_with=MadeWith("0.1.0", "toy", "ab" * 32, 3, "cd" * 32, {}),
            scores={},
        )
        write_model(
            folder,
            manifest,
            image_onnx=linear_graph("photos", (SIZE, SIZE, 3), bits, seed),
            sketch_onnx=linear_graph("sketches", (SIZE, SIZE), bits, seed),
            card="# tiny\n",
        )
        return folder

    return make


@pytest.fixture(scope="session")
def make_model(make_model_folder):
    """Give a function that makes tiny models."""
    return lambda **options: Model.load(make_model_folder(**options))


@pytest.fixture(scope="session")
def model_folder(make_model_folder):
    return make_model_folder()


@pytest.fixture(scope="session")
def model(model_folder):
    return Model.load(model_folder)


@pytest.fixture(scope="session")
def other_model(make_model):
    return make_model(bits=64, seed=1)


@pytest.fixture
def photo():
    """Give a function that writes a photo, different for each seed."""

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
    with Gallery.create(tmp_path / "test.gallery", model) as gallery:
        yield gallery


@pytest.fixture
def index(gallery, model, folder):
    """Give a function that indexes the folder and gives the summary."""

    def run(places=None, **options):
        *_, summary = index_photos(gallery, model, places or [folder], **options)
        assert isinstance(summary, Summary)
        return summary

    return run


@pytest.fixture
def counts():
    """Give a function that tells the numbers of a summary that are not zero."""

    def tell(summary):
        numbers = {name: getattr(summary, name) for name in ("added", "updated", "moved", "unchanged", "removed")}
        numbers["failed"] = len(summary.failed)
        return {name: number for name, number in numbers.items() if number}

    return tell
