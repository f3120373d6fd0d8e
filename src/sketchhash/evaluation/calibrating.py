"""Fit and measure the calibration of a model: what makes its chances mean what they say.

Sketches and photos that the model was not trained on search galleries that are drawn at random: few or many categories,
few or many photos of each, with what was drawn or without it. Beside them search drawings of things that the model was
never taught, parts of drawings, and scribbles. Half of all this (sketches and photos by item, untaught things by
category) is fitted on, the other half is measured on.

| kind       | the drawing is                                            | first hits can be right |
|------------|-----------------------------------------------------------|-------------------------|
| `present`  | of a taught category that the gallery has photos of       | yes                     |
| `part`     | the same, but most of it is missing                       | yes                     |
| `absent`   | of a taught category that the gallery has no photo of     | no                      |
| `untaught` | of a category that the model was never taught             | if there are photos     |
| `scribble` | nothing                                                   | no                      |

The first hits are *right* if at least half of the first five show what was drawn; of fewer, if the gallery has fewer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack, unpack
from sketchhash.datasets import Dataset, Item, Split, join
from sketchhash.datasets.names import meaning
from sketchhash.datasets.scribbles import scribble
from sketchhash.errors import BadArgument
from sketchhash.evaluation.encodings import Encodings, Medium, ink_picture
from sketchhash.evaluation.models import Progress, silent
from sketchhash.imaging import InkStyle, normalise_ink, rasterise, share_of_ink
from sketchhash.model import Calibration, Model, QueryKind
from sketchhash.model.calibration import (
    FEATURES,
    FIRST_HITS,
    Floats,
    Head,
    answer_features,
    cosines,
    hit_features,
    log_size,
    logistic,
    open_softmax,
    unit,
)

MOST = 10
"""Sketches and photos of a category that are used, in each role."""

HALVES = ("fit", "measure")
ROLES = ("vectors", *HALVES)
"""What items are for: the vectors of the categories, and the two halves that search."""

_SCRIBBLES = _PARTS = 400
_HITS = 40
_CANDIDATES = 200
_GALLERIES = 2
_FEWEST_CATEGORIES = 8
_NOTHING = -1
# Just below what is aimed at, 5 % and 10 %: the shares of wrong answers that may be called sure.
_SURE_SCRIBBLES, _SURE_ABSENT = 0.045, 0.09
# A drawing with less ink than this share of sketches may be one that was just begun.
_LITTLE_INK = 0.25


class Kind(StrEnum):
    """What a drawing is to the model and the gallery that it searches."""

    PRESENT = "present"
    PART = "part"
    ABSENT = "absent"
    UNTAUGHT = "untaught"
    SCRIBBLE = "scribble"


# How much each kind of query counts: as many can be right as cannot.
_WEIGHTS = {Kind.PRESENT: 0.4, Kind.PART: 0.1, Kind.ABSENT: 0.2, Kind.UNTAUGHT: 0.15, Kind.SCRIBBLE: 0.15}


@dataclass(frozen=True, eq=False)
class Pictures:
    """Values ``(pictures, bits)`` of sketches or photos, and what they show: rows of categories, or -1 for nothing."""

    values: NDArray[np.float32]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        """Count them."""
        return len(self.labels)

    def __getitem__(self, which: NDArray[Any]) -> Pictures:
        """Select some."""
        return Pictures(self.values[which], self.labels[which])


@dataclass(frozen=True, eq=False)
class Half:
    """What is fitted on, or measured on; ``ink`` is the share of the picture that is ink, of some whole sketches."""

    sketches: Pictures
    parts: Pictures
    scribbles: Pictures
    photos: Pictures
    ink: Floats


@dataclass(frozen=True, eq=False)
class Material:
    """All that a calibration is made of and measured with.

    Attributes:
        names: The taught categories, in the order of the labels below their number; higher labels are untaught.
        drawn: Sketches that the vectors of the categories are the means of.
        shown: Photos, likewise.
        halves: What is fitted on, and what is measured on.
        split_hash: Identifies the split that kept the halves out of training; None if nothing did.
    """

    names: tuple[str, ...]
    drawn: Pictures
    shown: Pictures
    halves: Mapping[str, Half]
    split_hash: str | None

    @property
    def is_kept_out(self) -> bool:
        """Return whether the model was trained on nothing of the halves."""
        return self.split_hash is not None


def gather_material(
    encodings: Encodings,
    datasets: Sequence[Dataset],
    split: Split | None = None,
    wanted: Sequence[str] = ROLES,
    most: int = MOST,
    progress: Progress | None = None,
) -> Material:
    """Encode what a calibration needs, at most so many items of a category in each role.

    Only the ``wanted`` roles are filled. Without a split, what the model was trained on may be among what is fitted
    and measured on: then its chances come out too high.
    """
    model, whole = encodings.model, join(datasets)
    rows = _rows(whole.categories, model.manifest.categories)
    roles = _roles(whole, split, rows, len(model.manifest.categories), most, wanted)
    for medium in Medium:
        missing = encodings.missing(medium, [item for role in wanted for item in roles[medium, role]])
        with (progress or silent)(f"encoding {medium}s", len(missing)) as advance:
            encodings.encode(medium, missing, advance)

    def pictures(medium: Medium, role: str) -> Pictures:
        items, values = encodings.values(medium, roles[medium, role])
        return Pictures(values, np.array([rows[item.label] for item in items], dtype=np.int64))

    halves = {}
    for half in HALVES:
        if half in wanted:
            sketches = [item for item in roles[Medium.SKETCH, half] if item.id not in encodings.unreadable]
            taught = [item for item in sketches if rows[item.label] < len(model.manifest.categories)]
            some = taught[:: max(1, len(taught) // _PARTS)]
            with (progress or silent)(f"drawing parts and scribbles to {half}", len(some) + _SCRIBBLES) as advance:
                parts, scribbles, ink = _draw_parts(model, some, HALVES.index(half), advance)
            labels = np.array([rows[item.label] for item in some], dtype=np.int64)
            nothing = np.full(len(scribbles), _NOTHING, dtype=np.int64)
            halves[half] = Half(
                sketches=pictures(Medium.SKETCH, half),
                parts=Pictures(parts, labels),
                scribbles=Pictures(scribbles, nothing),
                photos=pictures(Medium.PHOTO, half),
                ink=ink,
            )
    return Material(
        names=model.manifest.categories,
        drawn=pictures(Medium.SKETCH, "vectors"),
        shown=pictures(Medium.PHOTO, "vectors"),
        halves=halves,
        split_hash=split.hash if split else None,
    )


def _draw_parts(
    model: Model, sketches: Sequence[Item], seed: int, advance: Callable[[], None]
) -> tuple[NDArray[np.float32], NDArray[np.float32], Floats]:
    """Return the values of parts of sketches, those of scribbles, and how much of each sketch is ink."""
    rng = np.random.default_rng(seed)
    page, style = model.manifest.ink, model.manifest.ink.style

    def encoded(pictures: Iterable[NDArray[np.uint8]]) -> NDArray[np.float32]:
        values = []
        for picture in pictures:
            values.append(model.encode_sketches(picture[np.newaxis])[0])
            advance()
        return np.array(values, dtype=np.float32).reshape(len(values), model.bits)

    whole = [ink_picture(page, item) for item in sketches]
    parts = encoded(part_of(ink, rng, style) for ink in whole)
    scribbles = encoded(rasterise(scribble(rng), page.size, style) for _ in range(_SCRIBBLES))
    return parts, scribbles, np.array([share_of_ink(ink) for ink in whole])


def part_of(ink: NDArray[np.uint8], rng: np.random.Generator, style: InkStyle) -> NDArray[np.uint8]:
    """Keep a quarter to a half of a sketch, on one side of a line, and fit it into the page as if it were all."""
    rows, columns = np.nonzero(ink < 128)
    angle = rng.uniform(0, 2 * np.pi)
    along = rows * np.sin(angle) + columns * np.cos(angle)
    kept = along <= np.quantile(along, rng.uniform(0.25, 0.5))
    part = np.full_like(ink, 255)
    part[rows[kept], columns[kept]] = 0
    return normalise_ink(part, len(ink), style)


def fit_calibration(material: Material, fitted: Calibration | None = None) -> Calibration:
    """Fit a calibration on the first half of the material; of one that is ``fitted``, exchange the vectors alone.

    Raises:
        BadArgument: If there are too few sketches or photos to fit on.
    """
    drawn, shown = (_means(some, len(material.names)) for some in (material.drawn, material.shown))
    # A category that was only drawn, or only photographed, has one vector for both.
    drawn, shown = (np.where(one.any(axis=1, keepdims=True), one, two) for one, two in ((drawn, shown), (shown, drawn)))
    if fitted is not None:
        return replace(fitted, categories=material.names, drawn=drawn, shown=shown)
    half = material.halves["fit"]
    if min(len(half.sketches), len(half.photos), len(half.parts)) < _FEWEST_CATEGORIES:
        raise BadArgument("There are too few sketches and photos of what the model knows to calibrate it.")
    blank = Head(np.zeros(FEATURES), np.zeros(3), 1.0)
    made = Calibration(
        categories=material.names,
        drawn=drawn,
        shown=shown,
        drawing=_fit_drawing(half, drawn),
        photo=_fit_photo(half, shown),
        heads=dict.fromkeys(QueryKind, blank),
        least_ink=float(np.quantile(half.ink, _LITTLE_INK)),
    )
    heads = {kind: _fit_head(made, half, kind) for kind in QueryKind}
    return replace(made, heads=heads)


@dataclass(frozen=True, eq=False)
class Search:
    """One search of a gallery drawn at random: the query, the hits in their order, and which of them are right."""

    kind: Kind
    label: int
    values: NDArray[np.float32]
    codes: NDArray[np.uint8]
    relevant: NDArray[np.bool_]
    is_right: bool


def searches(half: Half, names: int, asked: QueryKind, shown: Floats) -> Iterator[Search]:
    """Yield searches of galleries drawn at random; the same for the same half."""
    rng = np.random.default_rng([list(QueryKind).index(asked), len(half.photos)])
    signs = np.where(half.photos.values >= 0, 1, -1).astype(np.float32)
    codes = pack(half.photos.values)
    for kind, queries in _queries(half, names, asked, shown):
        for number, (values, label) in enumerate(zip(queries.values, queries.labels.tolist(), strict=True)):
            for _ in range(_GALLERIES):
                itself = number if asked is QueryKind.PHOTO else None
                among = _gallery(half.photos.labels, label if label < names else _NOTHING, itself, rng)
                if len(among) < FIRST_HITS:
                    continue
                nearest = among[np.argsort(-(signs[among] @ np.where(values >= 0, 1, -1)), kind="stable")[:_CANDIDATES]]
                hits = nearest[np.argsort(-(signs[nearest] @ values), kind="stable")[:_HITS]]
                relevant = half.photos.labels[hits] == label
                count = min(FIRST_HITS, int((half.photos.labels[among] == label).sum()))
                is_right = count > 0 and float(relevant[:count].mean()) >= 0.5
                is_absent = kind in (Kind.PRESENT, Kind.PART) and not count
                yield Search(Kind.ABSENT if is_absent else kind, label, values, codes[hits], relevant, is_right)


def _queries(half: Half, names: int, asked: QueryKind, shown: Floats) -> list[tuple[Kind, Pictures]]:
    if asked is QueryKind.CATEGORY:
        return [(Kind.PRESENT, Pictures(shown.astype(np.float32), np.arange(names)))]
    pictures = half.sketches if asked is QueryKind.SKETCH else half.photos
    is_taught = pictures.labels < names
    queries = [(Kind.PRESENT, pictures[is_taught]), (Kind.UNTAUGHT, pictures[~is_taught])]
    if asked is QueryKind.SKETCH:
        queries += [(Kind.PART, half.parts), (Kind.SCRIBBLE, half.scribbles)]
    return queries


def _gallery(labels: NDArray[np.int64], wanted: int, itself: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose photos of some categories; what is ``wanted`` is among them in one of two."""
    categories = np.unique(labels)
    fewest = min(_FEWEST_CATEGORIES, len(categories))
    count = round(np.exp(rng.uniform(np.log(fewest), np.log(len(categories)))))
    chosen = set(rng.permutation(categories)[:count].tolist()) - {wanted}
    if wanted != _NOTHING and rng.random() < 0.5:
        chosen.add(wanted)
    is_chosen = np.isin(labels, list(chosen)) & (rng.random(len(labels)) < rng.uniform(0.2, 1))
    if itself is not None:
        is_chosen[itself] = False
    return np.flatnonzero(is_chosen)


