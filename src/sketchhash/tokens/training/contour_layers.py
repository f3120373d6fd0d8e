"""The contour network: its layers, as they are trained, and its ONNX graph, as it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sketchhash.errors import BadArgument, require

_OPSET, _IR_VERSION = 17, 8  # old enough for every supported onnxruntime


@dataclass(frozen=True)
class Plan:
    """The network and how long it is trained.

    Args:
        widths: Channels at 1/2, 1/4, … of the photo's size.
        repeats: Convolutions at each of them, besides the one that halves the resolution.
        merged: Channels in which the resolutions are merged.
        steps: Of the optimiser.
        batch: Crops a step.
        crop: Their side in pixels, a multiple of 32.
        learning_rate: At its highest, after a short warm-up; it falls along a cosine.
        untraced: Share of the crops that come from photos nobody traced, if there are any.
    """

    widths: tuple[int, ...] = (16, 32, 32, 48, 48)
    repeats: tuple[int, ...] = (1, 2, 1, 1, 1)
    merged: int = 16
    steps: int = 4000
    batch: int = 8
    crop: int = 192
    learning_rate: float = 3e-3
    untraced: float = 0.35

    def __post_init__(self) -> None:
        """Raise if the plan cannot be followed."""
        if len(self.widths) != 5 or len(self.repeats) != 5:
            raise BadArgument(f"The network has 5 resolutions; got widths={self.widths} and repeats={self.repeats}.")
        if self.steps < 1 or self.batch < 1 or self.crop < 32 or self.crop % 32:
            raise BadArgument("A plan needs at least one step and one crop, of a side that is a multiple of 32.")


class _Layer(nn.Module):
    """A convolution, with normalisation and ReLU unless it is ``plain``."""

    def __init__(self, inputs: int, outputs: int, side: int = 3, stride: int = 1, plain: bool = False) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, side, stride, side // 2, bias=plain)
        self.normalise = None if plain else nn.BatchNorm2d(outputs)

    def forward(self, features: Tensor) -> Tensor:
        convolved: Tensor = self.convolution(features)
        return convolved if self.normalise is None else functional.relu(self.normalise(convolved))

    def folded(self) -> tuple[Tensor, Tensor]:
        """Return a kernel and a bias that do the work of the convolution and its normalisation."""
        kernel, norm = self.convolution.weight, self.normalise
        if norm is None or norm.running_var is None or norm.running_mean is None:
            return kernel, torch.zeros(len(kernel)) if self.convolution.bias is None else self.convolution.bias
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        return kernel * scale[:, None, None, None], norm.bias - norm.running_mean * scale


class TrainedNetwork(nn.Module):
    """The network before its normalisation is folded: ``(n, 3, h, w)`` in [-0.5, 0.5] to logits ``(n, 1, h, w)``."""

    def __init__(self, plan: Plan) -> None:
        """Make the layers of a ``plan``."""
        super().__init__()
        self.stem = _Layer(3, plan.widths[0], stride=2)
        self.resolutions = nn.ModuleList()
        before = plan.widths[0]
        for number, (width, repeats) in enumerate(zip(plan.widths, plan.repeats, strict=True)):
            halving = [_Layer(before, width, stride=2)] if number else []
            self.resolutions.append(nn.Sequential(*halving, *(_Layer(width, width) for _ in range(repeats))))
            before = width
        self.sides = nn.ModuleList(_Layer(width, plan.merged, side=1, plain=True) for width in plan.widths)
        self.merges = nn.ModuleList(_Layer(plan.merged, plan.merged) for _ in plan.widths[:-1])
        self.score = _Layer(plan.merged, 4, plain=True)
        nn.init.normal_(self.score.convolution.weight, std=0.02)
        nn.init.constant_(self.score.folded()[1], -1.0)  # contours are rare

    def forward(self, photos: Tensor) -> Tensor:
        """Return the logits of photos."""
        features = self.stem(photos)
        kept = []
        for resolution in self.resolutions:
            features = resolution(features)
            kept.append(features)
        merged = self.sides[-1](kept[-1])
        for number in reversed(range(len(kept) - 1)):
            larger = functional.interpolate(merged, scale_factor=2, mode="bilinear", align_corners=False)
            merged = self.merges[number](functional.relu(larger + self.sides[number](kept[number])))
        return functional.pixel_shuffle(self.score(merged), 2)

    def layers(self) -> Iterator[tuple[str, _Layer]]:
        """Yield every layer with its name in the graph."""
        names = {"stem": "stem", "resolutions": "resolution", "sides": "side", "merges": "merge", "score": "score"}
        for path, module in self.named_modules():
            if isinstance(module, _Layer):
                room, *places = path.split(".")
                yield names[room] + "/".join(places), module


def fold(network: TrainedNetwork) -> dict[str, NDArray[np.float32]]:
    """Return kernels and biases with the normalisation folded in: ``<layer>/kernel`` and ``<layer>/bias``."""
    weights: dict[str, NDArray[np.float32]] = {}
    for name, layer in network.layers():
        kernel, bias = (values.detach().numpy().astype(np.float32) for values in layer.folded())
        weights[f"{name}/kernel"], weights[f"{name}/bias"] = kernel, bias
    return weights


def build(weights: Mapping[str, NDArray[np.float32]], plan: Plan, shift: float = 0.0) -> bytes:
    """Build the ONNX graph, ``photo`` ``(h, w, 3)`` of bytes to ``scores`` ``(h, w)``; weights take 16 bits each.

    Args:
        weights: As `fold` returns them.
        plan: That of the network.
        shift: Is added to the scores before the sigmoid.
    """
    onnx = require("onnx", "train")
    helper, tensors = onnx.helper, onnx.numpy_helper
    nodes, constants = [], {"channel_axis": np.array([0])}
    constants |= {"half": np.array(0.5, dtype=np.float32), "byte": np.array(1 / 255, dtype=np.float32)}
    constants |= {"twice": np.array([1, 1, 2, 2], dtype=np.float32), "score_axes": np.array([0, 1])}

    def add(operator: str, inputs: list[str], output: str, **attributes: object) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def convolve(features: str, layer: str, stride: int = 1, has_relu: bool = True) -> str:
        kernel, bias = weights[f"{layer}/kernel"], weights[f"{layer}/bias"]
        constants[f"{layer}/stored"] = kernel.astype(np.float16)
        constants[f"{layer}/bias"] = bias + np.float32(shift if layer == "score" else 0)
        add("Cast", [f"{layer}/stored"], f"{layer}/kernel", to=onnx.TensorProto.FLOAT)
        pads, strides = [kernel.shape[-1] // 2] * 4, [stride, stride]
        output = add("Conv", [features, f"{layer}/kernel", f"{layer}/bias"], layer, pads=pads, strides=strides)
        return add("Relu", [output], f"{layer}/relu") if has_relu else output

    planes = add("Transpose", [add("Cast", ["photo"], "levels", to=onnx.TensorProto.FLOAT)], "planes", perm=[2, 0, 1])
    centred = add("Sub", [add("Mul", [planes, "byte"], "shares"), "half"], "centred")
    features = convolve(add("Unsqueeze", [centred, "channel_axis"], "batch"), "stem", stride=2)
    resolutions = []
    for number, repeats in enumerate(plan.repeats):
        for layer in range(repeats + (number > 0)):
            features = convolve(features, f"resolution{number}/{layer}", stride=2 if number and layer == 0 else 1)
        resolutions.append(features)
    last = len(resolutions) - 1
    merged = convolve(resolutions[last], f"side{last}", has_relu=False)
    for number in reversed(range(last)):
        side = convolve(resolutions[number], f"side{number}", has_relu=False)
        larger = add("Resize", [merged, "", "twice"], f"larger{number}", mode="linear")
        merged = convolve(
            add("Relu", [add("Add", [larger, side], f"sum{number}")], f"sum{number}/relu"), f"merge{number}"
        )
    quarters = convolve(merged, "score", has_relu=False)
    logits = add("DepthToSpace", [quarters], "logits", blocksize=2, mode="CRD")
    add("Squeeze", [add("Sigmoid", [logits], "shares_of_contour"), "score_axes"], "scores")

    graph = helper.make_graph(
        nodes,
        "contour_net",
        [helper.make_tensor_value_info("photo", onnx.TensorProto.UINT8, ["h", "w", 3])],
        [helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["h", "w"])],
        [tensors.from_array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
    serialised: bytes = model.SerializeToString()
    return serialised
