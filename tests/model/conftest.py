"""A tiny model folder: linear networks over 12-pixel photos and 10-pixel ink."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from sketchhash.model import InkInput, MadeWith, Manifest, PhotoInput, TokenInput, write_model
from sketchhash.tokens import detector

BITS = 16
SHAPES = {"photos": (12, 12, 3), "tokens": (10, 10), "sketches": (10, 10)}


def linear_graph(*inputs, shapes=SHAPES, bits=BITS, output="values", element=TensorProto.UINT8, rows="n", seed=7):
    """Serialise values = Σ flatten(input) · weights + bias, the smallest network with the right ports."""
    rng = np.random.default_rng(seed)
    nodes, weights, total = [], [], "bias"
    bias = rng.standard_normal(bits).astype(np.float32)
    for name in inputs:
        matrix = rng.standard_normal((np.prod(shapes[name]), bits)).astype(np.float32)
        weights.append(numpy_helper.from_array(matrix, f"{name}.weights"))
        nodes += [
            helper.make_node("Cast", [name], [f"{name}.float"], to=TensorProto.FLOAT),
            helper.make_node("Flatten", [f"{name}.float"], [f"{name}.flat"]),
            helper.make_node("MatMul", [f"{name}.flat", f"{name}.weights"], [f"{name}.product"]),
            helper.make_node("Add", [f"{name}.product", total], [f"{name}.total"]),
        ]
        total = f"{name}.total"
    nodes.append(helper.make_node("Identity", [total], [output]))
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(name, element, [rows, *shapes[name]]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [rows, bits])],
        [*weights, numpy_helper.from_array(bias, "bias")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


@pytest.fixture
def manifest():
    return Manifest(
        name="tiny",
        bits=BITS,
        categories=("cat", "dog"),
        photos=PhotoInput(12, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        ink=InkInput(10, offset=0.0, scale=1.0, line_width=0.1, margin=0.05),
        tokens=TokenInput("gradient", detector("gradient").fingerprint, 0.5, 0.1, 0.1, 3),
        made_with=MadeWith("0.1.0", "toy", "ab" * 32, 3, "cd" * 32, {"torch": "2.13.0"}),
        scores={"map": 0.5125},
    )


@pytest.fixture
def graph():
    """Give the maker of tiny networks."""
    return linear_graph


@pytest.fixture
def write(tmp_path, manifest):
    """Write the tiny model with some of its parts exchanged, and give its folder."""

    def write_variant(name="model", image=("photos", "tokens"), **changes):
        image_onnx = changes.pop("image_onnx", None) or linear_graph(*image)
        sketch_onnx = changes.pop("sketch_onnx", None) or linear_graph("sketches")
        extra_files = changes.pop("extra_files", None)
        card = changes.pop("card", "# tiny\n")
        variant = replace(manifest, **changes)
        folder = tmp_path / name
        write_model(
            folder,
            variant,
            image_onnx=image_onnx,
            sketch_onnx=sketch_onnx,
            card=card,
            extra_files=extra_files,
        )
        return folder

    return write_variant


@pytest.fixture
def model_folder(write):
    return write()
