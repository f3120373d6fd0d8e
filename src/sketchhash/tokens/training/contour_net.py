"""Training the contour network: from people's outlines and a teacher's scores to a graph of 0.3 MB.

    traced photos (BSDS500) ──┐
                              ├─► label (the teacher scores every photo) ─► train ─► fold, halve ─► `ContourNet`
    other photos ─────────────┘

The loss has two parts. On traced photos it is the cross-entropy against what at least 30 % of the annotators drew,
with contours and background weighted alike, as Xie and Tu train HED (ICCV 2015); pixels that fewer people drew are left
out (Liu et al., "Richer convolutional features", CVPR 2017). On all photos it is the cross-entropy against the
teacher's scores, which are smooth where people disagree: a small network learns more from them than from thin lines.
At the end the scores are shifted so that token maps of the traced photos hold as much ink as people drew there.

    WORK/<fingerprint>/label-00000.npy …    the teacher's scores, as bytes
    WORK/<fingerprint>/checkpoint.pt        everything that training needs to go on
"""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

from sketchhash.errors import BadArgument, DatasetProblem, NotFitted, UnreadableImage, require
from sketchhash.files import replacing
from sketchhash.imaging import PICTURE_SUFFIXES, read_photo
from sketchhash.tokens.contour_net import ContourNet
from sketchhash.tokens.contours import strong_contours
from sketchhash.tokens.detectors import Detector, working_size
from sketchhash.tokens.training.bsds import TracedPhoto

_VERSION = 1  # raise whenever training would make another network from the same photos, plan and seed

_SCALES = (1.0, 0.72, 0.52)  # of a traced photo, so that contours are known at the 256 pixels of token maps, too
_AGREED, _DISPUTED = 0.3, 0.02  # shares of annotators: from the first on a contour, up to the second background
_BACKGROUND_WEIGHT = 1.1  # as in HED
_MEMORY = 0.998  # of the moving average of the weights, which is what is kept
_SAVED_EVERY = 250  # steps
_UNTRACED_SIDE = 320  # somewhat above the 256 pixels of token maps
_INKED, _HALVINGS = 4, 10  # one traced photo in so many sets the shift, found by halving an interval so often
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


