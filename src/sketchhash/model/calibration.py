"""How sure a search is, and what it sees: chances that mean what they say.

A model folder may carry a calibration (``calibration.npz``). It holds two unit vectors for each category, the mean of
its drawings' values and the mean of its photos' values, and some coefficients that were fitted on sketches, photos and
scribbles; `sketchhash.evaluation.calibrating` fits them. A search is judged in three steps:

1. *What was drawn?* The cosines of the drawing's values with the categories' vectors become chances by a softmax that
   has one more outcome: nothing that the model knows. How far values lie from zero tells how much the network has
   recognised, so their size takes part.
2. *What do the hits show?* The same is done for the code of each hit. The chance that a drawing and a photo show the
   same is the sum, over the categories, of the products of their chances: the *agreement* of the hit.
3. *Do the first hits show what was drawn?* A logistic regression on the agreement of the first hits and the certainty
   of the guesses tells. Another one gives the chance of each hit, which is then made to fall along the list (by pooling
   neighbours that do not), so that it never contradicts the order of the hits.

Photos and categories that are searched for are judged in the same way, with coefficients of their own.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import unpack
from sketchhash.errors import IncompatibleModel, UnknownName

Verdict = Literal["sure", "unsure", "unknown"]
"""Whether to trust the first hits.

*sure*: they show what was asked for. *unsure*: that cannot be told, so far. *unknown*: the query does not look like a
kind of thing that the model knows, or nothing of it is in the gallery.
"""

Floats = NDArray[np.float64]

FIRST_HITS = 5
"""The hits that the chance of an answer is about."""

JUDGED_HITS = 40
"""As many hits, if there are, should be judged: then fewer that are shown get the same chances."""

MOST_GUESSES = 5
LIKELY = 0.5
"""Good matches show what was asked for with at least this chance; where none does, they are the best of the first."""

FEATURES = 7

_FORMAT = 1
_LEAST_GUESS = 0.01
_LEAST_ODDS = 1e-4


class QueryKind(StrEnum):
    """What is asked with."""

    SKETCH = "sketch"
    PHOTO = "photo"
    CATEGORY = "category"


@dataclass(frozen=True)
class Guess:
    """A category that a query may show, and the calibrated chance that it does."""

    category: str
    chance: float


@dataclass(frozen=True)
class Judgement:
    """What can be said of the hits of a query.

    Attributes:
        verdict: Whether to trust the first hits.
        chance: The calibrated chance that the first hits show what was asked for; None without calibration.
        guesses: At most five categories that the query may show, the most likely first.
        hit_chances: For each hit the chance that it shows what was asked for, never rising; empty without calibration.
        likely: How many of the first hits are good matches.
    """

    verdict: Verdict = "unsure"
    chance: float | None = None
    guesses: tuple[Guess, ...] = ()
    hit_chances: tuple[float, ...] = ()
    likely: int = 0


@dataclass(frozen=True, eq=False)
class Head:
    """The coefficients for one kind of query.

    Attributes:
        answer: Of the regression of an answer, on `answer_features`.
        hit: Of the regression of a hit: constant, its agreement and the chance of the answer, as log odds.
        sure: The least chance of an answer that is called sure.
    """

    answer: Floats
    hit: Floats
    sure: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """The vectors of a model's categories, and what turns likeness into chances.

    Attributes:
        categories: Their names, in the order of the vectors.
        drawn: Unit vectors ``(categories, bits)``: the mean of each category's drawings.
        shown: The same for photos.
        drawing: How cosines with a drawing become chances: steepness, its growth with the log of the values' size,
            then the constant and the growth of the outcome that it is nothing known.
        photo: The same for the signs of a photo's code, whose size is always 1: steepness, and the other outcome.
        heads: The coefficients by kind of query.
        least_ink: The share of the picture below which too little was drawn to call it unknown.
    """

    categories: tuple[str, ...]
    drawn: Floats
    shown: Floats
    drawing: Floats
    photo: Floats
    heads: Mapping[QueryKind, Head]
    least_ink: float

    def judge(
        self, values: NDArray[Any], codes: NDArray[np.uint8], kind: QueryKind, ink: float | None = None
    ) -> Judgement:
        """Judge the hits of a sketch or a photo.

        Args:
            values: The output of the network for the query, ``(bits,)``; of a photo the signs are enough.
            codes: The packed codes of the hits, in their order, ``(hits, bits // 8)``.
            kind: Which network the values come from.
            ink: The share of the picture that is ink, if the query is a sketch.
        """
        guessed = self.drawing_chances(values[None]) if kind is QueryKind.SKETCH else self.photo_chances(values[None])
        is_begun = ink is not None and ink < self.least_ink
        return self._judge(guessed[0], log_size(values[None])[0], codes, kind, is_begun)

    def judge_category(self, category: str, codes: NDArray[np.uint8]) -> Judgement:
        """Judge the hits of a search for a category; see `judge`."""
        guessed = np.zeros(len(self.categories) + 1)
        guessed[self._row(category)] = 1
        return self._judge(guessed, 0.0, codes, QueryKind.CATEGORY)

    def category_values(self, category: str) -> NDArray[np.float32]:
        """Return what a photo of the category typically gives, ``(bits,)``, or raise `UnknownName`."""
        values: NDArray[np.float32] = self.shown[self._row(category)].astype(np.float32)
        return values

    def drawing_chances(self, values: NDArray[Any]) -> Floats:
        """Return the chance of each category, and last of none of them: ``(drawings, categories + 1)``."""
        steepness, growth, other, other_growth = self.drawing
        size = log_size(values)
        likeness = (steepness + growth * size)[:, None] * cosines(values, self.drawn)
        return open_softmax(likeness, other + other_growth * size)

    def photo_chances(self, values: NDArray[Any]) -> Floats:
        """Return the chance of each category, and last of none, by the signs of photos' values ``(photos, bits)``."""
        steepness, other = self.photo
        signs = np.where(np.asarray(values) >= 0, 1.0, -1.0)
        return open_softmax(steepness * cosines(signs, self.shown), np.full(len(signs), other))

    def to_bytes(self) -> bytes:
        """Return the content of ``calibration.npz``."""
        arrays: dict[str, NDArray[Any]] = {
            "format": np.array(_FORMAT),
            "categories": np.array(self.categories),
            "drawn": self.drawn.astype(np.float16),
            "shown": self.shown.astype(np.float16),
            "drawing": self.drawing,
            "photo": self.photo,
            "least_ink": np.array(self.least_ink),
        }
        for kind, head in self.heads.items():
            arrays |= {f"{kind}_answer": head.answer, f"{kind}_hit": head.hit, f"{kind}_sure": np.array(head.sure)}
        file = io.BytesIO()
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # none of them is an option's name
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, bits: int, origin: str) -> Self:
        """Read what `to_bytes` wrote for codes of so many ``bits``; ``origin`` is the file that errors name."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                if int(arrays["format"]) != _FORMAT:
                    raise ValueError(f"it has format {int(arrays['format'])}, not {_FORMAT}")
                if not arrays["drawn"].shape == arrays["shown"].shape == (len(arrays["categories"]), bits):
                    raise ValueError(f"its vectors are not {len(arrays['categories'])} of {bits} values")
                return cls(
                    categories=tuple(arrays["categories"].tolist()),
                    drawn=unit(arrays["drawn"]),
                    shown=unit(arrays["shown"]),
                    drawing=arrays["drawing"],
                    photo=arrays["photo"],
                    heads={
                        kind: Head(arrays[f"{kind}_answer"], arrays[f"{kind}_hit"], float(arrays[f"{kind}_sure"]))
                        for kind in QueryKind
                    },
                    least_ink=float(arrays["least_ink"]),
                )
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as problem:
            raise IncompatibleModel(
                f"{origin} cannot be used: {problem}. Make it anew with: sketchhash model calibrate MODEL --data DIR"
            ) from problem

    def _judge(
        self, guessed: Floats, size: float, codes: NDArray[np.uint8], kind: QueryKind, is_begun: bool = False
    ) -> Judgement:
        guesses = self._guesses(guessed)
        if not len(codes):
            return Judgement("unsure" if is_begun else "unknown", 0.0, guesses)
        agreement = self.photo_chances(unpack(codes)) @ np.append(guessed[:-1], 0.0)
        head = self.heads[kind]
        chance = float(logistic(answer_features(guessed, agreement, size) @ head.answer))
        hits = logistic(hit_features(agreement, chance) @ head.hit)
        hits[:JUDGED_HITS] = falling(hits[:JUDGED_HITS])
        hits = np.minimum.accumulate(hits)  # later hits never change the chances of earlier ones
        if chance >= head.sure:
            likely = int((hits >= LIKELY).sum()) or min(int((hits == hits[0]).sum()), FIRST_HITS)
            return Judgement("sure", chance, guesses, tuple(hits.tolist()), likely)
        # Either it is like nothing that the model knows, or the model knows what it is and these photos do not show it.
        is_elsewhere = guessed[:-1].max() >= LIKELY and chance < head.sure / 2
        is_unknown = not is_begun and (guessed[-1] >= LIKELY or is_elsewhere)
        return Judgement("unknown" if is_unknown else "unsure", chance, guesses, tuple(hits.tolist()))

    def _guesses(self, guessed: Floats) -> tuple[Guess, ...]:
        best = np.argsort(-guessed[:-1], kind="stable")[:MOST_GUESSES].tolist()
        return tuple(Guess(self.categories[row], float(guessed[row])) for row in best if guessed[row] >= _LEAST_GUESS)

    def _row(self, category: str) -> int:
        if category not in self._rows:
            raise UnknownName("category", category, self.categories)
        return self._rows[category]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {category: row for row, category in enumerate(self.categories)}


def answer_features(guessed: Floats, agreement: Floats, size: float) -> Floats:
    """Return what the chance of an answer depends on, ``(FEATURES,)``.

    Args:
        guessed: The chance of each category and of none of them.
        agreement: Of each hit, in their order.
        size: Of the query's values; see `log_size`.
    """
    first = [float(agreement[:count].mean()) for count in (FIRST_HITS, 2, 1)]
    return np.array([1.0, *log_odds([*first, float(guessed[:-1].max()), float(guessed[-1])]), size])


def hit_features(agreement: Floats, chance: float) -> Floats:
    """Return what the chance of each hit depends on, ``(hits, 3)``."""
    odds = log_odds(agreement)
    return np.stack([np.ones_like(odds), odds, np.full_like(odds, log_odds([chance])[0])], axis=1)


def falling(chances: Floats) -> Floats:
    """Return the nearest chances that never rise: where they would, neighbours share their mean.

    >>> falling(np.array([0.9, 0.5, 0.7, 0.1])).tolist()
    [0.9, 0.6, 0.6, 0.1]
    """
    pools: list[tuple[float, int]] = []
    for chance in chances.tolist():
        total, count = chance, 1
        while pools and pools[-1][0] * count < total * pools[-1][1]:
            more, others = pools.pop()
            total, count = total + more, count + others
        pools.append((total, count))
    return np.repeat([total / count for total, count in pools], [count for _, count in pools])


def cosines(values: NDArray[Any], vectors: Floats) -> Floats:
    """Return the cosines of rows with unit vectors, ``(rows, vectors)``."""
    likeness: Floats = unit(values) @ vectors.T
    return likeness


def log_size(values: NDArray[Any]) -> Floats:
    """Return the logarithm of the root mean square of each row."""
    rows = np.asarray(values, dtype=np.float64)
    size: Floats = np.log(np.maximum(np.sqrt(np.mean(rows * rows, axis=1)), 1e-6))
    return size


def open_softmax(logits: Floats, other: Floats) -> Floats:
    """Return chances over the columns of ``logits`` and, in a last column, of the ``other`` outcome."""
    whole = np.concatenate([logits, other[:, None]], axis=1)
    powers = np.exp(whole - whole.max(axis=1, keepdims=True))
    chances: Floats = powers / powers.sum(axis=1, keepdims=True)
    return chances


def unit(vectors: NDArray[Any]) -> Floats:
    """Scale rows to length 1; rows of zeros stay."""
    rows = np.asarray(vectors, dtype=np.float64)
    scaled: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return scaled


def logistic(odds: Floats) -> Floats:
    """Return the chances of log odds."""
    chances: Floats = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
    return chances


def log_odds(chances: Floats | Sequence[float]) -> Floats:
    """Return the log odds of chances, none of them beyond 1 in 10,000."""
    kept = np.clip(chances, _LEAST_ODDS, 1 - _LEAST_ODDS)
    odds: Floats = np.log(kept / (1 - kept))
    return odds
