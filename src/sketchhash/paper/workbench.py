"""What the methods of one comparison share: a split dataset, its pictures and features, and DSH's trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from sketchhash.baselines import Input, Views
from sketchhash.baselines.method import Samples
from sketchhash.datasets import Dataset, Item, draw_split
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.networks import Branches, build_network
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Recipe, load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.sources import Kind
from sketchhash.dsh.training import prepare, train
from sketchhash.errors import UnknownName
from sketchhash.evaluation import labels
from sketchhash.paper.experiment import PROTOCOLS, Experiment
from sketchhash.paper.features import SKETCH_NET, SKETCH_SIDE, InkStore, PhotoTrunk, SketchNet, photo_pictures
from sketchhash.paper.settings import Changes, changed

_ANY_BITS = 8  # the trunk does not depend on the length of codes
_FROZEN = "tuned"  # the recipe whose photo trunk serves the others when DSH's own learns with everything else


class Workbench:
    """Provides both views of training data, queries and gallery, as features or as pictures."""

    def __init__(
        self,
        dataset: Dataset,
        protocol: str,
        recipe: str,
        seed: int,
        queries: int,
        cache: Path,
        progress: Progress,
        keep_pixels: bool = False,
        settings: Changes | None = None,
    ) -> None:
        """Split the dataset; nothing is decoded yet.

        Args:
            dataset: Sketches and photos.
            protocol: *seen* as in the paper, or *unseen*; see `sketchhash.paper.experiment`.
            recipe: The name or path of DSH's recipe. All methods use its photo trunk if that is frozen; else those
                that learn from features use the one of `tuned`.
            seed: Of the split and of every method.
            queries: Query sketches a category.
            cache: Where features, sketches and networks are kept.
            progress: Shows what is being done.
            keep_pixels: Let DSH keep resized photos in the cache, if it trains all weights.
            settings: What differs from the cards of compared methods, by method.
        """
        if protocol not in PROTOCOLS:
            raise UnknownName("protocol", protocol, PROTOCOLS)
        self.dataset, self.protocol, self.recipe, self.seed = dataset, protocol, recipe, seed
        self.settings: Changes = settings or {}
        self._cache, self._progress, self._keep_pixels = cache, progress, keep_pixels
        self.split = draw_split(dataset, queries, seed, PROTOCOLS[protocol])
        self.parts = self.split.apply(dataset)
        self.experiment = Experiment.of(self.split, protocol, self.parts)
        self.photo_trunk = PhotoTrunk(self._untrained_inputs())

    def training(self, sees: Input) -> Views:
        """Return the training data of a method.

        Sketches of categories without photos are left out: across views there is nothing to learn from them.
        """
        pictured = {photo.label for photo in self.parts.training_photos}
        photos = self.parts.training_photos
        sketches = [sketch for sketch in self.parts.training_sketches if sketch.label in pictured]
        return Views(self._photos(photos, sees), labels(photos), self._sketches(sketches, sees), labels(sketches))

    def gallery(self, sees: Input) -> Samples:
        """Return the photos to be found."""
        return self._photos(self.parts.gallery, sees)

    def queries(self, sees: Input) -> Samples:
        """Return the query sketches."""
        return self._sketches(self.parts.queries, sees)

    @property
    def baselines_folder(self) -> Path:
        """Where compared methods keep what they need again, and pixels that do not fit into memory."""
        return self._cache / "baselines"

    @cached_property
    def sketch_net(self) -> SketchNet:
        """The Sketch-a-Net of this comparison, which learns to classify all training sketches."""
        photos, sketches = self.parts.training_photos, self.parts.training_sketches

        def training() -> Views:
            ink = self._ink.pictures(sketches)
            return Views(photo_pictures(photos), labels(photos), ink, labels(sketches))

        content = f"{self.split.hash} {self._ink_fingerprint}"
        changes = self.settings.get(SKETCH_NET, {})
        return SketchNet(self.baselines_folder, self.seed, training, content, lambda method: changed(method, changes))

    def sketch_accuracy(self) -> float | None:
        """Return how many of the query sketches the Sketch-a-Net knows; see `SketchNet.accuracy`."""
        return self.sketch_net.accuracy(self._ink.pictures(self.parts.queries))

    def train(self, recipe: Recipe, name: str, bits: int, repeat: int = 0) -> NetworkInputs:
        """Train DSH, or resume a training, and return the inputs with the trained network."""
        job = Job(self.dataset, self.split, recipe, bits, self.seed, repeat, keep_pixels=self._keep_pixels)
        again = f"-repeat-{repeat}" if repeat else ""
        folder = f"{name}-{bits}{again}-{self.protocol}-{recipe.hash[:8]}-{self.split.hash[:8]}"
        run = self._cache / "runs" / folder
        return train(job, run, self._cache, self._progress, Processes(), resume=(run / "run.json").exists())

    def pretrained(self, bits: int) -> NetworkInputs:
        """Return the inputs with a network whose trunks are pre-trained by the recipe, before Algorithm 1.

        They come as features of these trunks, also when the recipe would let the trunks learn on.
        """
        job = Job(self.dataset, self.split, load_recipe(self.recipe), bits, self.seed)
        network = prepare(job, job.network(), self._cache, self._progress, Processes()).network
        frozen = replace(job.recipe, frozen_trunks=True)
        return NetworkInputs(self.dataset, network, frozen, self.seed, self._cache, self._progress)

    def _photos(self, items: Sequence[Item], sees: Input) -> Samples:
        return self.photo_trunk.features(items) if sees is Input.FEATURES else photo_pictures(items)

    def _sketches(self, items: Sequence[Item], sees: Input) -> Samples:
        ink = self._ink.pictures(items)
        return self.sketch_net.features(ink) if sees is Input.FEATURES else ink

    @cached_property
    def _ink(self) -> InkStore:
        sketches = self.dataset.sketches
        path = self._cache / "sketches" / f"{self._ink_fingerprint[:32]}.npz"
        with self._progress.stage("reading sketches", len(sketches)) as advance:
            return InkStore.open(path, sketches, advance)

    @cached_property
    def _ink_fingerprint(self) -> str:
        reader = replace(self.photo_trunk.inputs.reader, ink_side=SKETCH_SIDE)
        return reader.fingerprint(Kind.SKETCHES, self.dataset.sketches)

    def _untrained_inputs(self) -> NetworkInputs:
        recipe = load_recipe(self.recipe)
        if not recipe.frozen_trunks:
            recipe = load_recipe(_FROZEN)
        network = build_network(
            replace(recipe.network_spec(_ANY_BITS), branches=Branches.FULL, sees_classes=False), self.seed
        )
        return NetworkInputs(self.dataset, network, recipe, self.seed, self._cache, self._progress)
