"""The features that all heads learn from and are tested on: computed once by trunks that no head changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.baselines import Views
from sketchhash.datasets import Dataset, Item, Split
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.training import prepare, train_behind
from sketchhash.errors import BadArgument
from sketchhash.evaluation import labels
from sketchhash.model import read_manifest, says_nothing_was_kept_out

Features = NDArray[np.float32]

_ANY_BITS = 8  # trunks do not depend on the length of codes
_SEED = 0  # of trunks and features, which all splits share


@dataclass(frozen=True)
class Task:
    """A split: which items train, which are for choosing, and which galleries are searched by which queries."""

    split: Split
    training_photos: tuple[Item, ...]
    training_sketches: tuple[Item, ...]
    validation_photos: tuple[Item, ...]
    validation_sketches: tuple[Item, ...]
    queries: tuple[Item, ...]
    galleries: dict[str, tuple[Item, ...]]

    @classmethod
    def of(cls, split: Split, dataset: Dataset) -> Task:
        """Divide a dataset; photos that train are a gallery of their own, if queries have their categories."""
        parts = split.apply(dataset)
        found = {photo.label for photo in parts.training_photos}
        galleries = {"unseen categories" if split.unseen_categories else "unseen photos": parts.gallery}
        if not split.unseen_categories:
            galleries = {"seen photos": parts.training_photos, **galleries}
        return cls(
            split=split,
            training_photos=parts.training_photos,
            training_sketches=tuple(sketch for sketch in parts.training_sketches if sketch.label in found),
            validation_photos=parts.validation_gallery,
            validation_sketches=parts.validation_queries,
            queries=parts.queries,
            galleries=galleries,
        )


def check_queries_were_kept_out(model: Path) -> None:
    """Raise if a model's card says that its training kept nothing out: then its C2 may have seen every query.

    What a card does not say cannot be told from the folder; the report says so.
    """
    if says_nothing_was_kept_out(model):
        raise BadArgument(
            f"The card of {model} says that nothing was kept out of its training, so its C2 may know the queries. Give "
            "a model whose training kept them out: a twin, trained with sketchhash train --split FILE. Or leave --from "
            "out and give a --recipe that teaches C2 (pretrain_sketches): it does so without them."
        )


class HeadBench:
    """Trunks, and the features of a dataset by them."""

    def __init__(
        self, dataset: Dataset, recipe: Recipe, taught_on: Split, start: Path | None, cache: Path, progress: Progress
    ) -> None:
        """Teach C2 by the recipe on all that a split trains on, or take its trunk from a model folder.

        Args:
            dataset: Sketches and photos.
            recipe: DSH's, with frozen trunks; its views are what every head learns from.
            taught_on: What the trunks may have seen.
            start: A model folder with C2.
            cache: Where features are kept.
            progress: Shows what is being done.
        """
        if not recipe.frozen_trunks or recipe.photo_views != 1 or recipe.sketch_views != 1:
            raise BadArgument(
                f"The recipe {recipe.name} does not freeze its trunks, or augments what is behind them: heads are "
                "compared on one view of each picture. Give one with photo_views = 1 and sketch_views = 1."
            )
        self.dataset, self.recipe, self._cache, self._progress = dataset, recipe, cache, progress
        self.start = None if start is None else read_manifest(start).fingerprint
        job = Job(dataset, taught_on, recipe, _ANY_BITS, _SEED, start=start)
        self.trunks = job.network()
        self._inputs = prepare(job, self.trunks, cache, progress, Processes())

    def photos(self, items: Sequence[Item]) -> Features:
        """Return C1's features of photos ``(n, features)``."""
        return self._inputs.photos(items).batch(torch.arange(len(items)), None).numpy()

    def sketches(self, items: Sequence[Item]) -> Features:
        """Return C2's features of sketches ``(n, features)``."""
        return self._inputs.sketches(items).batch(torch.arange(len(items)), None).numpy()

    def views(self, task: Task) -> Views:
        """Return what heads learn from."""
        photos, sketches = self.photos(task.training_photos), self.sketches(task.training_sketches)
        sides = labels(task.training_photos), labels(task.training_sketches)
        return Views(photos, sides[0], sketches, sides[1], self._image_classes(photos))

    def train(self, recipe: Recipe, task: Task, bits: int, seed: int) -> NetworkInputs:
        """Train DSH's layers behind the trunks."""
        job = Job(self.dataset, task.split, recipe, bits, _SEED, repeat=seed)
        return train_behind(self.trunks, job, self._cache, self._progress)

    def _image_classes(self, photos: Features) -> Features | None:
        """Return the chances that ImageNet's classifier gives its classes, if the trunk has one."""
        classifier = None if self.trunks.c1 is None else self.trunks.c1.backbone.classifier
        if classifier is None:
            return None
        weights, biases = classifier()
        chances: Features = torch.softmax(torch.from_numpy(photos) @ weights.T + biases, dim=1).numpy()
        return chances