def _fit_head(made: Calibration, half: Half, asked: QueryKind) -> Head:
    features, right, kinds, agreements, relevant = [], [], [], [], []
    for search in searches(half, len(made.categories), asked, made.shown):
        guessed = _guessed(made, search, asked)
        agreement = made.photo_chances(unpack(search.codes)) @ np.append(guessed[:-1], 0.0)
        size = 0.0 if asked is QueryKind.CATEGORY else float(log_size(search.values[None])[0])
        features.append(answer_features(guessed, agreement, size))
        right.append(search.is_right)
        kinds.append(search.kind)
        agreements.append(agreement)
        relevant.append(search.relevant)
    weights = kind_weights(kinds)
    matrix, rightness = np.stack(features), np.array(right, dtype=np.float64)
    answer = fit_logistic(matrix, rightness, weights)
    chances = logistic(matrix @ answer)
    hit = fit_logistic(
        np.concatenate([hit_features(one, chance) for one, chance in zip(agreements, chances.tolist(), strict=True)]),
        np.concatenate(relevant).astype(np.float64),
        np.concatenate([np.full(len(one), weight) for one, weight in zip(relevant, weights.tolist(), strict=True)]),
    )
    return Head(answer, hit, _least_sure(chances, np.array(kinds)))


def _guessed(made: Calibration, search: Search, asked: QueryKind) -> Floats:
    if asked is QueryKind.CATEGORY:
        return np.asarray(np.eye(len(made.categories) + 1)[search.label])
    chances = made.drawing_chances if asked is QueryKind.SKETCH else made.photo_chances
    guessed: Floats = chances(search.values[None])[0]
    return guessed


