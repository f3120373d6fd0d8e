"""The two extractors of features that all methods without eyes share, each run once and kept on disk.

Section 4.1 takes fc7 of AlexNet for photos and fc7 of Sketch-a-Net for sketches. Here photos go through the frozen
trunk that DSH's own C1 starts from, so that nobody has better eyes for photos; sketches go through the Sketch-a-Net of
the comparison, fitted to all training sketches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.baselines import Fitted, Views, card_of, load_fitted
from sketchhash.benchmark.comparison.pictures import Pictures
from sketchhash.benchmark.comparison.settings import Settings, hash_of, settings_of
from sketchhash.datasets import Item
from sketchhash.dsh.checkpoints import read_array, write_array, write_text
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.errors import BadArgument, DamagedState

SKETCH_NET = "sketch-a-net"

Features = NDArray[np.float32]


class PhotoTrunk:
    """Photos through the trunk of C1, as DSH is shown them; the same file of features serves both."""

    def __init__(self, inputs: NetworkInputs) -> None:
        """Take the trunk of a inputs whose network is not trained: it is frozen, so training would not change it."""
        if not inputs.recipe.frozen_trunks:
            raise BadArgument(f"The recipe {inputs.recipe.name} trains its trunks: give one with frozen trunks.")
        self.inputs = inputs

    @property
    def settings(self) -> Settings:
        """Say what decides the features."""
        return {"trunk": f"C1 of {self.inputs.recipe.size}", "side": self.inputs.network.spec.photo_side}

    def features(self, items: Sequence[Item]) -> Features:
        """Give the features of photos as they are, ``(n, features)``."""
        features: Features = self.inputs.photos(items).batch(torch.arange(len(items)), None).numpy()
        return features


class SketchNet:
    """Sketches through fc7 of a Sketch-a-Net; also the method of that name, which need not be fitted twice.

    Args:
        folder: Where weights and features are kept.
        seed: Of the network.
        lesson: Gives what it learns from.
        content: Identifies the pictures that it learns from.
    """

    def __init__(self, folder: Path, seed: int, lesson: Callable[[], Views], content: str) -> None:
        """Nothing is fitted yet."""
        self._folder, self._lesson = folder, lesson
        self.card = card_of(SKETCH_NET)
        (self.size,) = self.card.sizes
        self.seed = seed
        method = self.card.build(self.size, seed)
        self.settings: Settings = {
            "implementation": self.card.implementation,
            **settings_of(method),
            "size": self.size,
            "seed": seed,
        }
        self._key = hash_of({**self.settings, "content": content})[:32]

    @cached_property
    def fitted(self) -> Fitted:
        """The fitted network, from the cache if it was fitted before."""
        path = self._folder / f"{SKETCH_NET}-{self._key}.npz"
        if path.exists() and self._seconds_path.exists():
            try:
                return load_fitted(path)
            except DamagedState:
                pass  # as good as absent
        started = perf_counter()
        fitted = Fitted(self.card, self.size, self.seed, self.card.build(self.size, self.seed).fit(self._lesson()))
        seconds = perf_counter() - started
        path.parent.mkdir(parents=True, exist_ok=True)
        fitted.save(path)
        write_text(self._seconds_path, f"{seconds}\n")
        return fitted

    @property
    def fit_seconds(self) -> float:
        """How long fitting took, whenever that was."""
        _ = self.fitted
        return float(self._seconds_path.read_text(encoding="utf-8"))

    def features(self, sketches: Pictures) -> Features:
        """Give fc7 of sketches, ``(n, 512)``, extracted and kept if they are not there yet."""
        which = hash_of({"ids": [item.id for item in sketches.items]})[:16]
        path = self._folder / f"{SKETCH_NET}-{self._key}-{which}.npy"
        features = read_array(path, (len(sketches), self.size), np.float32)
        if features is None:
            features = self.fitted.method.encode_sketches(sketches).astype(np.float32)
            write_array(path, features)
        return features

    @property
    def _seconds_path(self) -> Path:
        return self._folder / f"{SKETCH_NET}-{self._key}.seconds"
