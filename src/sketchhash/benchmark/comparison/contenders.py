"""How a run comes to its encodings: a method of the catalogue, or Deep Sketch Hashing as a study trains it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines import Card, Distance, Input, Method, card_of
from sketchhash.benchmark import study
from sketchhash.benchmark.comparison.entries import ABLATIONS, DSH, Entry
from sketchhash.benchmark.comparison.extractors import SKETCH_NET
from sketchhash.benchmark.comparison.settings import Settings, hash_of, settings_of
from sketchhash.benchmark.comparison.workbench import Workbench
from sketchhash.dsh.recipe import load_recipe

T = TypeVar("T")


@dataclass(frozen=True)
class Seconds:
    """How long learning took, and encoding all photos of the gallery and all queries.

    What is extracted once for many methods is not counted, nor what DSH finds in its cache.
    """

    fit: float
    photos: float
    sketches: float


@dataclass(frozen=True, eq=False)
class Encoded:
    """Queries ``(queries, size)`` and gallery ``(photos, size)`` as a fitted method gives them."""

    distance: Distance
    queries: NDArray[np.floating]
    gallery: NDArray[np.floating]
    seconds: Seconds


class Contender(Protocol):
    """A run that can be made; ``recipe`` is all that decides its result, and its hash."""

    recipe: Settings

    def encode(self) -> Encoded:
        """Learn, and encode queries and gallery."""
        ...


def contender(entry: Entry, bench: Workbench) -> Contender:
    """Give the contender of an entry."""
    if entry.method == DSH:
        return Hashing(study.Entry("full", bench.recipe, entry.size), bench)
    if entry.method in ABLATIONS:
        return Hashing(study.Entry(entry.method, f"{bench.recipe}+{entry.method}", entry.size), bench)
    return Compared(card_of(entry.method), entry.size, bench)


class Compared:
    """A method of the catalogue."""

    def __init__(self, card: Card, size: int, bench: Workbench) -> None:
        """Build the method."""
        self._card, self._bench = card, bench
        self._method = card.build(size, bench.seed)
        recipe: Settings = {
            "implementation": card.implementation,
            "distance": card.distance,
            # What keeps no settings is known by what its card says of them.
            **(settings_of(self._method) or {"choices": card.choices}),
            "size": size,
            "seed": bench.seed,
            "sees": card.sees,
            **(self._features() if card.sees is Input.FEATURES else {}),
        }
        self.recipe: Settings = {**recipe, "hash": hash_of(recipe)}

    def encode(self) -> Encoded:
        """Get the inputs ready, then fit and encode by the clock."""
        bench, sees = self._bench, self._card.sees
        gallery, queries = bench.gallery(sees), bench.queries(sees)
        method, fit = self._fitted()
        photos, photo_seconds = _timed(lambda: method.encode_photos(gallery))
        sketches, sketch_seconds = _timed(lambda: method.encode_sketches(queries))
        return Encoded(self._card.distance, sketches, photos, Seconds(fit, photo_seconds, sketch_seconds))

    def _fitted(self) -> tuple[Method, float]:
        if self._card.name == SKETCH_NET:
            return self._bench.sketch_net.fitted.method, self._bench.sketch_net.fit_seconds
        views = self._bench.training(self._card.sees)
        return _timed(lambda: self._method.fit(views))

    def _features(self) -> Settings:
        return {"photo_features": self._bench.photo_trunk.settings, "sketch_features": self._bench.sketch_net.settings}


class Hashing:
    """Deep Sketch Hashing, or an ablation of it; its training is shared with ``sketchhash benchmark dsh``."""

    def __init__(self, entry: study.Entry, bench: Workbench) -> None:
        """Load the recipe."""
        self._entry, self._bench = entry, bench
        recipe = load_recipe(entry.recipe)
        self.recipe: Settings = {**asdict(recipe), "hash": recipe.hash}

    def encode(self) -> Encoded:
        """Train, or take up what was trained, then encode by the clock."""
        bench = self._bench
        desk, fit = _timed(lambda: bench.study.trained(self._entry, bench.protocol))
        photos, photo_seconds = _timed(lambda: desk.photo_values(bench.parts.gallery))
        sketches, sketch_seconds = _timed(lambda: desk.sketch_values(bench.parts.queries))
        return Encoded(Distance.HAMMING, sketches, photos, Seconds(fit, photo_seconds, sketch_seconds))


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = perf_counter()
    return work(), perf_counter() - started