def _least_sure(chances: Floats, kinds: NDArray[np.str_]) -> float:
    """Return the least chance, at least a half, that keeps the shares of wrong kinds that are called sure small."""
    allowed = {_SURE_SCRIBBLES: [Kind.SCRIBBLE], _SURE_ABSENT: [Kind.ABSENT, Kind.UNTAUGHT]}
    least = 0.5
    for share, wrong in allowed.items():
        found = chances[np.isin(kinds, wrong)]
        if len(found):
            least = max(least, float(np.quantile(found, 1 - share)))
    return least


def kind_weights(kinds: Sequence[Kind]) -> Floats:
    """Return weights that make each kind count as much as it should, however many searches it has."""
    counts = Counter(kinds)
    weights = np.array([_WEIGHTS[kind] / counts[kind] for kind in kinds])
    shares: Floats = weights / weights.sum()
    return shares


def fit_logistic(features: Floats, targets: Floats, weights: Floats, ridge: float = 1e-3, steps: int = 50) -> Floats:
    """Fit a logistic regression by Newton's method; the first feature is the constant, which is not shrunk."""
    coefficients: Floats = np.zeros(features.shape[1])
    shrink = np.full(features.shape[1], ridge)
    shrink[0] = 1e-9
    weights = weights / weights.sum()
    for _ in range(steps):
        chances = logistic(features @ coefficients)
        slope = features.T @ (weights * (chances - targets)) + shrink * coefficients
        curvature = (features * (weights * chances * (1 - chances))[:, None]).T @ features + np.diag(shrink + 1e-9)
        step = np.linalg.solve(curvature, slope)
        coefficients -= step
        if np.abs(step).max() < 1e-8:
            break
    return coefficients


