"""All compared methods, in the order of the paper's tables."""

from __future__ import annotations

from sketchhash.baselines.crossview.cards import CARDS as CROSSVIEW
from sketchhash.baselines.deep.cards import CARDS as DEEP
from sketchhash.baselines.handcrafted.cards import CARDS as HANDCRAFTED
from sketchhash.baselines.hashing.cards import CARDS as HASHING
from sketchhash.baselines.method import Card
from sketchhash.errors import UnknownName

CATALOGUE: tuple[Card, ...] = (*HANDCRAFTED, *DEEP, *HASHING, *CROSSVIEW)


def card_of(name: str) -> Card:
    """Look a method up by its name.

    Raises:
        UnknownName: If no method has it; the text suggests the nearest.
    """
    for card in CATALOGUE:
        if card.name == name:
            return card
    raise UnknownName("method", name, (card.name for card in CATALOGUE))
