"""The inputs of compared methods: pictures that are decoded when needed, and features that are extracted once.

Section 4.1 takes fc7 of AlexNet for photos and fc7 of Sketch-a-Net for sketches. Here photos go through the frozen
trunk that DSH's own C1 starts from, so that no method has better features of photos; sketches go through the Sketch-
a-Net of the comparison, fitted to all training sketches.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Protocol, overload, runtime_checkable
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.baselines import Fitted, Method, Views, card_of, load_fitted
from sketchhash.baselines.method import Samples, settings_of
from sketchhash.datasets import Item, photo_pixels, sketch_ink
from sketchhash.dsh.checkpoints import read_array, write_array, write_text
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.errors import BadArgument, DamagedState, NotFitted, UnwritableState
from sketchhash.files import replacing

Features = NDArray[np.float32]
Picture = NDArray[np.uint8]
Settings = Mapping[str, object]

SKETCH_NET = "sketch-a-net"
SKETCH_SIDE = 224  # the largest input of any method

_LONGEST = 2 * SKETCH_SIDE


@runtime_checkable
class Classifier(Protocol):
    """A method that can also name the category of a sketch."""

    def classify(self, sketches: Samples) -> NDArray[np.int64]:
        """Return a label for each sketch."""
        ...


class PhotoTrunk:
    """Features of photos from the trunk of C1; DSH uses the same file of features."""

    def __init__(self, inputs: NetworkInputs) -> None:
        """Use the trunk of an untrained network: it is frozen, so training would not change it."""
        if not inputs.recipe.frozen_trunks:
            raise BadArgument(f"The recipe {inputs.recipe.name} trains its trunks: give one with frozen trunks.")
        self.inputs = inputs

    @property
    def settings(self) -> Settings:
        """All that decides the features."""
        return {"trunk": f"C1 of {self.inputs.recipe.size}", "side": self.inputs.network.spec.photo_side}

    def features(self, items: Sequence[Item]) -> Features:
        """Return the features of unaugmented photos ``(n, features)``."""
        features: Features = self.inputs.photos(items).batch(torch.arange(len(items)), None).numpy()
        return features


class SketchNet:
    """Features of sketches from fc7 of a Sketch-a-Net, which is also the method of that name, fitted once for both.

    Args:
        folder: Where weights and features are kept.
        seed: Of the network.
        training: Returns its training data.
        content: Identifies the pictures of its training data.
        build: Returns an unfitted method with the settings of the comparison; by default those of the card.
    """

    def __init__(
        self,
        folder: Path,
        seed: int,
        training: Callable[[], Views],
        content: str,
        build: Callable[[Method], Method] = lambda method: method,
    ) -> None:
        """Name the network; nothing is fitted yet."""
        self._folder, self._training, self._build = folder, training, build
        self.card = card_of(SKETCH_NET)
        (self.size,) = self.card.sizes
        self.seed = seed
        method = self._built()
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
        if self._is_kept:
            try:
                return load_fitted(self._path, self._built())
            except DamagedState:
                pass  # as good as absent
        started = perf_counter()
        fitted = Fitted(self.card, self.size, self.seed, self._built().fit(self._training()))
        seconds = perf_counter() - started
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fitted.save(self._path)
        write_text(self._seconds_path, f"{seconds}\n")
        return fitted

    def _built(self) -> Method:
        return self._build(self.card.build(self.size, self.seed))

    @property
    def fit_seconds(self) -> float:
        """How long fitting took, in this run or an earlier one."""
        _ = self.fitted
        return float(self._seconds_path.read_text(encoding="utf-8"))

    def features(self, sketches: Pictures) -> Features:
        """Return fc7 of sketches ``(n, 512)``, from the cache if they were extracted before."""
        which = hash_of({"ids": [item.id for item in sketches.items]})[:16]
        path = self._folder / f"{SKETCH_NET}-{self._key}-{which}.npy"
        features = read_array(path, (len(sketches), self.size), np.float32)
        if features is None:
            features = self.fitted.method.encode_sketches(sketches).astype(np.float32)
            write_array(path, features)
        return features

    @property
    def classifies(self) -> bool:
        """Whether it tells categories: a network that was kept without its classifier does not. Fits nothing."""
        if not self._is_kept:
            return True
        method = self.fitted.method
        try:
            return isinstance(method, Classifier) and not len(method.classify([]))
        except NotFitted:
            return False

    def accuracy(self, sketches: Pictures) -> float | None:
        """Return the share of sketches whose category the network's own classifier tells; None if it was not kept."""
        method = self.fitted.method
        if not isinstance(method, Classifier):
            return None
        try:
            found = method.classify(sketches)
        except NotFitted:
            return None  # kept by a version that discarded the classifier
        return float(np.mean(found == np.array([item.label for item in sketches.items])))

    @property
    def _is_kept(self) -> bool:
        return self._path.exists() and self._seconds_path.exists()

    @property
    def _path(self) -> Path:
        return self._folder / f"{SKETCH_NET}-{self._key}.npz"

    @property
    def _seconds_path(self) -> Path:
        return self._folder / f"{SKETCH_NET}-{self._key}.seconds"


