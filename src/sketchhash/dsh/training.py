"""A whole training run: prepare, pre-train, then Algorithm 1, keeping what is needed to go on.

A run lives in a folder of its own:

    run.json         what was asked for: recipe, bits, seed, split, versions
    log.jsonl        a line an epoch: the loss and every term of the objective
    checkpoint.pt    networks, optimiser and codes after the last finished epoch
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from sketchhash import words
from sketchhash.codes import MAX_BITS
from sketchhash.datasets import Dataset, Item, Partition, Split
from sketchhash.dsh.checkpoints import read_checkpoint, write_checkpoint, write_text
from sketchhash.dsh.desk import Desk
from sketchhash.dsh.hashing import Hashing, TrainingSet
from sketchhash.dsh.networks import HashNetwork, build_network, network_spec
from sketchhash.dsh.objective import Problem, paper_similarity
from sketchhash.dsh.pretraining import Lesson, pretrain
from sketchhash.dsh.processes import Processes
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Recipe
from sketchhash.errors import BadArgument, SplitProblem

_PACKAGES = ("numpy", "pillow", "sketchhash", "torch")


@dataclass(frozen=True)
class Job:
    """What to train, and on what."""

    dataset: Dataset
    split: Split
    recipe: Recipe
    bits: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a code length that cannot be packed into bytes."""
        if self.bits not in range(8, MAX_BITS + 1, 8):
            raise BadArgument(f"bits must be a multiple of 8 up to {MAX_BITS}, not {self.bits}.")

    def facts(self) -> dict[str, object]:
        """Describe the job for its run record."""
        return {
            "recipe": {**asdict(self.recipe), "hash": self.recipe.hash},
            "bits": self.bits,
            "seed": self.seed,
            "dataset": self.dataset.name,
            "data_hash": self.split.inventory,
            "split_hash": self.split.hash,
            "versions": {package: version(package) for package in _PACKAGES},
        }


def train(
    job: Job, folder: Path, cache: Path, progress: Progress, processes: Processes, resume: bool = False
) -> Desk:
    """Train, or go on training, and give the desk with the trained network on it."""
    parts = job.split.apply(job.dataset)
    taught = _taught_categories(parts)
    network = new_network(job)
    run = Run(folder, job, network)
    run.open(resume, processes)
    desk = prepare(job, network, cache, progress, processes)
    hashing = Hashing(
        network,
        _training_set(desk, parts, taught),
        _problem(job.recipe, [parts.categories[label] for label in taught]),
        job.recipe.hashing,
        job.recipe.objective.rounds,
        job.seed,
        processes,
    )
    for epoch in hashing.epochs(run.restore(hashing), progress):
        if processes.is_first:
            run.keep(hashing, {"epoch": epoch.number, "loss": epoch.loss, **asdict(epoch.terms)})
    return desk


def new_network(job: Job) -> HashNetwork:
    """Build the network a job asks for, before any training."""
    return build_network(network_spec(job.recipe.size, job.bits, job.recipe.branches), job.seed)


def prepare(job: Job, network: HashNetwork, cache: Path, progress: Progress, processes: Processes) -> Desk:
    """Do all that comes before Algorithm 1: token maps, and pre-training of both nets."""
    desk = Desk(job.dataset, network, job.recipe, job.seed, cache, progress)
    desk.prepare_tokens()
    _pretrain(desk, job.split.apply(job.dataset), job, cache, processes, progress)
    return desk


