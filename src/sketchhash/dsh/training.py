"""A whole training run: prepare, pre-train, then Algorithm 1, keeping what is needed to go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from sketchhash import words
from sketchhash.datasets import Item, Partition
from sketchhash.dsh.desk import Desk
from sketchhash.dsh.hashing import Hashing, TrainingSet
from sketchhash.dsh.networks import HashNetwork
from sketchhash.dsh.objective import Problem, orthogonal_similarity, paper_similarity
from sketchhash.dsh.pretraining import pretrain
from sketchhash.dsh.processes import Processes
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Recipe, Similarity
from sketchhash.dsh.runs import Job, Run
from sketchhash.errors import SplitProblem


def train(job: Job, folder: Path, cache: Path, progress: Progress, processes: Processes, resume: bool = False) -> Desk:
    """Train, or go on training, and give the desk with the trained network on it."""
    parts = job.split.apply(job.dataset)
    taught = _taught_categories(parts)
    network = job.network()
    run = Run(folder, job, network)
    run.open(resume, processes)
    desk = prepare(job, network, cache, progress, processes)
    with processes.first_ahead():
        training_set = _training_set(desk, parts, taught)
    hashing = Hashing(
        network,
        training_set,
        _problem(job.recipe, [parts.categories[label] for label in taught], job.bits, training_set),
        job.recipe.hashing,
        job.recipe.objective.rounds,
        job.hashing_seed,
        processes,
    )
    for epoch in hashing.epochs(run.restore(hashing), progress):
        if processes.is_first:
            run.keep(hashing, {"epoch": epoch.number, "loss": epoch.loss, **asdict(epoch.terms)})
    return desk


def prepare(job: Job, network: HashNetwork, cache: Path, progress: Progress, processes: Processes) -> Desk:
    """Do all that comes before Algorithm 1: token maps, and pre-training of both nets."""
    desk = Desk(job.dataset, network, job.recipe, job.seed, cache, progress)
    with processes.first_ahead():
        desk.prepare_photos()
    _pretrain(desk, job.split.apply(job.dataset), job, cache, processes, progress)
    return desk


def _taught_categories(parts: Partition) -> list[int]:
    """Give the labels with both photos and sketches to train on: only they teach the cross-view loss."""
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


def _pretrain(desk: Desk, parts: Partition, job: Job, cache: Path, processes: Processes, progress: Progress) -> None:
    network, recipe = desk.network, job.recipe
    lessons = [
        (network.c2, desk.sketch_lesson(parts.training_sketches), recipe.pretrain_sketches),
        (network.c2, desk.ink_lesson(parts.training_sketches, parts.training_photos), recipe.pretrain_ink),
    ]
    if network.c1 is not None:
        # Learns from features when frozen: not even pre-training runs its trunk.
        network.c1.trunk.requires_grad_(not recipe.frozen_trunks)
        lessons.append((network.c1, desk.photo_lesson(parts.training_photos), recipe.pretrain_photos))
    for net, lesson, steps in lessons:
        pretrain(net, lesson, len(parts.categories), steps, job.seed, cache, processes, progress)
    network.c2.trunk.requires_grad_(not recipe.frozen_trunks)


def _training_set(desk: Desk, parts: Partition, taught: Sequence[int]) -> TrainingSet:
    """Gather the items of the taught categories, labelled by their place among these."""
    places = {label: place for place, label in enumerate(taught)}
    photos = [photo for photo in parts.training_photos if photo.label in places]
    sketches = [sketch for sketch in parts.training_sketches if sketch.label in places]

    def labels(items: Sequence[Item]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([places[item.label] for item in items], dtype=np.int64)

    return TrainingSet(
        photos=desk.photos(photos),
        tokens=desk.tokens(photos),
        photo_labels=labels(photos),
        sketches=desk.sketches(sketches),
        sketch_labels=labels(sketches),
    )


def _problem(recipe: Recipe, categories: Sequence[str], bits: int, training_set: TrainingSet) -> Problem:
    count, weights = len(categories), recipe.objective
    is_papers = weights.similarity is Similarity.PAPER
    samples = (len(training_set.photo_labels) + len(training_set.sketch_labels)) / 2 if weights.balanced else 1
    word_vectors = words.embed(categories, recipe.words)
    return Problem(
        word_vectors=words.centred(word_vectors) if recipe.centred_words else word_vectors,
        similarity=paper_similarity(count) if is_papers else orthogonal_similarity(count, bits),
        semantic_weight=weights.semantic_weight * (samples * bits if weights.balanced else 1),
        quantisation_weight=weights.quantisation_weight * samples,
        pairwise_weight=weights.pairwise_weight,
        basis_weight=weights.basis_weight * samples,
    )