@dataclass(frozen=True)
class Pictures(Sequence[Picture]):
    """A sequence of pictures; ``read`` decodes an item each time it is accessed."""

    items: Sequence[Item]
    read: Callable[[Item], Picture]

    def __len__(self) -> int:
        """Count the pictures."""
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> Picture: ...
    @overload
    def __getitem__(self, place: slice) -> Pictures: ...
    def __getitem__(self, place: int | slice) -> Picture | Pictures:
        """Decode one picture, or narrow to some."""
        return Pictures(self.items[place], self.read) if isinstance(place, slice) else self.read(self.items[place])


def photo_pictures(items: Sequence[Item]) -> Pictures:
    """Return photos ``(height, width, 3)``, decoded no larger than any method needs."""
    return Pictures(items, lambda item: photo_pixels(item, _LONGEST))


class InkStore:
    """Sketches in their normal form ``(224, 224)``, which is slow to compute and small to store."""

    def __init__(self, items: Sequence[Item], packed: Sequence[bytes]) -> None:
        """Hold the compressed sketch of each item."""
        self._packed = {item.id: content for item, content in zip(items, packed, strict=True)}

    @classmethod
    def open(cls, path: Path, items: Sequence[Item], advance: Callable[[], None] = lambda: None) -> InkStore:
        """Read a store from a file, or make it on all cores if there is none."""
        packed = _read(path, len(items))
        if packed is None:
            packed = []
            with ThreadPoolExecutor() as pool:
                for content in pool.map(lambda item: zlib.compress(sketch_ink(item, SKETCH_SIDE).tobytes(), 1), items):
                    packed.append(content)
                    advance()
            _write(path, packed)
        return cls(items, packed)

    def pictures(self, items: Sequence[Item]) -> Pictures:
        """Return some of the sketches."""
        return Pictures(items, self._ink)

    def _ink(self, item: Item) -> Picture:
        pixels = np.frombuffer(zlib.decompress(self._packed[item.id]), dtype=np.uint8)
        return pixels.reshape(SKETCH_SIDE, SKETCH_SIDE)


def hash_of(settings: Settings) -> str:
    """Return a hash of settings: two runs are alike when theirs are equal."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def _read(path: Path, count: int) -> list[bytes] | None:
    """Read what `_write` wrote, or return None if it is absent or damaged."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            content, ends = stored["content"].tobytes(), stored["ends"].tolist()
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None
    starts = [0, *ends[:-1]]
    return [content[start:end] for start, end in zip(starts, ends, strict=True)] if len(ends) == count else None


def _write(path: Path, packed: Sequence[bytes]) -> None:
    content = np.frombuffer(b"".join(packed), dtype=np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez(file, content=content, ends=np.cumsum([len(each) for each in packed]))
    except OSError as problem:
        raise UnwritableState(f"{path} cannot be written: {problem}. Make room or choose another --cache.") from problem
