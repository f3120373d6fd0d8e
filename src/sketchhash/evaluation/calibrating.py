"""Fit the calibration of a model: what makes its chances mean what they say.

Categories get the mean directions of their drawings and of their photos as vectors. How steeply likeness becomes chance
is fitted by maximum likelihood, first for drawings and for photos alone, then for answers and hits by logistic
regressions on searches (`sketchhash.evaluation.trials`). Nothing but NumPy is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import unpack
from sketchhash.datasets import Dataset, Split
from sketchhash.errors import BadArgument
from sketchhash.evaluation.encodings import Encodings
from sketchhash.evaluation.trials import (
    Half,
    Kind,
    Material,
    Pictures,
    Search,
    gather_material,
    kind_weights,
    searches,
)
from sketchhash.model import Calibration, Model, QueryKind, write_calibration
from sketchhash.model.calibration import (
    FEATURES,
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

_FEWEST = 8
# Just below what is aimed at, 5 % and 10 %: the shares of wrong answers that may be called sure.
_SURE_OF = {Kind.SCRIBBLE: 0.045, Kind.ABSENT: 0.085, Kind.UNTAUGHT: 0.085}
# A drawing with less ink than this share of sketches may be one that was just begun.
_LITTLE_INK = 0.25


def calibrate_export(
    model: Model, datasets: Sequence[Dataset], split: Split, cache: Path, threads: int | None = None
) -> bool:
    """Calibrate a model that was just exported, by what its training kept out; return False if that is too little."""
    if not split.query_sketches:
        return False
    material = gather_material(Encodings(model, cache, threads), datasets, split, ("vectors", "fit"))
    try:
        write_calibration(model.folder, fit_calibration(material))
    except BadArgument:
        return False
    return True


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
    if min(len(half.sketches), len(half.photos), len(half.parts)) < _FEWEST:
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
    least = 0.5
    for kind, share in _SURE_OF.items():
        found = chances[kinds == kind]
        if len(found):
            least = max(least, float(np.quantile(found, 1 - share)))
    return least


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
