"""A whole training run: prepare, pre-train, then Algorithm 1, with the state after each epoch kept on disk.

| paper    | here                                       | equation    |
|----------|--------------------------------------------|-------------|
| D        | `solve_basis`                              | 6           |
| B^I, B^S | `update_codes`                             | 11          |
| Θ1, Θ2   | `_Loss`, minimised by `Descent`            | 12          |
| F1, F2   | `TrainingSet.values`                       | 3           |
| T        | ``steps.epochs``                           | Algorithm 1 |

Where we differ: an epoch may take D, B^I and B^S several times in turn (``rounds``) before the networks move, and Eq.
12 may have one more summand, `category_loss`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn import functional

from sketchhash import words
from sketchhash.datasets import Item, Partition
from sketchhash.devices import device
from sketchhash.dsh.discrete import random_codes, solve_basis, update_codes
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.loading import ReadAhead
from sketchhash.dsh.networks import HashNetwork
from sketchhash.dsh.objective import Problem, Samples, Terms, objective, orthogonal_similarity, paper_similarity
from sketchhash.dsh.optimisation import Descent, Processes, autocast, drawn, seeded_epoch, shuffled
from sketchhash.dsh.pretraining import pretrain
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.prototypes import category_weights, virtual_photos
from sketchhash.dsh.recipe import Recipe, Similarity, Steps
from sketchhash.dsh.runs import Job, Run
from sketchhash.dsh.sources import Features, Source
from sketchhash.dsh.warm_start import start_from
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.model.manifest import SKETCH_NETWORK

_STAGE = "hashing"
_ENCODE_BATCH = 256
_STATISTICS = 512  # sketches that batch normalisation is measured on
_SHARPNESS = 16.0  # of the softmax over categories: what a category's own code scores above an unrelated one


def train(
    job: Job, folder: Path, cache: Path, progress: Progress, processes: Processes, resume: bool = False
) -> NetworkInputs:
    """Train, or go on training, and return the inputs with the trained network.

    A recipe without epochs of Algorithm 1 ends with the pre-trained nets, and no codes.
    """
    parts = job.split.apply(job.dataset)
    lesson = _Lesson.of(parts, job.recipe)
    network = job.network()
    run = Run(folder, job, network)
    run.open(resume, processes)
    inputs = prepare(job, network, cache, progress, processes)
    if not job.recipe.learns_codes:
        return inputs
    trainer = _trainer(job, inputs, parts, lesson, processes)
    if state := run.last_state():
        trainer.load_state(state)
    for epoch in trainer.epochs(len(run.history), progress):
        if processes.is_first:
            run.keep(trainer.state(), epoch.entry())
    return inputs


def train_behind(trunks: HashNetwork, job: Job, cache: Path, progress: Progress) -> NetworkInputs:
    """Train all that is behind the trunks of another network, and return the inputs with what was trained.

    The trunks stay as they are, and C2's other layers begin anew: so splits of one dataset can be compared on the same
    features. Nothing of the run is kept on disk but what pre-training and features cost.
    """
    if not job.recipe.frozen_trunks:
        raise BadArgument(f"The recipe {job.recipe.name} trains its trunks: give one with frozen trunks.")
    parts = job.split.apply(job.dataset)
    lesson = _Lesson.of(parts, job.recipe)
    network = job.network()
    network.c2.trunk.load_state_dict(trunks.c2.trunk.state_dict())
    inputs = NetworkInputs(job.dataset, network, job.recipe, job.seed, cache, progress)
    processes = Processes()
    _pretrain(inputs, parts, _without_ink_stages(job), cache, processes, progress)
    for _ in _trainer(job, inputs, parts, lesson, processes).epochs(0, progress):
        pass
    return inputs


def prepare(job: Job, network: HashNetwork, cache: Path, progress: Progress, processes: Processes) -> NetworkInputs:
    """Do all that comes before Algorithm 1: token maps, and pre-training of both nets."""
    inputs = NetworkInputs(job.dataset, network, job.recipe, job.seed, cache, progress, job.keep_pixels)
    with processes.first_ahead():
        inputs.prepare_photos()
        if job.start is not None:
            _start_from(job.start, inputs, job.split.apply(job.dataset).training_sketches)
    if job.start is not None:
        processes.copy_first(network.c2)
    _pretrain(inputs, job.split.apply(job.dataset), job, cache, processes, progress)
    return inputs


def _without_ink_stages(job: Job) -> Job:
    """Return a job that leaves C2 as it is."""
    none = Steps(epochs=0)
    return replace(job, recipe=replace(job.recipe, pretrain_sketches=none, pretrain_ink=none))


@dataclass(frozen=True)
class _Lesson:
    """The labels that are taught, and their word vectors."""

    taught: Sequence[int]
    word_vectors: NDArray[np.float32]

    @classmethod
    def of(cls, parts: Partition, recipe: Recipe) -> _Lesson:
        taught = _taught_categories(parts)
        return cls(taught, _word_vectors(recipe, [parts.categories[label] for label in taught]))


def _trainer(job: Job, inputs: NetworkInputs, parts: Partition, lesson: _Lesson, processes: Processes) -> Trainer:
    with processes.first_ahead():
        training_set = _training_set(inputs, parts, lesson.taught)
    return Trainer(
        inputs.network,
        training_set,
        _problem(job.recipe, lesson.word_vectors, job.bits, training_set),
        job.recipe.hashing,
        job.recipe.objective.rounds,
        job.hashing_seed,
        processes,
        job.recipe.category_weight,
    )


def _start_from(model: Path, inputs: NetworkInputs, sketches: Sequence[Item]) -> None:
    """Load a model's sketch net into C2; one that learns on is normalised by sketches of the whole training set."""
    recipe = inputs.recipe
    if recipe.frozen_trunks and not recipe.pretrain_sketches.epochs and not recipe.pretrain_ink.epochs:
        start_from(inputs.network.c2, model / SKETCH_NETWORK, None)
        return
    shown = sketches[:: max(1, len(sketches) // _STATISTICS)]
    pixels = torch.from_numpy(inputs.reader.sketches(shown))
    start_from(inputs.network.c2, model / SKETCH_NETWORK, pixels)


def _taught_categories(parts: Partition) -> list[int]:
    """Return the labels that have both photos and sketches to train on: only they teach the cross-view loss."""
    sketches = Counter(sketch.label for sketch in parts.training_sketches)
    photos = Counter(photo.label for photo in parts.training_photos)
    poor = [parts.categories[label] for label in photos if sketches[label] == 1]
    if poor:
        raise SplitProblem(
            f"Only one sketch is left to train on in: {', '.join(poor)}. Add sketches or ask fewer queries."
        )
    taught = sorted(set(sketches) & set(photos))
    if len(taught) < 2:
        raise SplitProblem("Fewer than two categories have both photos and sketches to train on.")
    return taught


def _pretrain(
    inputs: NetworkInputs, parts: Partition, job: Job, cache: Path, processes: Processes, progress: Progress
) -> None:
    network, recipe = inputs.network, job.recipe
    stages = [
        (network.c2, inputs.pretraining_sketches(parts.training_sketches), recipe.pretrain_sketches),
        (network.c2, inputs.pretraining_ink(parts.training_sketches, parts.training_photos), recipe.pretrain_ink),
    ]
    if network.c1 is not None:
        # Learns from features when frozen: not even pre-training runs its trunk.
        network.c1.trunk.requires_grad_(not recipe.frozen_trunks)
        stages.append((network.c1, inputs.pretraining_photos(parts.training_photos), recipe.pretrain_photos))

    def image_classes() -> Tensor:
        with processes.first_ahead():
            return _image_classes(inputs, parts)

    for net, shown, steps in stages:
        pretrain(net, shown, len(parts.categories), steps, job.seed, cache, processes, progress, image_classes)
    network.c2.trunk.requires_grad_(not recipe.frozen_trunks)
    if recipe.pretrain_behind.epochs:
        if not recipe.frozen_trunks:
            raise BadArgument("pretrain_behind needs frozen trunks; this recipe trains them.")
        found = {photo.label for photo in parts.training_photos}
        sketches = [sketch for sketch in parts.training_sketches if sketch.label in found]
        shown = inputs.pretraining_behind(sketches, parts.training_photos)
        pretrain(network.c2, shown, len(parts.categories), recipe.pretrain_behind, job.seed, cache, processes, progress)


def _image_classes(inputs: NetworkInputs, parts: Partition) -> Tensor:
    """Average what ImageNet's classifier says of the training photos of each category: ``(categories, classes)``.

    As SAKE does (Liu et al., Semantic-Aware Knowledge Preservation for Zero-Shot Sketch-Based Image Retrieval, ICCV
    2019), so that a net which learns sketches keeps what photos have in common.
    """
    weights, biases = _imagenet_classifier(inputs, "imagenet_weight")
    photos = parts.training_photos
    features = inputs.photos(photos).batch(torch.arange(len(photos)), None)
    said = torch.softmax(features @ weights.T + biases, dim=1)
    labels = torch.tensor([photo.label for photo in photos])
    sums = torch.zeros(len(parts.categories), len(biases)).index_add_(0, labels, said)
    return sums / torch.bincount(labels, minlength=len(parts.categories)).clamp(min=1)[:, None]


def _imagenet_classifier(inputs: NetworkInputs, setting: str) -> tuple[Tensor, Tensor]:
    """Return the weights and biases of ImageNet's classifier, which a ``setting`` of the recipe needs."""
    c1 = inputs.network.c1
    if c1 is None or c1.backbone.classifier is None or not inputs.recipe.frozen_trunks:
        raise BadArgument(f"{setting} needs a frozen photo trunk with ImageNet's weights; this recipe has none.")
    return c1.backbone.classifier()


def _training_set(inputs: NetworkInputs, parts: Partition, taught: Sequence[int]) -> TrainingSet:
    """Gather the items of the taught categories, labelled by their place among these."""
    places = {label: place for place, label in enumerate(taught)}
    photos = [photo for photo in parts.training_photos if photo.label in places]
    sketches = [sketch for sketch in parts.training_sketches if sketch.label in places]

    def labels(items: Sequence[Item]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([places[item.label] for item in items], dtype=np.int64)

    training_set = TrainingSet(
        photos=inputs.photos(photos),
        tokens=inputs.tokens(photos),
        photo_labels=labels(photos),
        sketches=inputs.sketches(sketches),
        sketch_labels=labels(sketches),
    )
    if not inputs.recipe.fewest_photos:
        return training_set
    return _with_virtual_photos(training_set, inputs, [parts.categories[label] for label in taught])


def _with_virtual_photos(training_set: TrainingSet, inputs: NetworkInputs, categories: Sequence[str]) -> TrainingSet:
    """Add virtual photos of thin categories; sketches stand in for their contours."""
    photos, tokens, sketches = training_set.photos, training_set.tokens, training_set.sketches
    classifier = _imagenet_classifier(inputs, "fewest_photos")
    if not isinstance(photos, Features) or not isinstance(tokens, Features) or not isinstance(sketches, Features):
        raise BadArgument("fewest_photos needs frozen trunks; this recipe trains them.")
    rng = np.random.default_rng(inputs.store.seed)
    weights = category_weights(categories, classifier[0].numpy())
    virtual, labels = virtual_photos(photos, training_set.photo_labels, weights, inputs.recipe.fewest_photos, rng)
    standing_in = [int(rng.choice(np.flatnonzero(training_set.sketch_labels == label))) for label in labels]
    views = min(len(photos.views), len(tokens.views), len(sketches.views))
    contours = sketches.take(torch.tensor(standing_in, dtype=torch.long)).in_memory()[:views]
    return replace(
        training_set,
        photos=Features(torch.cat([photos.in_memory()[:views], virtual.views[:views]], dim=1)),
        tokens=Features(torch.cat([tokens.in_memory()[:views], contours], dim=1)),
        photo_labels=np.concatenate([training_set.photo_labels, labels]),
    )


def _word_vectors(recipe: Recipe, categories: Sequence[str]) -> NDArray[np.float32]:
    vectors = words.embed(categories, recipe.words, Path(recipe.words_file) if recipe.words_file else None)
    return words.centred(vectors) if recipe.centred_words else vectors


def _problem(recipe: Recipe, word_vectors: NDArray[np.float32], bits: int, training_set: TrainingSet) -> Problem:
    count, weights = len(word_vectors), recipe.objective
    is_papers = weights.similarity is Similarity.PAPER
    samples = (len(training_set.photo_labels) + len(training_set.sketch_labels)) / 2 if weights.balanced else 1
    return Problem(
        word_vectors=word_vectors,
        similarity=paper_similarity(count) if is_papers else orthogonal_similarity(count, bits),
        semantic_weight=weights.semantic_weight * (samples * bits if weights.balanced else 1),
        quantisation_weight=weights.quantisation_weight * samples,
        pairwise_weight=weights.pairwise_weight,
        basis_weight=weights.basis_weight * samples,
    )


@dataclass(frozen=True)
class TrainingSet:
    """Photos, their tokens and sketches as sources, with labels ``(n,)``: O₁ and O₂ of the paper."""

    photos: Source
    tokens: Source
    photo_labels: NDArray[np.int64]
    sketches: Source
    sketch_labels: NDArray[np.int64]

    def read(self, photo_rows: Tensor, sketch_rows: Tensor, generator: Generator | None) -> Shown:
        """Read some rows to the device, augmented when a ``generator`` is given."""
        where = device()
        return Shown(
            photo_rows,
            sketch_rows,
            self.photos.batch(photo_rows, generator).to(where),
            self.tokens.batch(photo_rows, generator).to(where),
            self.sketches.batch(sketch_rows, generator).to(where),
        )

    def values(self, network: HashNetwork, shown: Shown) -> tuple[Tensor, Tensor]:
        """Compute F₁ and F₂ of what was read."""
        photos, tokens, sketches = shown.photos, shown.tokens, shown.sketches
        if isinstance(self.sketches, Features):
            return network.photo_values(photos, tokens), network.sketch_values(sketches)
        photo_values, sketch_values = network(photos, tokens, sketches)
        return photo_values, sketch_values


class Shown(NamedTuple):
    """What the networks are shown at once: the rows of photos and sketches, and their pictures or features."""

    photo_rows: Tensor
    sketch_rows: Tensor
    photos: Tensor
    tokens: Tensor
    sketches: Tensor


@dataclass(frozen=True)
class Epoch:
    """What an epoch, counted from 1, came to; few distinct codes for many categories are a collapse."""

    number: int
    terms: Terms
    loss: float
    distinct_photo_codes: int
    distinct_sketch_codes: int

    def entry(self) -> dict[str, float]:
        """Return the epoch's line of the log."""
        return {
            "epoch": self.number,
            "loss": self.loss,
            **asdict(self.terms),
            "distinct_photo_codes": self.distinct_photo_codes,
            "distinct_sketch_codes": self.distinct_sketch_codes,
        }


class Trainer:
    """The alternation D → B^I → B^S → Θ, an epoch at a time."""

    def __init__(
        self,
        network: HashNetwork,
        training_set: TrainingSet,
        problem: Problem,
        steps: Steps,
        rounds: int,
        seed: int,
        processes: Processes,
        category_weight: float = 0.0,
    ) -> None:
        """Start from random codes (line 1 of Algorithm 1)."""
        self.network = network.to(device())
        self.training_set, self.problem, self.steps = training_set, problem, steps
        self.rounds, self.seed, self.processes = rounds, seed, processes
        rng = np.random.default_rng(seed)
        self.photo_codes = random_codes(len(training_set.photo_labels), network.spec.bits, rng)
        self.sketch_codes = random_codes(len(training_set.sketch_labels), network.spec.bits, rng)
        self.loss = processes.wrap(_Loss(network, training_set, steps, category_weight))
        self.descent = Descent(self.loss, steps)

    def epochs(self, first: int, progress: Progress) -> Iterator[Epoch]:
        """Run from epoch ``first`` (counted from 0) to the last."""
        for number in range(first, self.steps.epochs):
            terms = self._update_codes()
            loss = self._update_networks(number, progress)
            distinct = [len(np.unique(codes, axis=0)) for codes in (self.photo_codes, self.sketch_codes)]
            epoch = Epoch(number + 1, terms, loss, *distinct)
            progress.report({"stage": _STAGE, **epoch.entry()})
            yield epoch

    def state(self) -> dict[str, object]:
        """Return all that the next epoch starts from."""
        return {
            "weights": self.network.state_dict(),
            "optimiser": self.descent.optimiser.state_dict(),
            "photo_codes": torch.from_numpy(self.photo_codes),
            "sketch_codes": torch.from_numpy(self.sketch_codes),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.network.load_state_dict(state["weights"])
        self.descent.optimiser.load_state_dict(state["optimiser"])
        self.photo_codes = state["photo_codes"].numpy()
        self.sketch_codes = state["sketch_codes"].numpy()

    def _update_codes(self) -> Terms:
        """Take the D, B^I and B^S steps with the networks' present values, and evaluate J."""
        photo_values, sketch_values = self._all_values()
        photos = Samples(self.training_set.photo_labels, self.photo_codes, photo_values)
        sketches = Samples(self.training_set.sketch_labels, self.sketch_codes, sketch_values)
        for _ in range(self.rounds):
            basis = solve_basis(self.problem, photos, sketches)
            photos = update_codes(self.problem, photos, sketches, basis)
            sketches = update_codes(self.problem, sketches, photos, basis)
        self.photo_codes, self.sketch_codes = photos.codes, sketches.codes
        return objective(self.problem, photos, sketches, solve_basis(self.problem, photos, sketches))

    def _update_networks(self, number: int, progress: Progress) -> float:
        """Take the Θ step: one pass over all photos and all sketches with the Euclidean loss."""
        self.network.train()
        photo_codes, sketch_codes = (torch.from_numpy(codes).float() for codes in (self.photo_codes, self.sketch_codes))
        categories = torch.from_numpy(self._category_codes())
        count = self._batches(self.steps.batch)
        sides = (self.training_set.photo_labels, self.training_set.sketch_labels)
        with seeded_epoch(self.seed, _STAGE, number, self.processes) as generator:
            rows = (_drawn_rows(labels, count, self.steps.balanced_sampling, generator) for labels in sides)
            batches = list(zip(*rows, strict=True))
            own = self.processes.own(generator)

            def read(batch: tuple[Tensor, Tensor]) -> tuple[Shown, int]:
                photos, sketches = (self.processes.share(part) for part in batch)
                return self.training_set.read(photos, sketches, own), sum(len(part) for part in batch)

            def loss(batch: tuple[Shown, int]) -> Tensor:
                shown, samples = batch
                codes = photo_codes[shown.photo_rows], sketch_codes[shown.sketch_rows]
                value: Tensor = self.loss(shown, *codes, categories)
                # Torch averages over the processes: so together they give the loss of the whole batch.
                return value * self.processes.count / (2 * samples)

            stage = f"{_STAGE}, epoch {number + 1} of {self.steps.epochs}"
            with progress.stage(stage, count) as advance:
                mean = self.descent.epoch(number, ReadAhead(batches, read), loss, advance)
        self.processes.align(self.network)
        return self.processes.mean(mean)

    def _all_values(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute F₁ and F₂ of the whole training set, each process a share."""
        self.network.eval()
        photos, sketches, count = len(self.photo_codes), len(self.sketch_codes), self._batches(_ENCODE_BATCH)
        photo_values, sketch_values = (
            torch.zeros(rows, self.network.spec.bits, device=device()) for rows in (photos, sketches)
        )
        parts = zip(torch.arange(photos).tensor_split(count), torch.arange(sketches).tensor_split(count), strict=True)

        def read(part: tuple[Tensor, Tensor]) -> Shown:
            photo_rows, sketch_rows = (self.processes.share(rows) for rows in part)
            return self.training_set.read(photo_rows, sketch_rows, None)

        with torch.inference_mode():
            for shown in ReadAhead(list(parts), read):
                values = self.training_set.values(self.network, shown)
                photo_values[shown.photo_rows], sketch_values[shown.sketch_rows] = values
        return (
            self.processes.joined(photo_values).cpu().numpy(),
            self.processes.joined(sketch_values).cpu().numpy(),
        )

    def _category_codes(self) -> NDArray[np.float32]:
        """Return the code of each category, ``(categories, bits)``: what its photos and its sketches have in common."""
        sides = (
            (self.training_set.photo_labels, self.photo_codes),
            (self.training_set.sketch_labels, self.sketch_codes),
        )
        means: list[NDArray[np.float64]] = []
        for labels, codes in sides:
            sums = np.zeros((self.problem.classes, codes.shape[1]))
            np.add.at(sums, labels, codes)
            means.append(sums / np.bincount(labels, minlength=self.problem.classes)[:, None])
        return np.where(means[0] + means[1] >= 0, 1, -1).astype(np.float32)

    def _batches(self, size: int) -> int:
        """Count the batches of about ``size`` samples: each has a photo and a sketch for every process."""
        photos, sketches, processes = len(self.photo_codes), len(self.sketch_codes), self.processes.count
        return max(1, min((photos + sketches) // size, photos // processes, sketches // processes))


def _drawn_rows(labels: NDArray[np.int64], count: int, balanced: bool, generator: Generator) -> tuple[Tensor, ...]:
    """Divide an epoch's rows into batches; if balanced, small categories are drawn more often than their share."""
    if not balanced:
        return shuffled(len(labels), count, generator)
    return drawn(torch.from_numpy(np.bincount(labels)[labels]).double().rsqrt(), count, generator)


class _Loss(nn.Module):
    """The Euclidean loss (Eq. 12) of some rows, as one module: gradients of several processes meet in it."""

    def __init__(self, network: HashNetwork, training_set: TrainingSet, steps: Steps, category_weight: float) -> None:
        super().__init__()
        self.network, self.training_set, self.steps, self.category_weight = (
            network,
            training_set,
            steps,
            category_weight,
        )
        self.labels = [torch.from_numpy(labels) for labels in (training_set.photo_labels, training_set.sketch_labels)]

    def forward(self, shown: Shown, photo_codes: Tensor, sketch_codes: Tensor, categories: Tensor) -> Tensor:
        with autocast(self.steps):
            values = [side.float() for side in self.training_set.values(self.network, shown)]
        loss = values[0].new_zeros(())
        sides = zip(
            values, (shown.photo_rows, shown.sketch_rows), (photo_codes, sketch_codes), self.labels, strict=True
        )
        for side, rows, codes, labels in sides:
            loss = loss + (side - codes.to(side.device)).square().sum()
            if self.category_weight:
                named = category_loss(side, labels[rows].to(side.device), categories.to(side.device))
                loss = loss + self.category_weight * named
        return loss


def category_loss(values: Tensor, labels: Tensor, categories: Tensor) -> Tensor:
    """Sum the cross-entropy of naming categories by their codes, times the number of bits, as Eq. 12 sums over bits.

    The Euclidean loss treats all bits alike; what a drawing finds depends on whether its values are nearer to the code
    of its own category than to those of others. ``values`` is ``(n, bits)``, ``categories`` is ``(categories, bits)``.
    """
    bits = categories.shape[1]
    scores = values @ categories.T * (_SHARPNESS / bits)
    return bits * functional.cross_entropy(scores, labels, reduction="sum")