def _fit_drawing(half: Half, drawn: Floats) -> Floats:
    """Fit how cosines with a drawing's values become chances."""
    names = len(drawn)
    sets = [(0.6, half.sketches[half.sketches.labels < names]), (0.1, half.parts)]
    sets += [(0.15, half.sketches[half.sketches.labels >= names]), (0.15, half.scribbles)]
    kept = [(share, some) for share, some in sets if len(some)]
    values = np.concatenate([some.values for _, some in kept])
    labels = np.concatenate([some.labels for _, some in kept])
    weights = np.concatenate([np.full(len(some), share / len(some)) for share, some in kept])
    likeness, size = cosines(values, drawn), log_size(values)

    def slope(at: Floats) -> Floats:
        steepness, growth, other, other_growth = at
        chances = open_softmax((steepness + growth * size)[:, None] * likeness, other + other_growth * size)
        wrong = _minus_truth(chances, labels) * weights[:, None]
        steeper = (wrong[:, :-1] * likeness).sum(axis=1)
        return np.array([steeper.sum(), steeper @ size, wrong[:, -1].sum(), wrong[:, -1] @ size])

    return _descend(slope, np.array([15.0, 0.0, 10.0, 0.0]))


def _fit_photo(half: Half, shown: Floats) -> Floats:
    """Fit how cosines with the signs of a photo become chances.

    A model may have been taught all that there are photos of. So a quarter of the categories are taken for untaught:
    their photos are compared with the vectors of the others.
    """
    likeness = cosines(np.where(half.photos.values >= 0, 1.0, -1.0), shown)
    labels = half.photos.labels.copy()
    is_taken = (labels < len(shown)) & (labels % 4 == 0)
    likeness[np.flatnonzero(is_taken), labels[is_taken]] = -1.0
    labels[is_taken] = len(shown)
    is_other = labels >= len(shown)
    weights = np.where(is_other, 0.25 / max(1, is_other.sum()), 0.75 / max(1, (~is_other).sum()))

    def slope(at: Floats) -> Floats:
        chances = open_softmax(at[0] * likeness, np.full(len(labels), at[1]))
        wrong = _minus_truth(chances, labels) * weights[:, None]
        return np.array([(wrong[:, :-1] * likeness).sum(), wrong[:, -1].sum()])

    return _descend(slope, np.array([12.0, 8.0]))


