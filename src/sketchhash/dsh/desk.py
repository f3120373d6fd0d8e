"""The desk of a training run: every item as the source the networks learn from.

With frozen trunks, features are computed for *all* photos and for all sketches of categories that have photos,
not for the training part alone: runs on other splits then find them ready, and queries can be encoded at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sketchhash.datasets import Dataset, Item
from sketchhash.dsh.augment import augment_ink, augment_photos
from sketchhash.dsh.corpus import Reader
from sketchhash.dsh.networks import HashNetwork
from sketchhash.dsh.processes import device
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Recipe
from sketchhash.dsh.sources import Absent, Features, FeatureStore, Loaded, Pictures, Source

_BATCH = 128


class Desk:
    """Gives sources for items, and the values a network has for them."""

    def __init__(
        self, dataset: Dataset, network: HashNetwork, recipe: Recipe, seed: int, cache: Path, progress: Progress
    ) -> None:
        """Set up for one network; nothing is read yet."""
        self.dataset, self.network, self.recipe, self.progress = dataset, network, recipe, progress
        self.reader = Reader.for_network(network.spec, recipe.detector, cache)
        self.store = FeatureStore(cache / "features", seed, progress)

    def prepare_tokens(self) -> None:
        """Make all token maps before anything else: an unreadable photo shows now, not hours later."""
        if self.network.spec.branches.has_tokens:
            with self.progress.stage("sketch-tokens of photos", len(self.dataset.photos)) as advance:
                self.reader.prepare_tokens(self.dataset.photos, advance)

    def sketch_pictures(self, items: Sequence[Item]) -> Source:
        """Load sketches into memory, as pixels."""
        with self.progress.stage("reading sketches", len(items)) as advance:
            return Loaded(torch.from_numpy(self.reader.sketches(items, advance)), augment_ink)

    def photos(self, items: Sequence[Item]) -> Source:
        """Give photos as C1 takes them."""
        if self.network.c1 is None:
            return Absent((0,) if self.recipe.frozen_trunks else (3, 1, 1))
        return self._photo_features.take(items) if self.recipe.frozen_trunks else self._photo_pictures(items)

    def tokens(self, items: Sequence[Item]) -> Source:
        """Give the photos' token maps as C2 takes them."""
        if not self.network.spec.branches.has_tokens:
            side = self.network.spec.ink_side
            return Absent((0,) if self.recipe.frozen_trunks else (1, side, side))
        return self._token_features.take(items) if self.recipe.frozen_trunks else self._token_pictures(items)

    def sketches(self, items: Sequence[Item]) -> Source:
        """Give sketches as C2 takes them."""
        return self._sketch_features.take(items) if self.recipe.frozen_trunks else self.sketch_pictures(items)

    def photo_values(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Compute F₁ of photos: ``(n, bits)``."""
        photos, tokens = self.photos(items), self.tokens(items)

        def values(rows: Tensor) -> Tensor:
            batch = photos.batch(rows, None).to(device()), tokens.batch(rows, None).to(device())
            return self.network.photo_values(*batch) if self.recipe.frozen_trunks else self.network.encode_photos(*batch)

        return self._in_batches(values, len(items))

    def sketch_values(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Compute F₂ of sketches: ``(n, bits)``."""
        sketches = self.sketches(items)

        def values(rows: Tensor) -> Tensor:
            batch = sketches.batch(rows, None).to(device())
            return self.network.sketch_values(batch) if self.recipe.frozen_trunks else self.network.encode_sketches(batch)

        return self._in_batches(values, len(items))

    def _in_batches(self, values: Callable[[Tensor], Tensor], count: int) -> NDArray[np.float32]:
        self.network.eval().to(device())
        with torch.inference_mode():
            parts = [values(rows).cpu().numpy() for rows in torch.arange(count).split(_BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, self.network.spec.bits), dtype=np.float32)

    def _photo_pictures(self, items: Sequence[Item]) -> Source:
        return Pictures(items, self.reader.photos, augment_photos)

    def _token_pictures(self, items: Sequence[Item]) -> Source:
        return Pictures(items, self.reader.tokens, augment_ink)

    @cached_property
    def _photo_features(self) -> _Table:
        items = self.dataset.photos
        assert self.network.c1 is not None
        return _Table(items, self.store.get("photos", self.network.c1, items, self._photo_pictures(items), self.recipe.photo_views))

    @cached_property
    def _token_features(self) -> _Table:
        items = self.dataset.photos
        return _Table(items, self.store.get("tokens", self.network.c2, items, self._token_pictures(items), self.recipe.photo_views))

    @cached_property
    def _sketch_features(self) -> _Table:
        found = {photo.label for photo in self.dataset.photos}
        items = [sketch for sketch in self.dataset.sketches if sketch.label in found]
        pictures = Pictures(items, self.reader.sketches, augment_ink)
        return _Table(items, self.store.get("sketches", self.network.c2, items, pictures, self.recipe.sketch_views))


class _Table:
    """Features with the rows of their items."""

    def __init__(self, items: Sequence[Item], features: Features) -> None:
        self.rows = {item.id: row for row, item in enumerate(items)}
        self.features = features

    def take(self, items: Sequence[Item]) -> Features:
        """Give the features of these items."""
        return Features(self.features.views[:, [self.rows[item.id] for item in items]])
