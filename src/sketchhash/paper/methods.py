"""How a run gets its encodings: a method of the catalogue, Deep Sketch Hashing, or a plain method on DSH's trunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.baselines import CanonicalCorrelation, Card, ClassCodes, Distance, Input, Method, Views, card_of
from sketchhash.baselines.deep.pictures import keeping_pixels_in
from sketchhash.baselines.deep.triplet_alexnet import TripletHeads
from sketchhash.baselines.method import settings_of
from sketchhash.codes import pack
from sketchhash.datasets import Item, Partition
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.sources import Source
from sketchhash.errors import require
from sketchhash.evaluation import TieGroups, labels, rank_codes, rank_cosine, rank_euclidean, rank_vectors
from sketchhash.evaluation.ranking import LabelArray, Vectors
from sketchhash.paper.entries import ABLATIONS, DSH, TRUNK_METHODS, Entry
from sketchhash.paper.features import SKETCH_NET, Settings, hash_of
from sketchhash.paper.settings import changed
from sketchhash.paper.workbench import Workbench

Matrix = NDArray[np.float64]
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
class MethodEncodings:
    """Queries ``(queries, size)`` and gallery ``(photos, size)`` as a fitted method encodes them.

    ``accuracy`` is the share of queries whose category a classifier tells; None if the method is none.
    """

    distance: Distance
    queries: NDArray[np.floating]
    gallery: NDArray[np.floating]
    seconds: Seconds
    accuracy: float | None = None


class PreparedMethod(Protocol):
    """A run that can be made; ``recipe`` is all that decides its result, and its hash."""

    recipe: Settings

    @property
    def tells_accuracy(self) -> bool:
        """Whether it will say how many queries it knows."""
        ...

    def encode(self) -> MethodEncodings:
        """Learn, and encode queries and gallery."""
        ...


def prepare_method(entry: Entry, bench: Workbench) -> PreparedMethod:
    """Build what an entry runs; nothing is learned yet."""
    if entry.method == DSH:
        return HashingMethod(entry, "full", bench.recipe, bench)
    if entry.method in ABLATIONS:
        return HashingMethod(entry, entry.method, f"{bench.recipe}+{entry.method}", bench)
    if entry.method in TRUNK_METHODS:
        return TrunkMethod(entry, bench)
    return CatalogueMethod(card_of(entry.method), entry.size, bench)


class CatalogueMethod:
    """A method of the catalogue."""

    def __init__(self, card: Card, size: int, bench: Workbench) -> None:
        """Build the method."""
        self._card, self._bench = card, bench
        changes = bench.settings.get(card.name, {})
        self._method = changed(card.build(size, bench.seed), changes)
        recipe: Settings = {
            "implementation": card.implementation,
            "distance": card.distance,
            # A method without settings is identified by what its card says of them.
            **(settings_of(self._method) or {"choices": card.choices}),
            **({"changed": changes} if changes else {}),
            "size": size,
            "seed": bench.seed,
            "sees": card.sees,
            **(self._features() if card.sees is Input.FEATURES else {}),
        }
        self.recipe: Settings = {**recipe, "hash": hash_of(recipe)}

    @property
    def tells_accuracy(self) -> bool:
        """Whether it is the Sketch-a-Net of the comparison, with its classifier."""
        return self._card.name == SKETCH_NET and self._bench.sketch_net.classifies

    def encode(self) -> MethodEncodings:
        """Load the inputs, then fit and encode by the clock."""
        with keeping_pixels_in(self._bench.baselines_folder):
            return self._encode()

    def _encode(self) -> MethodEncodings:
        bench, sees = self._bench, self._card.sees
        gallery, queries = bench.gallery(sees), bench.queries(sees)
        method, fit = self._fitted()
        photos, photo_seconds = _timed(lambda: method.encode_photos(gallery))
        sketches, sketch_seconds = _timed(lambda: method.encode_sketches(queries))
        seconds = Seconds(fit, photo_seconds, sketch_seconds)
        return MethodEncodings(self._card.distance, sketches, photos, seconds, self._accuracy())

    def _accuracy(self) -> float | None:
        return self._bench.sketch_accuracy() if self._card.name == SKETCH_NET else None

    def _fitted(self) -> tuple[Method, float]:
        if self._card.name == SKETCH_NET:
            return self._bench.sketch_net.fitted.method, self._bench.sketch_net.fit_seconds
        views = self._bench.training(self._card.sees)
        return _timed(lambda: self._method.fit(views))

    def _features(self) -> Settings:
        return {"photo_features": self._bench.photo_trunk.settings, "sketch_features": self._bench.sketch_net.settings}


class HashingMethod:
    """Deep Sketch Hashing, or an ablation of it; a training is kept in the cache and shared by comparisons."""

    tells_accuracy = False

    def __init__(self, entry: Entry, name: str, recipe: str, bench: Workbench) -> None:
        """Load the recipe."""
        self._entry, self._name, self._bench = entry, name, bench
        self._recipe = load_recipe(recipe)
        self.recipe: Settings = {**asdict(self._recipe), "hash": self._recipe.hash}

    def encode(self) -> MethodEncodings:
        """Train, or load what was trained, then encode by the clock."""
        bench, entry = self._bench, self._entry
        encoder, fit = _timed(lambda: bench.train(self._recipe, self._name, entry.size, entry.repeat))
        photos, photo_seconds = _timed(lambda: encoder.photo_values(bench.parts.gallery))
        sketches, sketch_seconds = _timed(lambda: encoder.sketch_values(bench.parts.queries))
        return MethodEncodings(Distance.HAMMING, sketches, photos, Seconds(fit, photo_seconds, sketch_seconds))


class TrunkMethod:
    """A plain method on the features of DSH's pre-trained trunks, ranked by the signs of its values."""

    tells_accuracy = False

    def __init__(self, entry: Entry, bench: Workbench) -> None:
        """Load DSH's recipe, which decides the features."""
        self._entry, self._bench = entry, bench
        dsh = load_recipe(bench.recipe)
        recipe: Settings = {"method": entry.method, "size": entry.size, "seed": bench.seed, "dsh": dsh.hash}
        self.recipe: Settings = {**recipe, "hash": hash_of(recipe)}

    def encode(self) -> MethodEncodings:
        """Pre-train the trunks or load them, then fit and encode by the clock."""
        bench, entry = self._bench, self._entry
        inputs = bench.pretrained(entry.size)
        encoder, fit = _timed(lambda: fit_on_trunks(entry.method, inputs, bench.parts, entry.size, bench.seed))
        photos, photo_seconds = _timed(lambda: encoder.photo_values(bench.parts.gallery))
        sketches, sketch_seconds = _timed(lambda: encoder.sketch_values(bench.parts.queries))
        return MethodEncodings(Distance.HAMMING, sketches, photos, Seconds(fit, photo_seconds, sketch_seconds))


