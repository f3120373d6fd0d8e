"""What is compared, and the few settings that each method may choose from on validation: four at most for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines import CATALOGUE, Distance, Input, Method, Views, card_of
from sketchhash.datasets import Item
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.recipe import Recipe
from sketchhash.errors import BadArgument, UnknownName
from sketchhash.paper.entries import DSH
from sketchhash.paper.heads.bench import HeadBench, Task

Values = NDArray[np.floating]
Settings = Mapping[str, Any]

MOST_SETTINGS = 4  # tried for each method

_RIDGES: Sequence[Settings] = tuple({"ridge": value} for value in (0.03, 0.1, 0.3, 1.0))
_LARGE_RIDGES: Sequence[Settings] = tuple({"ridge": value} for value in (0.3, 1.0, 3.0, 10.0))

CANDIDATES: Mapping[str, Sequence[Settings]] = {
    "cmfh": tuple({"penalty": value} for value in (0.01, 1.0, 100.0, 10_000.0)),
    "cmssh": tuple({"axes": value} for value in (64, 128, 256, 512)),
    "scm-seq": _LARGE_RIDGES,
    "scm-orth": _LARGE_RIDGES,
    "cvh": _RIDGES,
    "seph": tuple({"penalty": value} for value in (0.0001, 0.001, 0.01, 0.1)),
    "class-codes": _RIDGES,
    "triplet-hashing": tuple(
        {"margin": margin, "binariness": weight} for margin in (1.0, 2.0) for weight in (0.0, 0.03)
    ),
    "contrastive-hashing": tuple(
        {"margin": margin, "binariness": weight} for margin in (1.0, 1.4) for weight in (0.0, 0.03)
    ),
    "gdh": tuple({"cycle": cycle, "adversarial": weight} for cycle in (0.03, 0.3) for weight in (0.01, 0.1)),
    "sake": tuple({"knowledge": value, "binariness": weight} for value in (0.1, 1.0) for weight in (0.03, 0.3)),
    "cca": _RIDGES,
    "xqda": tuple({"axes_per_view": axes, "ridge": ridge} for axes in (256, 512) for ridge in (0.001, 0.1)),
    "plsr": tuple({"components": value} for value in (32, 64, 128, 256)),
    "cvfl": tuple({"ridge": ridge, "smoothness": weight} for ridge in (0.1, 1.0) for weight in (0.1, 1.0)),
    "chances": tuple({"penalty": value} for value in (0.0003, 0.001, 0.003, 0.01)),
    DSH: (
        {},
        {"category_weight": 1.0},
        {"category_weight": 1.0, "semantic_weight": 30.0},
        {"category_weight": 1.0, "epochs": 30},
    ),
}


def head_names() -> tuple[str, ...]:
    """Name the methods that can be compared, in the order of the catalogue, DSH last."""
    return (*(card.name for card in CATALOGUE if card.sees is Input.FEATURES and card.name in CANDIDATES), DSH)


def sizes_of(method: str, bits: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes at which a method runs: all code lengths, or the only dimension it has."""
    return (card_of(method).sizes or tuple(bits)) if method != DSH else tuple(bits)


def distance_of(method: str) -> Distance:
    """Return how a method's encodings are compared."""
    return Distance.HAMMING if method == DSH else card_of(method).distance


@dataclass(frozen=True, eq=False)
class Head:
    """A fitted method behind the trunks."""

    bench: HeadBench
    fitted: Method | NetworkInputs

    def photos(self, items: Sequence[Item]) -> Values:
        """Encode photos."""
        if isinstance(self.fitted, NetworkInputs):
            return self.fitted.photo_values(items)
        return self.fitted.encode_photos(self.bench.photos(items))

    def sketches(self, items: Sequence[Item]) -> Values:
        """Encode sketches."""
        if isinstance(self.fitted, NetworkInputs):
            return self.fitted.sketch_values(items)
        return self.fitted.encode_sketches(self.bench.sketches(items))


def fit_head(method: str, size: int, seed: int, settings: Settings, bench: HeadBench, task: Task, views: Views) -> Head:
    """Fit a method by some settings."""
    if method == DSH:
        return Head(bench, bench.train(recipe_with(bench.recipe, settings), task, size, seed))
    return Head(bench, built(method, size, seed, settings).fit(views))


def built(method: str, size: int, seed: int, settings: Settings) -> Method:
    """Build an unfitted method of the catalogue by some settings."""
    plain: Any = card_of(method).build(size, seed)
    found: Method = replace(plain, **settings)
    return found


def recipe_with(recipe: Recipe, settings: Settings) -> Recipe:
    """Return a recipe with other weights of the losses, or other epochs of Algorithm 1."""
    objective = {name: value for name, value in settings.items() if name in asdict(recipe.objective)}
    steps = {name: value for name, value in settings.items() if name in asdict(recipe.hashing)}
    losses = {name: value for name, value in settings.items() if name == "category_weight"}
    if strangers := set(settings) - set(objective) - set(steps) - set(losses):
        raise BadArgument(f"No weight and no step of a recipe is named {min(strangers)}.")
    return replace(
        recipe,
        objective=replace(recipe.objective, **objective),
        hashing=replace(recipe.hashing, **steps),
        **losses,
    )


def check_names(names: Sequence[str]) -> None:
    """Raise if a method cannot be compared."""
    for name in names:
        if name not in head_names():
            raise UnknownName("method", name, head_names())
