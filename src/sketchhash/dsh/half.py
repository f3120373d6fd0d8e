"""Half the size: weights stored in 16 bits and widened to 32 when a graph is loaded.

A cast follows each stored weight. onnxruntime computes what depends on constants alone while it loads, so the
graph runs as fast as before and in the same arithmetic; only the rounding of the weights remains.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

# Smaller tensors (biases, shapes) are too few bytes to be worth rounding.
_FEWEST_WEIGHTS = 1024
_LARGEST_HALF = float(np.finfo(np.float16).max)


def halve(graph: bytes) -> bytes:
    """Give an ONNX graph that stores its large ``float32`` weights as ``float16``.

    A tensor with a weight too large for ``float16`` stays as it is.
    """
    model: ModelProto = onnx.load_model_from_string(graph)
    casts = [_halve_in_place(weights) for weights in model.graph.initializer if _can_be_halved(weights)]
    nodes = [*casts, *model.graph.node]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)
    halved: bytes = model.SerializeToString()
    return halved


def _can_be_halved(weights: TensorProto) -> bool:
    if weights.data_type != TensorProto.FLOAT or np.prod(weights.dims) < _FEWEST_WEIGHTS:
        return False
    return bool(np.abs(numpy_helper.to_array(weights)).max() <= _LARGEST_HALF)


def _halve_in_place(weights: TensorProto) -> NodeProto:
    """Store the weights under another name, and give the cast that brings them back under their own."""
    name, stored = weights.name, f"{weights.name}.half"
    weights.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights).astype(np.float16), stored))
    return helper.make_node("Cast", [stored], [name], name=f"{name}.widen", to=TensorProto.FLOAT)