@dataclass(frozen=True)
class TrunkEncoder:
    """A method fitted on the features of a network's trunks, as an encoder of items."""

    method: Method
    inputs: NetworkInputs

    def photo_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode photos."""
        return self.method.encode_photos(_features(self.inputs.photos, items))

    def sketch_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode sketches."""
        return self.method.encode_sketches(_features(self.inputs.sketches, items))


def fit_on_trunks(name: str, inputs: NetworkInputs, parts: Partition, bits: int, seed: int) -> TrunkEncoder:
    """Fit a method on trunk features of unaugmented pictures, the same that DSH's own layers start from."""
    found = {photo.label for photo in parts.training_photos}
    sketches = [sketch for sketch in parts.training_sketches if sketch.label in found]
    photos = parts.training_photos
    views = Views(
        _features(inputs.photos, photos), labels(photos), _features(inputs.sketches, sketches), labels(sketches)
    )
    return TrunkEncoder(_ON_TRUNKS[name](views, bits, seed).fit(views), inputs)


def rank_encodings(
    distance: Distance, sketches: Vectors, photos: Vectors, sketch_labels: LabelArray, photo_labels: LabelArray
) -> TieGroups:
    """Rank photos ``(photos, size)`` for every sketch ``(sketches, size)``; for *hamming* by the signs alone."""
    match distance:
        case Distance.HAMMING:
            return rank_codes(pack(sketches), pack(photos), sketch_labels, photo_labels)
        case Distance.COSINE:
            return rank_cosine(sketches, photos, sketch_labels, photo_labels)
        case Distance.EUCLIDEAN:
            return rank_euclidean(sketches, photos, sketch_labels, photo_labels)
        case Distance.MANHATTAN:
            return rank_vectors(_manhattan, sketches, photos, sketch_labels, photo_labels)
        case Distance.INTERSECTION:
            return rank_vectors(_opposite_intersection, sketches, photos, sketch_labels, photo_labels)
        case Distance.INNER_PRODUCT:
            return rank_vectors(_opposite_product, sketches, photos, sketch_labels, photo_labels)


def _triplet(views: Views, bits: int, seed: int) -> TripletHeads:
    photos, sketches = (np.asarray(view).shape[1] for view in (views.photos, views.sketches))
    return TripletHeads(bits, seed=seed, photo_features=photos, sketch_features=sketches)


_ON_TRUNKS: Mapping[str, Callable[[Views, int, int], Method]] = {
    "trunk-ridge": lambda _, bits, seed: ClassCodes(bits, seed=seed),
    "trunk-cca": lambda _, bits, seed: CanonicalCorrelation(bits, seed=seed),
    "trunk-triplet": _triplet,
}


def _features(source: Callable[[Sequence[Item]], Source], items: Sequence[Item]) -> NDArray[np.float32]:
    features: NDArray[np.float32] = source(items).batch(torch.arange(len(items)), None).numpy()
    return features


def _manhattan(sketches: Matrix, photos: Matrix) -> Matrix:
    distances: Matrix = require("scipy.spatial.distance", "bench").cdist(sketches, photos, "cityblock")
    return distances


def _opposite_intersection(sketches: Matrix, photos: Matrix) -> Matrix:
    # Σ min(a, b) = ½ (Σ a + Σ b − Σ |a − b|)
    shared: Matrix = (_manhattan(sketches, photos) - sketches.sum(axis=1)[:, None] - photos.sum(axis=1)) / 2
    return shared


def _opposite_product(sketches: Matrix, photos: Matrix) -> Matrix:
    products: Matrix = sketches @ photos.T
    return -products


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = perf_counter()
    return work(), perf_counter() - started
