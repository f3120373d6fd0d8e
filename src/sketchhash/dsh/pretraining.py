"""Pre-training: C1 and C2 as classifiers, before any hashing (section 3 of the paper).

The result is kept by everything it depends on, so that models with other bits or another objective start from
the same nets; an interrupted pre-training goes on at its last epoch.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from sketchhash.devices import device
from sketchhash.dsh.backbones import EfficientNetLite
from sketchhash.dsh.checkpoints import read_checkpoint, read_weights, write_checkpoint, write_weights
from sketchhash.dsh.loading import ReadAhead
from sketchhash.dsh.networks import Classifier, Net
from sketchhash.dsh.optimisation import Descent, Processes, autocast, drawn, seeded_epoch, shuffled
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Steps, without_additions
from sketchhash.dsh.sources import InputSet, Source, fused, weights_hash
from sketchhash.errors import BadArgument

_FLAT = 2  # dimensions of features; pictures have four


def pretrain(
    net: Net,
    inputs: InputSet,
    categories: int,
    steps: Steps,
    seed: int,
    cache: Path,
    processes: Processes,
    progress: Progress,
    image_classes: Callable[[], Tensor] | None = None,
) -> None:
    """Train ``net`` in place to name the categories of what it is shown, or load what that gave before.

    ``image_classes`` returns how photos of each category are classified, ``(categories, classes)``; a row of zeros says
    nothing. It is needed when ``steps`` has an ``imagenet_weight``.
    """
    if steps.epochs == 0:
        return
    for cycle in range(steps.cycles):
        path = cache / "pretrained" / f"{inputs.kind}-{_key(net, inputs, steps, seed)[:32]}.safetensors"
        if not path.exists():
            stage = f"pre-training on {inputs.kind}" + (f", cycle {cycle + 1}" if cycle else "")
            checkpoint = path.with_suffix(".checkpoint")
            targets = image_classes() if image_classes is not None and steps.imagenet_weight else None
            before = deepcopy(net.trunk.state_dict())
            _train(net, inputs, categories, steps, seed, stage, checkpoint, processes, progress, targets)
            _mix(net.trunk, before, steps.kept_share)
            if processes.is_first:
                write_weights(path, net)
                checkpoint.unlink(missing_ok=True)
            processes.wait()
        net.load_state_dict(read_weights(path))


def _mix(trunk: nn.Module, before: Mapping[str, Tensor], kept_share: float) -> None:
    """Move weights and batch statistics back towards those ``before``, by this share of the way; counts stay."""
    mixed = {
        name: torch.lerp(value, before[name].to(value.device), kept_share) if value.is_floating_point() else value
        for name, value in trunk.state_dict().items()
    }
    trunk.load_state_dict(mixed)


def _train(
    net: Net,
    inputs: InputSet,
    categories: int,
    steps: Steps,
    seed: int,
    stage: str,
    checkpoint: Path,
    processes: Processes,
    progress: Progress,
    image_targets: Tensor | None,
) -> None:
    with processes.first_ahead():
        source = inputs.load()
    chances = _chances(inputs) if steps.balanced_sampling else None
    labels = torch.tensor([item.label for item in inputs.items], device=device())
    with torch.random.fork_rng(devices=[]):  # a new layer draws weights before they are set to zero
        classes = 0 if image_targets is None else image_targets.shape[1]
        classifier = Classifier(net, categories, classes, steps.normalised_short).to(device())
    front = _front(net.trunk, steps.frozen_blocks)
    front.requires_grad_(False)
    averaged = _average(classifier, steps.averaging)
    trunk = _with_fused_front(net.trunk, steps.frozen_blocks)
    teacher = _Teacher(classifier, trunk, source, labels, steps, image_targets)

    def batches_of(generator: Generator) -> tuple[Tensor, ...]:
        count = max(1, len(labels) // steps.batch)
        return shuffled(len(labels), count, generator) if chances is None else drawn(chances, count, generator)

    if steps.scores_first and not checkpoint.exists():
        with seeded_epoch(seed, f"{stage}, behind", 0, processes) as generator:
            _teach_behind(teacher, batches_of(generator), stage, processes, progress, generator)
    wrapped = processes.wrap(teacher)
    descent = Descent(wrapped, steps)
    first = 0
    if checkpoint.exists():
        state = read_checkpoint(checkpoint)
        classifier.load_state_dict(state["weights"])
        descent.optimiser.load_state_dict(state["optimiser"])
        if averaged is not None:
            averaged.load_state_dict(state["averaged"])
        first = state["epoch"]
    for epoch in range(first, steps.epochs):
        classifier.train()
        front.eval()
        teacher.reduces = epoch < steps.reduced_epochs
        with seeded_epoch(seed, stage, epoch, processes) as generator:
            batches = batches_of(generator)
            reading = ReadAhead(batches, partial(teacher.read, processes, processes.own(generator)))
            with progress.stage(f"{stage}, epoch {epoch + 1} of {steps.epochs}", len(batches)) as advance:

                def after_step(advance: Callable[[], None] = advance) -> None:
                    if averaged is not None:
                        averaged.update_parameters(classifier)
                    advance()

                mean = processes.mean(descent.epoch(epoch, reading, partial(_shared_loss, wrapped), after_step))
        progress.report({"stage": stage, "epoch": epoch + 1, "loss": mean})
        if processes.is_first:
            state = {
                "weights": classifier.state_dict(),
                "optimiser": descent.optimiser.state_dict(),
                "epoch": epoch + 1,
                **({} if averaged is None else {"averaged": averaged.state_dict()}),
            }
            write_checkpoint(checkpoint, state)
    front.requires_grad_(True)
    if averaged is not None:
        classifier.load_state_dict(averaged.module.state_dict())


def _teach_behind(
    teacher: _Teacher,
    batches: Sequence[Tensor],
    stage: str,
    processes: Processes,
    progress: Progress,
    generator: Generator,
) -> None:
    """Let the layers behind the trunk learn from one pass; the trunk stays as it is."""
    trunk = teacher.classifier.net.trunk.eval()
    learning = [weights for weights in trunk.parameters() if weights.requires_grad]
    for weights in learning:
        weights.requires_grad_(False)
    teacher.reduces = teacher.steps.reduced_epochs > 0
    wrapped = processes.wrap(teacher)
    descent = Descent(wrapped, replace(teacher.steps, epochs=1))
    reading = ReadAhead(batches, partial(teacher.read, processes, processes.own(generator)))
    with progress.stage(f"{stage}, behind the trunk", len(batches)) as advance:
        descent.epoch(0, reading, partial(_shared_loss, wrapped), advance)
    for weights in learning:
        weights.requires_grad_(True)


def _front(trunk: nn.Module, blocks: int) -> nn.ModuleList:
    """Collect the stem and the first blocks of an EfficientNet, or nothing."""
    if not blocks:
        return nn.ModuleList()
    if not isinstance(trunk, EfficientNetLite):
        raise BadArgument("frozen_blocks is for the trunks of EfficientNet: this recipe has another network.")
    return nn.ModuleList([trunk.stem, *trunk.blocks.children()][: blocks + 1])


def _with_fused_front(trunk: nn.Module, blocks: int) -> nn.Module:
    """Return a trunk that shares the layers of ``trunk`` that learn, and is faster through the front that does not."""
    if not blocks or not isinstance(trunk, EfficientNetLite):
        return trunk
    layers = list(trunk.blocks.children())
    front = [fused(layer).requires_grad_(False) for layer in (trunk.stem, *layers[:blocks])]
    return nn.Sequential(*front, *layers[blocks:], trunk.head, _SpatialMean())


class _SpatialMean(nn.Module):
    def forward(self, maps: Tensor) -> Tensor:
        return maps.mean(dim=(2, 3))


def _average(classifier: Classifier, share: float) -> AveragedModel | None:
    """Average weights and batch statistics over the steps to come, if ``share`` of the average is kept at each."""
    if not share:
        return None
    return AveragedModel(classifier, multi_avg_fn=get_ema_multi_avg_fn(share), use_buffers=True)


def _chances(inputs: InputSet) -> Tensor:
    """Return how likely each item is to be drawn: groups, and categories in a group, by the root of their size."""
    groups = Counter(inputs.groups)
    categories = Counter(zip(inputs.groups, (item.label for item in inputs.items), strict=True))
    sizes = [
        groups[group] * categories[group, item.label] for group, item in zip(inputs.groups, inputs.items, strict=True)
    ]
    return torch.tensor(sizes, dtype=torch.float64).rsqrt()


class _Shown(NamedTuple):
    """This process's rows of a batch and their pictures, and how much its loss weighs among the processes'."""

    rows: Tensor
    pictures: Tensor
    weight: float


def _shared_loss(teacher: nn.Module, shown: _Shown) -> Tensor:
    """Return this process's part of a batch's loss; averaged over the processes, it is the whole."""
    value: Tensor = teacher(shown.rows, shown.pictures)
    return value * shown.weight


class _Teacher(nn.Module):
    """The classification loss of some rows, as one module: gradients of several processes meet in it."""

    def __init__(
        self,
        classifier: Classifier,
        trunk: nn.Module,
        source: Source,
        labels: Tensor,
        steps: Steps,
        image_targets: Tensor | None,
    ) -> None:
        super().__init__()
        self.classifier, self.trunk, self.source, self.labels, self.steps = classifier, trunk, source, labels, steps
        self.image_targets = None if image_targets is None else image_targets.to(labels.device)
        self.reduces = False

    def read(self, processes: Processes, generator: Generator, rows: Tensor) -> _Shown:
        mine = processes.share(rows)
        pictures = self.source.batch(mine, generator).to(self.labels.device)
        return _Shown(mine, pictures, processes.count * len(mine) / len(rows))

    def forward(self, rows: Tensor, batch: Tensor) -> Tensor:
        with autocast(self.steps):
            if batch.ndim == _FLAT:
                pool3 = batch
            else:
                pool3 = self.classifier.net.pool3(_reduced(batch) if self.reduces else batch, self.trunk)
            logits, short_logits = (scores.float() for scores in self.classifier.logits(pool3))
        pool3 = pool3.float()
        labels = self.labels[rows]
        loss, short_loss = (
            functional.cross_entropy(scores, labels, label_smoothing=self.steps.label_smoothing)
            for scores in (logits, short_logits)
        )
        return loss + short_loss + self._image_loss(pool3, labels)

    def _image_loss(self, pool3: Tensor, labels: Tensor) -> Tensor | float:
        """Compare what ImageNet's classes the net sees in sketches with what photos of their categories show."""
        if self.image_targets is None or self.classifier.image_scores is None:
            return 0.0
        targets = self.image_targets[labels]
        losses = -(targets * functional.log_softmax(self.classifier.image_scores(pool3), dim=1)).sum(dim=1)
        return self.steps.imagenet_weight * losses.sum() / targets.sum().clamp(min=1)


def _reduced(pictures: Tensor) -> Tensor:
    """Shrink pictures to three quarters of their side."""
    return functional.interpolate(pictures.float(), scale_factor=0.75, mode="bilinear", antialias=True)


def _key(net: Net, inputs: InputSet, steps: Steps, seed: int) -> str:
    facts = {
        "start": weights_hash(net),
        "steps": without_additions({**asdict(steps), "cycles": 1}),
        "seed": seed,
        "trainable": sum(weights.requires_grad for weights in net.parameters()),
        "pictures": (inputs.fingerprint, inputs.views),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