class Run:
    """The folder of a run."""

    def __init__(self, folder: Path, job: Job, network: HashNetwork) -> None:
        """Name the folder; nothing is written yet."""
        self.folder, self.facts = folder, job.facts()
        self.history: list[dict[str, float]] = []
        self._bytes = sum(tensor.nbytes for tensor in network.state_dict().values())

    @property
    def checkpoint(self) -> Path:
        """Where the state after the last epoch is."""
        return self.folder / "checkpoint.pt"

    def open(self, resume: bool, processes: Processes) -> None:
        """Begin a new run, or make sure that the one in the folder is the one to go on with."""
        record = self.folder / "run.json"
        text = json.dumps(self.facts, indent=2, ensure_ascii=False) + "\n"
        if resume:
            if not record.exists():
                raise BadArgument(f"{self.folder} holds no run to resume. Leave --resume out to begin one.")
            if record.read_text(encoding="utf-8") != text:
                raise BadArgument(
                    f"The run in {self.folder} was begun with other settings, data or versions than these "
                    "(see its run.json). Give the same ones, or another --out."
                )
            return
        if record.exists():
            raise BadArgument(f"{self.folder} already holds a run. Add --resume to go on with it, or give another --out.")
        if processes.is_first:
            write_text(record, text)
            free = shutil.disk_usage(self.folder).free
            # A checkpoint is the weights and the optimiser's two moments; old and new exist at once.
            if free < 6 * self._bytes:
                record.unlink()
                raise BadArgument(
                    f"{self.folder} has {free / 1e6:.0f} MB free; a run of this network needs {6 * self._bytes / 1e6:.0f} MB."
                )
        processes.wait()

    def keep(self, hashing: Hashing, entry: dict[str, float]) -> None:
        """Keep the state after an epoch, and its line of the log."""
        self.history.append(entry)
        state = {
            "weights": hashing.network.state_dict(),
            "optimiser": hashing.descent.optimiser.state_dict(),
            "photo_codes": torch.from_numpy(hashing.photo_codes),
            "sketch_codes": torch.from_numpy(hashing.sketch_codes),
            "history": self.history,
        }
        write_checkpoint(self.checkpoint, state)
        write_text(self.folder / "log.jsonl", "".join(json.dumps(line) + "\n" for line in self.history))

    def restore(self, hashing: Hashing) -> int:
        """Put the last state back, if there is one, and give the number of finished epochs."""
        if not self.checkpoint.exists():
            return 0
        state = read_checkpoint(self.checkpoint)
        hashing.network.load_state_dict(state["weights"])
        hashing.descent.optimiser.load_state_dict(state["optimiser"])
        hashing.photo_codes, hashing.sketch_codes = state["photo_codes"].numpy(), state["sketch_codes"].numpy()
        self.history = state["history"]
        return len(self.history)


def _taught_categories(parts: Partition) -> list[int]:
    """Give the labels with both photos and sketches to train on: only they teach the cross-view loss."""
    sketches = Counter(sketch.label for sketch in parts.training_sketches)
    photos = Counter(photo.label for photo in parts.training_photos)
    poor = [parts.categories[label] for label in photos if sketches[label] == 1]
    if poor:
        raise SplitProblem(f"Only one sketch is left to train on in: {', '.join(poor)}. Add sketches or ask fewer queries.")
    taught = sorted(set(sketches) & set(photos))
    if len(taught) < 2:
        raise SplitProblem("Fewer than two categories have both photos and sketches to train on.")
    return taught


def _pretrain(
    desk: Desk, parts: Partition, job: Job, cache: Path, processes: Processes, progress: Progress
) -> None:
    network, recipe = desk.network, job.recipe
    lessons = [(network.c2, "sketches", parts.training_sketches, desk.sketch_pictures, recipe.pretrain_sketches)]
    if network.c1 is not None:
        lessons.append((network.c1, "photos", parts.training_photos, desk.photos, recipe.pretrain_photos))
    for net, kind, items, source, steps in lessons:
        if steps.epochs:
            lesson = Lesson(kind, items, source(items), len(parts.categories))
            pretrain(net, lesson, steps, job.seed, cache, processes, progress)
        net.trunk.requires_grad_(not recipe.frozen_trunks)


def _training_set(desk: Desk, parts: Partition, taught: Sequence[int]) -> TrainingSet:
    """Gather the items of the taught categories, labelled by their place among these."""
    places = {label: place for place, label in enumerate(taught)}
    photos = [photo for photo in parts.training_photos if photo.label in places]
    sketches = [sketch for sketch in parts.training_sketches if sketch.label in places]

    def labels(items: Sequence[Item]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([places[item.label] for item in items], dtype=np.int64)

    return TrainingSet(desk.photos(photos), desk.tokens(photos), labels(photos), desk.sketches(sketches), labels(sketches))


def _problem(recipe: Recipe, categories: Sequence[str]) -> Problem:
    count, weights = len(categories), recipe.objective
    return Problem(
        word_vectors=words.embed(categories, recipe.words),
        similarity=paper_similarity(count) if weights.similarity == "paper" else np.eye(count),
        semantic_weight=weights.semantic_weight,
        quantisation_weight=weights.quantisation_weight,
        pairwise_weight=weights.pairwise_weight,
    )
