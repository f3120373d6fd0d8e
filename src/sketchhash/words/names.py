"""What a category name means: the words to look up, and the noun sense in WordNet.

``categories.tsv`` is the one table of exceptions: each name of TU-Berlin, Sketchy and QuickDraw with the noun
sense it stands for (the first sense of *seal* is a fastener, of *crane* a writer), and other words to look up
where the name's own are rare (*tablelamp*) or mislead (*pipe (for smoking)*).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sketchhash.errors import UnknownWords

_TABLE = files("sketchhash.words") / "categories.tsv"


@dataclass(frozen=True)
class Noun:
    """One sense of a WordNet lemma, counted from 1 in the order of ``index.noun``."""

    lemma: str
    sense: int = 1


def listed_categories() -> tuple[str, ...]:
    """Return the names in the table, as their datasets spell them."""
    return tuple(meaning.category for meaning in _table().values())


def split_name(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case.

    >>> split_name("hot-air_balloon"), split_name("car (sedan)")
    (('hot', 'air', 'balloon'), ('car', 'sedan'))
    """
    return tuple(re.findall(r"[^\s_()\-]+", name.lower()))


def words_of(category: str) -> tuple[str, ...]:
    """Return the words whose vectors make up a category.

    >>> words_of("hot-air_balloon"), words_of("car (sedan)"), words_of("pipe (for smoking)")
    (('hot', 'air', 'balloon'), ('car', 'sedan'), ('pipe', 'smoking'))
    """
    listed = _table().get(split_name(category))
    return listed.words if listed else split_name(category)


def nouns_of(category: str) -> tuple[Noun, ...]:
    """Return the nouns that a category may stand for, best first; a name in the table has exactly one.

    A compound that is not in the table is tried whole, then as its last word, in the first sense. A qualifier
    in parentheses says that the first sense may be wrong, so such a name is not guessed at.

    >>> nouns_of("seal")
    (Noun(lemma='seal', sense=9),)
    >>> [noun.lemma for noun in nouns_of("snow leopard")]
    ['snow_leopard', 'snow-leopard', 'snowleopard', 'leopard']
    """
    words = split_name(category)
    listed = _table().get(words)
    if listed:
        return (listed.noun,)
    if not words or "(" in category:
        return ()
    return tuple(Noun(lemma) for lemma in dict.fromkeys([*(mark.join(words) for mark in ("_", "-", "")), words[-1]]))


def without_vectors(categories: Iterable[str], source: str) -> UnknownWords:
    """Return the error that lists every category without a vector in ``source`` and says what to do."""
    names = ", ".join(repr(category) for category in categories)
    return UnknownWords(
        f"The {source} has no vector for: {names}. "
        f"Use more common names, add rows for them to {_TABLE}, or choose another source of word vectors."
    )


@dataclass(frozen=True)
class _Meaning:
    category: str
    noun: Noun
    words: tuple[str, ...]


@cache
def _table() -> dict[tuple[str, ...], _Meaning]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), dialect="excel-tab", restval="")
    meanings = {}
    for row in rows:
        words = split_name(row["category"])
        lemma, _, sense = row["noun"].rpartition(".")
        meanings[words] = _Meaning(row["category"], Noun(lemma, int(sense)), tuple(row["words"].split()) or words)
    return meanings
