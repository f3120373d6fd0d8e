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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

from sketchhash.errors import DatasetProblem, NotFitted, UnreadableImage
from sketchhash.files import replacing
from sketchhash.imaging import PICTURE_SUFFIXES, read_photo
from sketchhash.tokens.contour_net import ContourNet
from sketchhash.tokens.contours import strong_contours
from sketchhash.tokens.detectors import Detector, working_size
from sketchhash.tokens.training.bsds import TracedPhoto
from sketchhash.tokens.training.contour_examples import Batch, Examples, stacked_photo, traced_pyramid
from sketchhash.tokens.training.contour_layers import Plan, TrainedNetwork, build, fold

_VERSION = 1  # raise whenever training would make another network from the same photos, plan and seed

_AGREED, _DISPUTED = 0.3, 0.02  # shares of annotators: from the first on a contour, up to the second background
_BACKGROUND_WEIGHT = 1.1  # as in HED
_MEMORY = 0.998  # of the moving average of the weights, which is what is kept
_SAVED_EVERY = 250  # steps
_UNTRACED_SIDE = 320  # somewhat above the 256 pixels of token maps
_INKED, _HALVINGS = 4, 10  # one traced photo in so many sets the shift, found by halving an interval so often


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
        network = TrainedNetwork(self.plan).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
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

    def _trained(self) -> tuple[int, TrainedNetwork]:
        network = TrainedNetwork(self.plan).eval()
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

    def _examples(self) -> Examples:
        if missing := [number for number in range(self.labels) if not self._label_path(number).exists()]:
            raise NotFitted(f"{len(missing)} of {self.labels} photos have no label yet: call label first.")
        if not self.traced:
            raise DatasetProblem("The contour network is trained from traced photos; there are none.")
        labels = [np.load(self._label_path(number)) for number in range(self.labels)]
        traced = [traced_pyramid(photo, label) for photo, label in zip(self.traced, labels, strict=False)]
        others = [
            stacked_photo(photo, None, label)
            for photo, label in zip(self.untraced, labels[len(self.traced) :], strict=True)
        ]
        return Examples(traced, others)


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


def _loss(network: TrainedNetwork, batch: Batch) -> Tensor:
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


def _logit(share: NDArray[np.float64]) -> NDArray[np.float64]:
    logits: NDArray[np.float64] = np.log(share / (1 - share))
    return logits
