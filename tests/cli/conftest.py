"""A tiny model, photos, a gallery of them, and ways to run the command line."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

from sketchhash.cli import app
from sketchhash.model import InkInput, MadeWith, Manifest, PhotoInput, write_model

BITS, SIZE = 32, 16
SHAPES = {"photos": (SIZE, SIZE, 3), "tokens": (SIZE, SIZE), "sketches": (SIZE, SIZE)}


def network(*inputs, seed):
    """Serialise values = Σ flatten(input) · weights, of which about half are positive."""
    rng = np.random.default_rng(seed)
    nodes, weights = [], []
    for name in inputs:
        matrix = rng.standard_normal((np.prod(SHAPES[name]), BITS)).astype(np.float32)
        weights.append(numpy_helper.from_array(matrix, f"{name}.weights"))
        nodes += [
            helper.make_node("Cast", [name], [f"{name}.float"], to=TensorProto.FLOAT),
            helper.make_node("Flatten", [f"{name}.float"], [f"{name}.flat"]),
            helper.make_node("MatMul", [f"{name}.flat", f"{name}.weights"], [f"{name}.product"]),
        ]
    nodes.append(helper.make_node("Sum", [f"{name}.product" for name in inputs], ["values"]))
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(name, TensorProto.UINT8, ["n", *SHAPES[name]]) for name in inputs],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["n", BITS])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


@pytest.fixture(scope="session")
def make_model_folder(tmp_path_factory):
    """Give a function that writes tiny models; they look at photos, and if asked at their contours."""

    def make(seed=0, tokens=None):
        folder = tmp_path_factory.mktemp("models") / "tiny"
        manifest = Manifest(
            name="tiny",
            bits=BITS,
            categories=("cat",),
            photos=PhotoInput(SIZE, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
            ink=InkInput(SIZE, offset=0.0, scale=1.0, line_width=0.1, margin=0.05),
            tokens=tokens,
            made_with=MadeWith("0.1.0", "toy", "ab" * 32, 3, "cd" * 32, {}),
            scores={},
        )
        images, sketches = network("photos", *(["tokens"] if tokens else []), seed=seed), network("sketches", seed=seed)
        write_model(folder, manifest, image_onnx=images, sketch_onnx=sketches, card="# tiny\n")
        return folder

    return make


@pytest.fixture(scope="session")
def model_folder(make_model_folder):
    return make_model_folder()


@pytest.fixture
def run(model_folder, monkeypatch):
    """Give a function that runs the command line with the tiny model as the default one."""
    monkeypatch.setenv("SKETCHHASH_MODEL", str(model_folder))
    return lambda *arguments, **options: CliRunner().invoke(app, [str(each) for each in arguments], **options)


@pytest.fixture
def photos(tmp_path, paint_photo):
    folder = tmp_path / "photos"
    for seed, name in enumerate(["cat/a.jpg", "cat/b.jpg", "dog/a.jpg", "dog/b.jpg", "dog/c.jpg"]):
        paint_photo(folder / name, seed)
    return folder


@pytest.fixture
def gallery(tmp_path, run, photos):
    path = tmp_path / "test.gallery"
    result = run("index", photos, "--gallery", path, "--labels", "folder")
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def sketch(tmp_path, paint_sketch):
    return paint_sketch(tmp_path / "sketch.png")


@pytest.fixture
def strokes(tmp_path):
    path = tmp_path / "sketch.json"
    path.write_text(json.dumps([[[0, 0], [9, 0], [9, 9]], [[2, 2], [3, 7]]]))
    return path


@pytest.fixture
def start(model_folder):
    """Give a function that starts the command line in a process of its own."""
    return lambda *arguments: subprocess.Popen(
        [sys.executable, "-m", "sketchhash", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "SKETCHHASH_MODEL": str(model_folder)},
    )
