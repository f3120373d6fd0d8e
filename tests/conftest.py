"""Small pictures and datasets that the tests make for themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw

from sketchhash.model import InkInput, MadeWith, Manifest, Model, PhotoInput, TokenInput, write_model

pytest_plugins = ["engine_servers", "completeness"]

# Machines are shared and noisy: a slow example is no defect.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


@pytest.fixture
def paint_photo() -> Callable[[Path, int], Path]:
    """Give a function that writes a small coloured JPEG photo, different for each seed."""

    def paint(path: Path, seed: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((64, 48)).save(path, format="JPEG")
        return path

    return paint


@pytest.fixture
def paint_sketch() -> Callable[[Path, int], Path]:
    """Give a function that writes a small black-on-white PNG sketch, different for each seed."""

    def paint(path: Path, seed: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = Image.new("L", (64, 64), 255)
        points = np.random.default_rng(seed).integers(8, 56, (5, 2))
        ImageDraw.Draw(picture).line([tuple(map(int, point)) for point in points], fill=0, width=2)
        picture.save(path, format="PNG")
        return path

    return paint


@pytest.fixture(scope="session")
def make_model_folder(tmp_path_factory) -> Callable[..., Path]:
    """Give a function that writes tiny models of linear networks; other seeds give other codes."""

    def make(bits: int = 32, seed: int = 0, tokens: TokenInput | None = None, card: str = "# tiny\n") -> Path:
        size = 16
        folder = tmp_path_factory.mktemp("models") / "tiny"
        manifest = Manifest(
            name="tiny",
            bits=bits,
            categories=("cat", "dog"),
            photos=PhotoInput(size, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
            ink=InkInput(size, offset=0.0, scale=1.0, line_width=0.1, margin=0.05),
            tokens=tokens,
            made_with=MadeWith("0.1.0", "toy", "ab" * 32, 3, "cd" * 32, {}),
            scores={"map": 0.5},
        )
        ink = (size, size)
        image_inputs = {"photos": (size, size, 3), **({"tokens": ink} if tokens else {})}
        write_model(
            folder,
            manifest,
            image_onnx=_linear_network(image_inputs, bits, seed),
            sketch_onnx=_linear_network({"sketches": ink}, bits, seed),
            card=card,
        )
        return folder

    return make


@pytest.fixture(scope="session")
def model_folder(make_model_folder) -> Path:
    return make_model_folder()


@pytest.fixture(scope="session")
def model(model_folder) -> Model:
    return Model.load(model_folder)


def _linear_network(shapes: dict[str, tuple[int, ...]], bits: int, seed: int) -> bytes:
    """Serialise values = Σ flatten(input) · weights, of which about half are positive."""
    rng = np.random.default_rng(seed)
    nodes, weights = [], []
    for name, shape in shapes.items():
        matrix = rng.standard_normal((np.prod(shape), bits)).astype(np.float32)
        weights.append(numpy_helper.from_array(matrix, f"{name}.weights"))
        nodes += [
            helper.make_node("Cast", [name], [f"{name}.float"], to=TensorProto.FLOAT),
            helper.make_node("Flatten", [f"{name}.float"], [f"{name}.flat"]),
            helper.make_node("MatMul", [f"{name}.flat", f"{name}.weights"], [f"{name}.product"]),
        ]
    nodes.append(helper.make_node("Sum", [f"{name}.product" for name in shapes], ["values"]))
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(name, TensorProto.UINT8, ["n", *shape]) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["n", bits])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


@pytest.fixture
def untrained_run(tmp_path):
    """Return a function that writes a small world and the run of a network on it that has not learned anything."""
    from dataclasses import replace

    from sketchhash.datasets import draw_split, open_dataset, synthetic
    from sketchhash.dsh.checkpoints import write_checkpoint
    from sketchhash.dsh.recipe import load_recipe
    from sketchhash.dsh.runs import Job

    def write(categories, each, **changes):
        world = synthetic.load(each, each, categories=categories, size=64)
        for _ in synthetic.write(tmp_path / "world", world, workers=1):
            pass
        dataset = open_dataset(tmp_path / "world")
        job = Job(dataset, draw_split(dataset, queries=1), replace(load_recipe("tiny"), **changes), bits=16)
        folder = tmp_path / "tiny.run"
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps(job.facts()))
        job.split.write(folder / "split.json")
        write_checkpoint(folder / "checkpoint.pt", {"weights": job.network().state_dict()})
        return folder, tmp_path / "world"

    return write
