"""Recipes: every number of a training run, as data.

A recipe is a TOML file: one of the package's by name, or the path of your own. It may name a ``base`` recipe and
say only what differs from it. ``mine.toml+without-tokens`` is what a recipe of the package changes in its base, on
top of another one: so any recipe has the ablations of Table 4. `Recipe.hash` names a recipe in run records, so that
two models are known to be made alike.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from enum import StrEnum
from importlib.resources import files
from math import cos, pi
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sketchhash.dsh.networks import Branches, NetworkSpec, network_spec
from sketchhash.errors import BadArgument, UnknownName

T = TypeVar("T")

_STRICT = ConfigDict(strict=True, allow_inf_nan=False)
_OPTIMISERS = ("adamw", "sgd")
_PRECISIONS = ("bfloat16", "float32")
_STAGES = ("pretrain_photos", "pretrain_sketches", "pretrain_ink", "pretrain_behind", "hashing")
_ADDED_LATER: dict[str, Any] = {  # with what was done before they were added
    "cycles": 1,
    "basis_weight": 0.0,
    "centred_words": False,
    "balanced_sampling": False,
    "averaging": 0.0,
    "frozen_blocks": 0,
    "imagenet_weight": 0.0,
    "kept_share": 0.0,
    "scores_first": False,
    "stroke_redraws": 0,
    "fewest_photos": 0,
    "second_threshold": 0.0,
    "sees_classes": False,
    "words_file": "",
    "category_weight": 0.0,
    "normalised_short": False,
    "longest_gradient": 0.0,
    "photo_side": 0,
    "ink_side": 0,
    "precision": "float32",
}


@dataclass(frozen=True)
class Steps:
    """How a stage takes its gradient steps; 0 epochs leave the stage out.

    The learning rate is multiplied by ``decay`` each epoch as in the paper, or falls along half a cosine after a
    short warm-up when ``decay`` is 0. The first ``reduced_epochs`` of pre-training a trunk that takes any size see
    pictures at three quarters of their side, which is nearly twice as fast. Pre-training goes through all its epochs
    in each of several ``cycles``, from what the cycle before gave, which is kept: a net can always learn on.

    With ``balanced_sampling``, an epoch of pre-training draws as many pictures as there are, with replacement: large
    collections, and large categories within each, are shown less often than their share, by the square root of their
    size; while codes are learned, large categories of photos and of sketches are. With ``averaging``, pre-training
    ends with an exponential average of the weights, which keeps this share of itself at each step. The stem and the
    first ``frozen_blocks`` blocks of an EfficientNet stay as they are, which halves the time of a step. With
    ``imagenet_weight``, C2 also learns to predict, for each category with photos, what ImageNet's classifier says of
    them. A trunk that learns on ends between what it was and what it learned, at ``kept_share`` of the former: such a
    mean knows more than either (Wortsman et al., Robust fine-tuning of zero-shot models, CVPR 2022). With
    ``scores_first``, what is behind the trunk, which is new, learns from one pass before the trunk does: while it knows
    nothing, what it asks of a trunk that knows much only distorts it (Kumar et al., Fine-tuning can distort pretrained
    features and underperform out-of-distribution, ICLR 2022).

    With ``normalised_short``, the short layer of category scores sees pool3 normalised over the batch, which a trunk
    with random weights needs at a high rate (see `networks.Classifier`). With ``longest_gradient``, a gradient that is
    longer than this is shortened to it before the step.

    With a ``precision`` of bfloat16, the networks of a step compute in it what bears it (torch's autocast); weights,
    losses, and the values that codes are made of stay in float32. A recipe may say it once for all stages.
    """

    epochs: int
    batch: int = 64
    optimiser: str = "sgd"
    learning_rate: float = 0.001
    momentum: float = 0.9
    weight_decay: float = 0.0005
    decay: float = 0.0
    label_smoothing: float = 0.0
    reduced_epochs: int = 0
    cycles: int = 1
    balanced_sampling: bool = False
    averaging: float = 0.0
    frozen_blocks: int = 0
    imagenet_weight: float = 0.0
    kept_share: float = 0.0
    scores_first: bool = False
    normalised_short: bool = False
    longest_gradient: float = 0.0
    precision: str = "float32"

    def __post_init__(self) -> None:
        """Refuse numbers no stage can run with."""
        counts = self.epochs >= 0 and self.batch >= 1 and self.cycles >= 1 and self.frozen_blocks >= 0
        shares = 0 <= self.decay <= 1 and 0 <= self.averaging < 1 and 0 <= self.kept_share < 1
        sizes = self.imagenet_weight >= 0 and self.longest_gradient >= 0 and self.learning_rate > 0
        if not counts or not shares or not sizes:
            raise BadArgument(f"No stage can run with these numbers: {self}.")
        if self.optimiser not in _OPTIMISERS:
            raise UnknownName("optimiser", self.optimiser, _OPTIMISERS)
        if self.precision not in _PRECISIONS:
            raise UnknownName("precision", self.precision, _PRECISIONS)

    def rate(self, epoch: int, done: float) -> float:
        """Return the learning rate when the share ``done`` of ``epoch`` (from 0) is over."""
        if self.decay:
            return self.learning_rate * self.decay**epoch
        share = (epoch + done) / self.epochs
        return self.learning_rate * min(1.0, share / 0.05 + 0.01) * (1 + cos(pi * share)) / 2


_NO_STAGE = Steps(epochs=0)
_ADDED_LATER["pretrain_behind"] = asdict(_NO_STAGE)


class Similarity(StrEnum):
    """How similar two categories should be: as the paper says, or as m bits can follow."""

    PAPER = "paper"
    ORTHOGONAL = "orthogonal"


@dataclass(frozen=True)
class Objective:
    """The weights of Eq. 4, μ that keeps D small (``basis_weight``, see `objective`), and similarity of categories.

    The paper asks every two categories to be opposite (−1), which m bits cannot do for many categories: its optimum
    puts all photos on one code and all sketches on its opposite. *orthogonal* asks them to be unrelated, see
    `objective.orthogonal_similarity`.

    The pairwise part sums over pairs and the others over samples, so that with the paper's weights it outweighs them
    a million times. *balanced* weights are shares of what the pairwise part puts on a bit, whatever the number of
    samples n = (n1 + n2) / 2: λ is multiplied by n m, γ and μ by n.
    """

    similarity: Similarity = Similarity.PAPER
    pairwise_weight: float = 1.0
    semantic_weight: float = 0.01
    quantisation_weight: float = 1e-5
    basis_weight: float = 0.0
    balanced: bool = False
    rounds: int = 1

    def __post_init__(self) -> None:
        """Refuse weights that leave nothing to learn."""
        if not self.pairwise_weight and not self.semantic_weight:
            raise BadArgument("One of pairwise_weight and semantic_weight must be above 0: the codes learn from them.")
        if self.rounds < 1:
            raise BadArgument(f"The codes need at least 1 round an epoch, not {self.rounds}.")


@dataclass(frozen=True)
class Recipe:
    """A whole training run.

    C2 learns to name all sketches, those of categories without photos too (``pretrain_sketches``), or all ink, which
    is sketches and the token maps of photos (``pretrain_ink``), or both in this order. Afterwards the layers behind a
    frozen trunk can learn to name ink on their own (``pretrain_behind``), by the features of categories with photos,
    which are computed anyway.

    A sketch that is stored as strokes can be shown to C2 in ``stroke_redraws`` more drawings of it, by other hands
    (`augment.redraw`). With ``second_threshold``, C2 learns half of the contours of photos at this threshold instead of
    that of token maps: below it, they have more detail.

    A category with fewer than ``fewest_photos`` is filled up with virtual ones while codes are learned, as far as
    ImageNet's classifier knows it (`prototypes`).

    With ``category_weight``, the networks also learn to be nearer to the code of their own category than to those of
    others (`training.category_loss`).

    Photos and ink are shown to the networks with sides of ``photo_side`` and ``ink_side`` pixels, or of those that go
    with the ``size`` of the network, if these are 0.

    With ``sees_classes``, fc_a of C1 also sees what ImageNet's classifier says of a photo (`networks.ImageClasses`).

    Word vectors come from a source of `words.SOURCES`; those named after a file format read ``words_file``.
    With ``centred_words`` the word vectors lose what all categories share, which would pull all codes together.

    With ``frozen_trunks`` the convolutions stay as pre-training left them while codes are learned, so their
    output is computed once for each of a few augmented views and kept: this is what makes training on a
    processor practical.
    """

    name: str
    description: str
    size: str
    pretrain_photos: Steps
    pretrain_sketches: Steps
    hashing: Steps
    objective: Objective
    pretrain_ink: Steps = _NO_STAGE
    pretrain_behind: Steps = _NO_STAGE
    branches: Branches = Branches.FULL
    words: str = "default"
    words_file: str = ""
    centred_words: bool = False
    detector: str = "sketch-tokens"  # recipes that name none keep their hashes
    frozen_trunks: bool = False
    photo_views: int = 1
    sketch_views: int = 1
    stroke_redraws: int = 0
    fewest_photos: int = 0
    second_threshold: float = 0.0
    sees_classes: bool = False
    category_weight: float = 0.0
    photo_side: int = 0
    ink_side: int = 0

    def __post_init__(self) -> None:
        """Refuse a weight that would reward a loss, and pictures without pixels."""
        if self.photo_side < 0 or self.ink_side < 0:
            raise BadArgument(f"Pictures cannot have sides of {self.photo_side} and {self.ink_side} pixels.")
        if self.category_weight < 0:
            raise BadArgument(f"category_weight must be at least 0, not {self.category_weight}.")

    @property
    def learns_codes(self) -> bool:
        """Whether Algorithm 1 runs at all; otherwise C2 is all that is taught, for models that start from it."""
        return self.hashing.epochs > 0

    def network_spec(self, bits: int) -> NetworkSpec:
        """Return the shape of the network that is trained."""
        spec = network_spec(self.size, bits, self.branches, self.sees_classes)
        return replace(spec, photo_side=self.photo_side or spec.photo_side, ink_side=self.ink_side or spec.ink_side)

    @property
    def hash(self) -> str:
        """Identify what this recipe does; its name and description do not count."""
        deciding = {key: value for key, value in asdict(self).items() if key not in ("name", "description")}
        return hashlib.sha256(json.dumps(without_additions(deciding), sort_keys=True).encode()).hexdigest()


def recipe_names() -> tuple[str, ...]:
    """Name the recipes that come with the package."""
    return tuple(
        sorted(entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))
    )


def load_recipe(name_or_path: str) -> Recipe:
    """Load a recipe of the package by name, or a TOML file of your own by path, or what one changes in another.

    >>> load_recipe("paper").hashing.epochs
    15
    >>> load_recipe("paper+without-tokens").branches
    <Branches.WITHOUT_TOKENS: 'without-tokens'>
    """
    try:
        return parse_recipe({"name": Path(name_or_path).stem, **_read(name_or_path)})
    except (tomllib.TOMLDecodeError, TypeError, ValueError, RecursionError) as problem:
        raise BadArgument(f"The recipe {name_or_path} cannot be used: {problem}.") from problem


def parse_recipe(table: Mapping[str, Any]) -> Recipe:
    """Make a recipe of a table as `dataclasses.asdict` or a TOML file gives it."""
    everywhere = {key: table[key] for key in ("precision",) if key in table}
    table = {key: value for key, value in table.items() if key not in everywhere}
    parts = {
        "branches": Branches(table.get("branches", Branches.FULL)),
        "objective": _build(Objective, _with_similarity(table.get("objective", {}))),
        **{stage: _build(Steps, {**everywhere, **table[stage]}) for stage in _STAGES if stage in table},
    }
    if missing := {field.name for field in fields(Recipe) if field.default is MISSING} - {*table, *parts}:
        raise BadArgument(f"A recipe needs {', '.join(sorted(missing))}; name a base recipe to take the rest from it")
    return _build(Recipe, {**table, **parts})


def without_additions(table: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out settings added later that change nothing: what was made before them keeps its hash."""
    return {
        key: without_additions(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if key not in _ADDED_LATER or value != _ADDED_LATER[key]
    }


def _with_similarity(objective: Mapping[str, Any]) -> dict[str, Any]:
    name = objective.get("similarity", Similarity.PAPER)
    if name not in list(Similarity):
        raise UnknownName("similarity", name, Similarity)
    return {**objective, "similarity": Similarity(name)}


def _read(name_or_path: str, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """Read a recipe's table on top of its base's, or of the recipe before the ``+``."""
    if not isinstance(name_or_path, str):
        raise ValueError(f"base should be the name of a recipe or a TOML file, found {name_or_path!r}")
    if name_or_path in above:
        raise ValueError(f"{name_or_path} is its own base, by way of {', '.join(above)}")
    below, _, change = name_or_path.rpartition("+")
    is_stacked = below and change in recipe_names()  # else the + is part of a path
    table = _own_table(change if is_stacked else name_or_path)
    own_base = table.pop("base", None)
    base_name = below if is_stacked else own_base
    base = _read(base_name, (*above, name_or_path)) if base_name else {}
    for key, value in table.items():
        base[key] = {**base[key], **value} if isinstance(value, dict) and key in base else value
    return base


def _own_table(name_or_path: str) -> dict[str, Any]:
    if name_or_path in recipe_names():
        text = _folder().joinpath(f"{name_or_path}.toml").read_text(encoding="utf-8")
    elif name_or_path.endswith(".toml"):
        try:
            text = Path(name_or_path).read_text(encoding="utf-8")
        except OSError as problem:
            raise BadArgument(f"The recipe {name_or_path} cannot be read: {problem.strerror}.") from problem
    else:
        raise UnknownName("recipe", name_or_path, recipe_names())
    return tomllib.loads(text)


def _folder() -> Any:  # noqa: ANN401 - importlib's Traversable moved between Python versions
    return files("sketchhash.dsh") / "recipes"


def _build(kind: type[T], table: Mapping[str, object]) -> T:
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    strangers = sorted(set(table) - known)
    if strangers:
        raise UnknownName("setting", strangers[0], known)
    _check_types(kind, table)
    return kind(**table)


def _check_types(kind: type, table: Mapping[str, object]) -> None:
    # Only checked, not converted: a whole number that stands for a float stays one, and so does the recipe's hash.
    for name, expected in get_type_hints(kind).items():
        if name in table and expected in (bool, int, float, str):
            try:
                TypeAdapter(expected, config=_STRICT).validate_python(table[name])
            except ValidationError as problem:
                message = problem.errors(include_url=False)[0]["msg"].replace("Input ", "")
                raise ValueError(f"{name} {message}, found {table[name]!r}") from problem
