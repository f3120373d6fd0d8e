import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from sketchhash.dsh.export import halve

RNG = np.random.default_rng(3)
ROWS = RNG.standard_normal((5, 64)).astype(np.float32)


def linear(**changes):
    """Serialise y = x · matrix · square + bias, with some of the tensors exchanged."""
    tensors = {
        "matrix": RNG.standard_normal((64, 32)).astype(np.float32),
        "square": RNG.standard_normal((32, 32)).astype(np.float32),
        "bias": RNG.standard_normal(32).astype(np.float32),
        **changes,
    }
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "matrix"], ["wide"]),
            helper.make_node("MatMul", ["wide", "square"], ["product"]),
            helper.make_node("Add", ["product", "bias"], ["y"]),
        ],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32])],
        [numpy_helper.from_array(tensor, name) for name, tensor in tensors.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def stored(graph):
    tensors = onnx.load_model_from_string(graph).graph.initializer
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in tensors}


def run(graph, options=None):
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": ROWS})[0]


def test_large_weights_are_stored_in_half_the_bytes_and_small_ones_as_they_were():
    graph = linear()
    halved = halve(graph)
    onnx.checker.check_model(onnx.load_model_from_string(halved), full_check=True)
    before, after = stored(graph), stored(halved)
    assert {name: tensor.dtype.name for name, tensor in after.items()} == {
        "matrix.half": "float16",
        "square.half": "float16",
        "bias": "float32",
    }
    np.testing.assert_array_equal(after["matrix.half"], before["matrix"].astype(np.float16))
    np.testing.assert_array_equal(after["bias"], before["bias"])


def test_a_halved_graph_computes_in_full_precision_with_rounded_weights():
    graph = linear()
    rounded = {name: tensor.astype(np.float16).astype(np.float32) for name, tensor in stored(graph).items()}
    same = linear(**rounded | {"bias": stored(graph)["bias"]})
    np.testing.assert_array_equal(run(halve(graph)), run(same))


def test_nothing_is_widened_while_the_graph_runs(tmp_path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # the runtime warns that a graph it saves fits this machine only
    options.optimized_model_filepath = str(tmp_path / "loaded.onnx")
    run(halve(linear()), options)
    loaded = onnx.load(tmp_path / "loaded.onnx").graph
    assert "Cast" not in {node.op_type for node in loaded.node}


@pytest.mark.parametrize("weight", [1e5, -1e5, np.nan])
def test_a_tensor_with_a_weight_that_half_cannot_hold_stays_as_it_is(weight):
    matrix = np.ones((64, 32), np.float32)
    matrix[7, 5] = weight
    graph = linear(matrix=matrix)
    np.testing.assert_array_equal(stored(halve(graph))["matrix"], matrix)
    np.testing.assert_array_equal(np.isfinite(run(halve(graph))), np.isfinite(run(graph)))


def test_halving_twice_is_halving_once():
    once = halve(linear())
    assert halve(once) == once
