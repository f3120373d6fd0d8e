"""How sure a search is, and what it sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["sure", "unsure", "unknown"]
"""*sure*: the first hits show what was asked for. *unsure*: that cannot be told, so far. *unknown*: it does not look like
a kind of thing that the model knows, or nothing of it is in the gallery."""

MOST_GUESSES = 5


@dataclass(frozen=True)
class Guess:
    """A category that a drawing may show, and the calibrated chance that it does."""

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