def _minus_truth(chances: Floats, labels: NDArray[np.int64]) -> Floats:
    """Return the slope of the loss by the logits; a label that is no category stands for the other outcome."""
    last = chances.shape[1] - 1
    wrong = chances.copy()
    wrong[np.arange(len(labels)), np.where((labels < 0) | (labels >= last), last, labels)] -= 1
    return wrong


def _descend(slope: Callable[[Floats], Floats], start: Floats, steps: int = 250) -> Floats:
    """Follow a slope down from ``start`` (Adam); the few coefficients are of about equal size."""
    at, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, steps + 1):
        now = slope(at)
        mean, square = 0.9 * mean + 0.1 * now, 0.99 * square + 0.01 * now * now
        rate = 0.2 * (1 - step / (steps + 1))
        at -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-12)
    return at


def _means(pictures: Pictures, names: int) -> Floats:
    """Return the mean direction of each category, ``(names, bits)``; of one without pictures, zeros."""
    directions = unit(pictures.values)
    means = np.zeros((names, directions.shape[1]))
    for name in range(names):
        some = directions[pictures.labels == name]
        if len(some):
            means[name] = some.mean(axis=0)
    return unit(means)


def _rows(categories: Sequence[str], taught: Sequence[str]) -> list[int]:
    """Return for each category of the data its row among the taught ones, or one of its own beyond them."""
    known = {meaning(name): row for row, name in enumerate(taught)}
    return [known.get(meaning(category), len(taught) + row) for row, category in enumerate(categories)]


def _roles(
    whole: Dataset, split: Split | None, rows: Sequence[int], names: int, most: int, wanted: Sequence[str]
) -> dict[tuple[Medium, str], list[Item]]:
    """Divide items into those that make the vectors, that are fitted on and that are measured on."""
    if split is None:
        has_halves = wanted != ROLES[:1]
        in_vectors: Callable[[Item], bool] = lambda item: not has_halves or _number(item.id) % 3 == 0  # noqa: E731
        in_halves: Callable[[Item], bool] = lambda item: not in_vectors(item)  # noqa: E731
    else:
        parts = split.apply(whole)
        trained = {item.id for item in (*parts.training_sketches, *parts.training_photos)}
        kept_out = {*split.query_sketches, *(item.id for item in parts.gallery)}
        in_vectors, in_halves = (lambda item: item.id in trained), (lambda item: item.id in kept_out)

    def is_in(item: Item, role: str) -> bool:
        is_taught = rows[item.label] < names
        if role == "vectors":
            return is_taught and in_vectors(item)
        number = _number(item.id) if is_taught else _number(whole.categories[item.label])
        return (in_halves(item) or not is_taught) and HALVES[number // 3 % 2] == role

    media = {Medium.SKETCH: whole.sketches, Medium.PHOTO: whole.photos}
    return {
        (medium, role): _at_most((item for item in items if is_in(item, role)), most)
        for medium, items in media.items()
        for role in ("vectors", *HALVES)
    }


def _at_most(items: Iterable[Item], most: int) -> list[Item]:
    by_category: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        by_category[item.label].append(item)
    return [item for some in by_category.values() for item in sorted(some, key=lambda one: _number(one.id))[:most]]


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:6])