@dataclass(frozen=True, eq=False)
class ContourNetTrainer:
    """Trains one network; trainers of other photos, plans, teachers and seeds may share the ``work`` folder.

    Args:
        traced: Photos with their annotators' contours.
        untraced: Other photos, each ``(h, w, 3)``; only the teacher says what is in them.
        teacher: Scores every photo once.
        plan: What to train and for how long.
        seed: Of everything random.
        work: The folder of labels and checkpoints.
    """

    traced: Sequence[TracedPhoto]
    untraced: Sequence[NDArray[np.uint8]]
    teacher: Detector
    plan: Plan
    seed: int
    work: Path

    @cached_property
    def folder(self) -> Path:
        """The folder of this trainer's labels and checkpoint."""
        content = hashlib.sha256(repr((_VERSION, self.teacher.fingerprint, self.plan, self.seed)).encode())
        for traced in self.traced:
            content.update(traced.photo.tobytes())
            content.update(np.packbits(traced.contours).tobytes())
        for photo in self.untraced:
            content.update(photo.tobytes())
        return self.work / content.hexdigest()[:16]

    @property
    def labels(self) -> int:
        """How many photos the teacher scores."""
        return len(self.traced) + len(self.untraced)

    def label(self) -> Iterator[int]:
        """Let the teacher score all photos, and yield the number of each; scores of an earlier call are kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for number in range(self.labels):
            path = self._label_path(number)
            if not path.exists():
                scores = self.teacher.detect(self._photo(number))
                with replacing(path, durable=False) as file:
                    np.save(file, np.rint(255 * scores).astype(np.uint8))
            yield number

    def train(self) -> Iterator[tuple[int, float]]:
        """Train, and yield each step's number and loss; a stopped training continues from its last checkpoint.

        Raises:
            NotFitted: If a photo has no label yet.
        """
        torch.manual_seed(self.seed)
        network = _Network(self.plan).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        kept = copy.deepcopy(network).eval()
        decayed, free = (
            [weights for weights in network.parameters() if (weights.ndim > 1) == is_matrix]
            for is_matrix in (True, False)
        )
        optimiser = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": 1e-3}, {"params": free, "weight_decay": 0.0}]
        )
        done = 0
        if self._checkpoint.exists():
            state = torch.load(self._checkpoint, weights_only=True)
            network.load_state_dict(state["network"])
            kept.load_state_dict(state["kept"])
            optimiser.load_state_dict(state["optimiser"])
            done = state["steps"]
        examples = self._examples()
        for step in range(done, self.plan.steps):
            rng = np.random.default_rng((self.seed, step))
            for group in optimiser.param_groups:
                group["lr"] = self.plan.learning_rate * _schedule(step, self.plan.steps)
            loss = _loss(network, examples.draw(self.plan, rng))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            _follow(kept, network, min(_MEMORY, (step + 2) / (step + 20)))
            if (step + 1) % _SAVED_EVERY == 0 or step + 1 == self.plan.steps:
                with replacing(self._checkpoint) as file:
                    state = {"network": network, "kept": kept, "optimiser": optimiser}
                    torch.save({name: each.state_dict() for name, each in state.items()} | {"steps": step + 1}, file)
            yield step + 1, float(loss.detach())

    def network(self) -> ContourNet:
        """Return the network of a finished training, with its scores shifted by `ink_shift`.

        Raises:
            NotFitted: If it was not trained to the end.
        """
        steps, trained = self._trained()
        if steps < self.plan.steps:
            raise NotFitted(f"{steps} of {self.plan.steps} steps are done: call train first.")
        weights = fold(trained)
        shift = ink_shift(ContourNet(build(weights, self.plan)), self.traced[::_INKED])
        return ContourNet(build(weights, self.plan, shift))

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def _trained(self) -> tuple[int, _Network]:
        network = _Network(self.plan).eval()
        if not self._checkpoint.exists():
            return 0, network
        state = torch.load(self._checkpoint, weights_only=True)
        network.load_state_dict(state["kept"])
        return int(state["steps"]), network

    def _photo(self, number: int) -> NDArray[np.uint8]:
        known = len(self.traced)
        return self.traced[number].photo if number < known else self.untraced[number - known]

    def _label_path(self, number: int) -> Path:
        return self.folder / f"label-{number:05}.npy"

    def _examples(self) -> _Examples:
        if missing := [number for number in range(self.labels) if not self._label_path(number).exists()]:
            raise NotFitted(f"{len(missing)} of {self.labels} photos have no label yet: call label first.")
        if not self.traced:
            raise DatasetProblem("The contour network is trained from traced photos; there are none.")
        labels = [np.load(self._label_path(number)) for number in range(self.labels)]
        traced = [_traced_pyramid(photo, label) for photo, label in zip(self.traced, labels, strict=False)]
        others = [
            _stack(photo, None, label) for photo, label in zip(self.untraced, labels[len(self.traced) :], strict=True)
        ]
        return _Examples(traced, others)


def draw_photos(folder: Path, count: int, seed: int) -> list[NDArray[np.uint8]]:
    """Read photos drawn from everything below a folder, each with a longest side of 320 pixels.

    Narrow ones and files that cannot be read are left out, so there may be fewer than ``count``.
    """
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in PICTURE_SUFFIXES)
    photos = []
    for place in np.random.default_rng(seed).permutation(len(paths))[:count]:
        try:
            photo = read_photo(paths[place])
        except UnreadableImage:
            continue
        height, width = photo.shape[:2]
        scale = _UNTRACED_SIDE / max(height, width)
        size = round(width * scale), round(height * scale)
        if min(size) >= _UNTRACED_SIDE / 2:
            photos.append(np.asarray(Image.fromarray(photo).resize(size, Image.Resampling.BICUBIC)))
    return photos


def ink_shift(detector: Detector, traced: Sequence[TracedPhoto]) -> float:
    """Return what to add to the logits so that token maps hold as much ink as the annotators drew, on average."""
    # A line keeps its width of one pixel at every size, so its share grows as the photo shrinks.
    photos = [(working_size(photo.photo), photo) for photo in traced]
    drawn = np.mean([photo.contours.mean() * len(photo.photo) / len(small) for small, photo in photos])
    logits = [_logit(detector.detect(small).astype(np.float64).clip(1e-6, 1 - 1e-6)) for small, _ in photos]
    low, high = -4.0, 4.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        scores = [(1 / (1 + np.exp(-each - middle))).astype(np.float32) for each in logits]
        too_much = np.mean([strong_contours(each).mean() for each in scores]) > drawn
        low, high = (low, middle) if too_much else (middle, high)
    return (low + high) / 2


def fold(network: _Network) -> dict[str, NDArray[np.float32]]:
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


class _Network(nn.Module):
    """The network before its normalisation is folded: ``(n, 3, h, w)`` in [-0.5, 0.5] to logits ``(n, 1, h, w)``."""

    def __init__(self, plan: Plan) -> None:
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


@dataclass(frozen=True, eq=False)
class _Batch:
    """Crops ``(n, 3, side, side)``, annotators' share and teacher's score ``(n, side, side)``, and which are traced."""

    photos: Tensor
    share: Tensor
    label: Tensor
    is_traced: Tensor


@dataclass(frozen=True, eq=False)
class _Examples:
    """Stacks ``(5, h, w)`` of bytes: red, green, blue, annotators' share, teacher's score; traced at each scale."""

    traced: Sequence[Sequence[NDArray[np.uint8]]]
    untraced: Sequence[NDArray[np.uint8]]

    def draw(self, plan: Plan, rng: np.random.Generator) -> _Batch:
        """Draw a batch: cropped anywhere, turned, mirrored and scaled a little, in other light."""
        crops, traced = [], []
        for _ in range(plan.batch):
            is_traced = not self.untraced or rng.random() >= plan.untraced
            if is_traced:
                scales = self.traced[int(rng.integers(len(self.traced)))]
                crops.append(_crop(scales[int(rng.integers(len(scales)))], plan.crop, rng.uniform(0.9, 1.15), rng))
            else:
                crops.append(
                    _crop(self.untraced[int(rng.integers(len(self.untraced)))], plan.crop, rng.uniform(0.8, 1.1), rng)
                )
            traced.append(is_traced)
        stacked = torch.cat(crops) / 255
        light = torch.stack([_light(rng) for _ in crops])
        photos = (stacked[:, :3] * light[:, :3, None, None] + light[:, 3:, None, None]).clamp(0, 1) - 0.5
        return _Batch(
            photos.contiguous(memory_format=torch.channels_last), stacked[:, 3], stacked[:, 4], torch.tensor(traced)
        )


def _loss(network: _Network, batch: _Batch) -> Tensor:
    logits = network(batch.photos)[:, 0]
    is_contour = (batch.share >= _AGREED).float()
    is_background = (batch.share <= _DISPUTED).float()
    is_traced = batch.is_traced[:, None, None].float()
    contours, background = (is_contour * is_traced).sum(), (is_background * is_traced).sum()
    balance = background / (contours + background + 1)
    weights = is_traced * (is_contour * balance + _BACKGROUND_WEIGHT * is_background * (1 - balance))
    per_pixel = functional.binary_cross_entropy_with_logits(logits, is_contour, reduction="none")
    from_people = (per_pixel * weights).sum() / (weights.sum() + 1)
    return from_people + functional.binary_cross_entropy_with_logits(logits, batch.label)


def _schedule(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / 100) * (0.02 + 0.49 * (1 + math.cos(math.pi * step / steps)))


def _follow(kept: nn.Module, network: nn.Module, memory: float) -> None:
    with torch.no_grad():
        for mean, value in zip(kept.state_dict().values(), network.state_dict().values(), strict=True):
            mean.lerp_(value, 1 - memory) if mean.dtype.is_floating_point else mean.copy_(value)


def _crop(stack: NDArray[np.uint8], side: int, zoom: float, rng: np.random.Generator) -> Tensor:
    """Cut a square out of a stack, turned, perhaps mirrored: ``(1, 5, side, side)``."""
    height, width = stack.shape[1:]
    angle = np.deg2rad(rng.choice([0, 0, 90, 180, 270]) + rng.uniform(-15, 15) * (rng.random() < 0.5))
    mirror = rng.choice([-1.0, 1.0])
    half = side / 2 / zoom
    x, y = (rng.uniform(min(half, length / 2), max(length - half, length / 2)) for length in (width, height))
    cos, sin = np.cos(angle) * half, np.sin(angle) * half
    # From the crop's coordinates in [-1, 1] to the stack's, first in pixels, then in its own [-1, 1].
    turn = np.array([[mirror * cos, -sin, x], [mirror * sin, cos, y]]) * [[2 / width], [2 / height]] - [
        [0, 0, 1],
        [0, 0, 1],
    ]
    grid = functional.affine_grid(torch.from_numpy(turn[None]).float(), [1, 5, side, side], align_corners=False)
    picture = torch.from_numpy(stack[None]).float()
    return functional.grid_sample(picture, grid, mode="bilinear", padding_mode="reflection", align_corners=False)


def _light(rng: np.random.Generator) -> Tensor:
    """Draw a factor for each colour and an offset for all: ``(4,)``."""
    if rng.random() < 0.5:
        return torch.tensor([1.0, 1.0, 1.0, 0.0])
    factors = rng.uniform(0.7, 1.3) * (rng.uniform(0.85, 1.15, 3) if rng.random() < 0.4 else np.ones(3))
    return torch.tensor([*factors, rng.uniform(-0.1, 0.1)], dtype=torch.float32)


def _traced_pyramid(photo: TracedPhoto, label: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    height, width = label.shape
    sizes = [(round(width * scale), round(height * scale)) for scale in _SCALES]
    return [
        _stack(_resized(photo.photo, size), _share_of_annotators(photo, size), _resized(label, size)) for size in sizes
    ]


def _stack(photo: NDArray[np.uint8], share: NDArray[np.float64] | None, label: NDArray[np.uint8]) -> NDArray[np.uint8]:
    shares = np.zeros(label.shape) if share is None else np.rint(255 * share)
    return np.concatenate([photo.transpose(2, 0, 1), shares[None].astype(np.uint8), label[None]])


def _share_of_annotators(photo: TracedPhoto, size: tuple[int, int] | None = None) -> NDArray[np.float64]:
    """Return the share of annotators with a contour at each pixel or beside it, at a ``size`` of width and height."""
    height, width = photo.contours.shape[1:]
    if size in (None, (width, height)):
        near = require("scipy.ndimage", "train").binary_dilation(photo.contours, np.ones((1, 3, 3)))
        return np.asarray(near.mean(axis=0))
    shares: NDArray[np.float64] = np.mean(
        [_resized(np.uint8(255) * lines, size) > 64 for lines in photo.contours], axis=0
    )
    return shares


def _resized(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    if pixels.shape[1::-1] == size:
        return pixels
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))


def _logit(share: NDArray[np.float64]) -> NDArray[np.float64]:
    logits: NDArray[np.float64] = np.log(share / (1 - share))
    return logits
