"""What the methods of one comparison share: a split dataset, its pictures, and their features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from sketchhash.baselines import Input, Views
from sketchhash.baselines.method import Samples
from sketchhash.benchmark.comparison.extractors import PhotoTrunk, SketchNet
from sketchhash.benchmark.comparison.pictures import SKETCH_SIDE, InkStore, photo_pictures
from sketchhash.benchmark.comparison.task import Task
from sketchhash.benchmark.study import PROTOCOLS, Study
from sketchhash.datasets import Dataset, Item, draw_split
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.networks import Branches, build_network, network_spec
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.sources import Kind
from sketchhash.errors import UnknownName
from sketchhash.evaluation.ranking import labels

_ANY_BITS = 8  # the trunk does not know how long codes are


class Workbench:
    """Gives both views of training data, queries and gallery, as features or as pictures."""

    def __init__(
        self, dataset: Dataset, protocol: str, recipe: str, seed: int, queries: int, cache: Path, progress: Progress
    ) -> None:
        """Divide the dataset; nothing is decoded yet.

        Args:
            dataset: Sketches and photos.
            protocol: *seen* as in the paper, or *unseen*; see `sketchhash.benchmark.study`.
            recipe: The name or path of DSH's recipe, whose photo trunk is everyone's.
            seed: Of the split and of every method.
            queries: Query sketches a category.
            cache: Where features, sketches and networks are kept.
            progress: Listens.
        """
        if protocol not in PROTOCOLS:
            raise UnknownName("protocol", protocol, PROTOCOLS)
        self.protocol, self.recipe, self.seed = protocol, recipe, seed
        self._dataset, self._cache, self._progress = dataset, cache, progress
        self.split = draw_split(dataset, queries, seed, PROTOCOLS[protocol])
        self.parts = self.split.apply(dataset)
        self.task = Task.of(self.split, protocol, self.parts)
        self.study = Study(dataset, cache, cache, seed, queries, progress)
        self.photo_trunk = PhotoTrunk(self._inputs())

    def training(self, sees: Input) -> Views:
        """Give what a method learns from.

        Sketches of categories without photos are left out: across views they teach nothing.
        """
        pictured = {photo.label for photo in self.parts.training_photos}
        photos = self.parts.training_photos
        sketches = [sketch for sketch in self.parts.training_sketches if sketch.label in pictured]
        return Views(self._photos(photos, sees), labels(photos), self._sketches(sketches, sees), labels(sketches))

    def gallery(self, sees: Input) -> Samples:
        """Give the photos to be found."""
        return self._photos(self.parts.gallery, sees)

    def queries(self, sees: Input) -> Samples:
        """Give the sketches that ask."""
        return self._sketches(self.parts.queries, sees)

    @cached_property
    def sketch_net(self) -> SketchNet:
        """The Sketch-a-Net of this comparison, which learns to name all training sketches."""
        photos, sketches = self.parts.training_photos, self.parts.training_sketches

        def lesson() -> Views:
            ink = self._ink.pictures(sketches)
            return Views(photo_pictures(photos), labels(photos), ink, labels(sketches))

        content = f"{self.split.hash} {self._ink_fingerprint}"
        return SketchNet(self._cache / "baselines", self.seed, lesson, content)

    def _photos(self, items: Sequence[Item], sees: Input) -> Samples:
        return self.photo_trunk.features(items) if sees is Input.FEATURES else photo_pictures(items)

    def _sketches(self, items: Sequence[Item], sees: Input) -> Samples:
        ink = self._ink.pictures(items)
        return self.sketch_net.features(ink) if sees is Input.FEATURES else ink

    @cached_property
    def _ink(self) -> InkStore:
        sketches = self._dataset.sketches
        path = self._cache / "sketches" / f"{self._ink_fingerprint[:32]}.npz"
        with self._progress.stage("reading sketches", len(sketches)) as advance:
            return InkStore.open(path, sketches, advance)

    @cached_property
    def _ink_fingerprint(self) -> str:
        reader = replace(self.photo_trunk.inputs.reader, ink_side=SKETCH_SIDE)
        return reader.fingerprint(Kind.SKETCHES, self._dataset.sketches)

    def _inputs(self) -> NetworkInputs:
        recipe = load_recipe(self.recipe)
        network = build_network(network_spec(recipe.size, _ANY_BITS, Branches.FULL), self.seed)
        return NetworkInputs(self._dataset, network, recipe, self.seed, self._cache, self._progress)
