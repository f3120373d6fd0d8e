"""Words that mean a category: other names of it, kinds of it, and words that are near it.

``near_words.tsv`` holds, for each word, the listed categories that it may mean, best first: those that it is another
name of or a kind of (by WordNet), then those that are near by half GloVe and half WordNet, as in `sketchhash.words`. So
a person may type *kitten* or *sparrow* where the model knows *cat* and *flying bird*, and needs neither of the two. It
is made anew by::

    python -m sketchhash.words.near_words
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.words.names import listed_categories, nouns_of, split_name, words_of

if TYPE_CHECKING:
    from sketchhash.words.word_files import WordTable
    from sketchhash.words.wordnet import Nouns

_TABLE = "near_words.tsv"

# Words beyond these many, by how frequent they are in GloVe's texts, are seldom typed.
_VOCABULARY = 60_000
_LEAST_LIKENESS = 0.5
_MOST = 4
_MOST_KINDS = 2500

# Words of every day whose first sense in WordNet is another one, or that it puts elsewhere.
_OURS = {
    "kitten": "cat",
    "kitty": "cat",
    "bunny": "rabbit",
    "doggy": "dog",
    "piglet": "pig",
    "calf": "cow",
    "lamb": "sheep",
    "foal": "horse",
    "chick": "rooster",
    "rose": "flower with stem",
    "tulip": "flower with stem",
    "gull": "seagull",
    "jet": "airplane",
    "mobile": "cell phone",
    "specs": "eyeglasses",
}


def find_categories(word: str, categories: Sequence[str]) -> list[str]:
    """Return the categories that a word means, the nearest first.

    First the category of that name and those that begin with it, then the first that it is another name or a kind of,
    those that have it in their name, and those that are near.

    >>> find_categories("puppy", ["cat", "dog", "teapot"])
    ['dog', 'cat']
    >>> find_categories("bear", ["bear (animal)", "teddy-bear"])[0]
    'bear (animal)'
    """
    asked = split_name(word)
    if not asked:
        return []
    names = {category: split_name(category) for category in categories}
    spelt = {name: category for category, name in names.items()}
    same = [category for category in categories if names[category] == asked]
    plural = [category for category in categories if names[category] == _singular(asked)]
    meant = [spelt[name] for name in (*_table().get(asked, ()), *_table().get(_singular(asked), ())) if name in spelt]
    begun = [category for category in categories if names[category][: len(asked)] == asked]
    inside = [category for category in categories if _begins(names[category], asked)]
    return list(dict.fromkeys([*same, *plural, *begun, *meant[:1], *inside, *meant]))


@dataclass(frozen=True)
class CategoryWords:
    """What a browser needs to do what `find_categories` does: names as words, and the categories that words mean."""

    names: dict[str, str]
    means: dict[str, list[str]]


def category_words(categories: Sequence[str]) -> CategoryWords:
    """Return the words of ``categories``, and of the table what means one of them."""
    names = {category: split_name(category) for category in categories}
    spelt = {name: category for category, name in names.items()}
    means = {
        " ".join(word): [spelt[name] for name in meant if name in spelt]
        for word, meant in _table().items()
        if any(name in spelt for name in meant)
    }
    return CategoryWords({category: " ".join(name) for category, name in names.items()}, means)


def _begins(name: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether some words of a name are those asked for; the last may be cut short, as when it is being typed."""
    starts = range(len(name) - len(asked) + 1)
    *whole, last = asked
    return any(
        tuple(name[start : start + len(whole)]) == tuple(whole) and name[start + len(whole)].startswith(last)
        for start in starts
    )


def _singular(words: tuple[str, ...]) -> tuple[str, ...]:
    *others, last = words
    if last.endswith("ies"):
        return (*others, f"{last[:-3]}y")
    return (*others, last[:-1] if last.endswith("s") else last)


@cache
def _table() -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    lines = (files("sketchhash.words") / _TABLE).read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {split_name(word): [split_name(category) for category in means] for word, *means in rows}


def make_table() -> str:
    """Make the content of the table anew; needs WordNet and GloVe, of the ``train`` extra."""
    from sketchhash.words.word_files import read_frequent_glove
    from sketchhash.words.wordnet import find_wordnet, read_nouns

    nouns, table = read_nouns(find_wordnet()), read_frequent_glove(_VOCABULARY)
    categories = listed_categories()
    synsets = {category: _synset(nouns, category) for category in categories}
    means: dict[str, list[str]] = defaultdict(list, {word: [category] for word, category in _OURS.items()})
    for word, category in _names_and_kinds(nouns, synsets):
        if all(part in table for part in word.split()):
            means[word].append(category)
    for word, category in _nearest(nouns, table, synsets):
        means[word].append(category)
    rows = ("\t".join([word, *dict.fromkeys(found)][: _MOST + 1]) for word, found in sorted(means.items()))
    return "\n".join([*_NOTICE, *rows]) + "\n"


_NOTICE = (
    "# A word, and the categories that it may mean, best first. Made by: python -m sketchhash.words.near_words",
    "# Other names and kinds come from WordNet 3.0, copyright 2006 by Princeton University, all rights reserved; its",
    "# licence (https://wordnet.princeton.edu/license-and-commercial-use) permits their use for any purpose.",
    "# Near words also come from GloVe 6B (Pennington, Socher and Manning 2014; public domain, PDDL 1.0).",
)


def _synset(nouns: Nouns, name: str) -> int | None:
    found = ((nouns.senses.get(noun.lemma, ()), noun.sense) for noun in nouns_of(name))
    return next((senses[sense - 1] for senses, sense in found if sense <= len(senses)), None)


def _names_and_kinds(nouns: Nouns, synsets: Mapping[str, int | None]) -> Iterator[tuple[str, str]]:
    """Yield other names of categories, then kinds of them: of several above a word, the nearest."""
    of_synset: dict[int, list[str]] = defaultdict(list)
    for category, synset in synsets.items():
        if synset is not None:
            of_synset[synset].append(category)
    kinds: list[tuple[str, str]] = []
    for lemma, (first, *others) in nouns.senses.items():
        word = " ".join(split_name(lemma))
        yield from ((word, category) for synset in (first, *others[:1]) for category in of_synset.get(synset, ()))
        above = [first]
        while above := [parent for synset in above for parent in nouns.hypernyms[synset]]:
            found = [category for synset in above for category in of_synset.get(synset, ())]
            if found:
                kinds += [(word, category) for category in found]
                break
    # A word for a person is a kind of "person", which says little.
    sizes = Counter(category for _, category in kinds)
    yield from ((word, category) for word, category in kinds if sizes[category] <= _MOST_KINDS)


def _nearest(nouns: Nouns, table: WordTable, synsets: Mapping[str, int | None]) -> Iterator[tuple[str, str]]:
    """Yield the categories nearest to each frequent noun, half by GloVe and half by what both are kinds of."""
    from sketchhash.words.wordnet import information_content, lineage

    content = information_content(nouns.hypernyms)
    known = [name for name, synset in synsets.items() if synset and all(part in table for part in words_of(name))]
    used = _unit(np.array([np.mean([table[part] for part in words_of(name)], axis=0) for name in known]))
    lineages = [lineage(synsets[name] or 0, nouns.hypernyms) for name in known]
    columns = {synset: column for column, synset in enumerate(sorted(set().union(*lineages)))}

    def gains(synsets_of_word: set[int]) -> NDArray[np.float64]:
        row = np.zeros(len(columns) + 1)
        for synset in synsets_of_word:
            above = max((content[parent] for parent in nouns.hypernyms[synset]), default=0.0)
            row[columns.get(synset, -1)] += content[synset] - above  # what no category is: in the last column
        return row

    kinds = np.array([gains(one) for one in lineages])
    for word, vector in table.items():
        if word in nouns.senses and len(word) > 2 and word.isalpha():
            own = gains(lineage(nouns.senses[word][0], nouns.hypernyms))
            shared = np.minimum(kinds, own)[:, :-1].sum(axis=1)
            alike = shared / np.sqrt(np.maximum(kinds.sum(axis=1) * own.sum(), 1e-12))
            likeness = 0.5 * used @ _unit(vector[None])[0] + 0.5 * alike
            best = np.argsort(-likeness, kind="stable")[:_MOST].tolist()
            yield from ((word, known[row]) for row in best if likeness[row] >= _LEAST_LIKENESS)


def _unit(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    rows = vectors.astype(np.float64)
    unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


if __name__ == "__main__":
    from pathlib import Path

    Path(__file__).with_name(_TABLE).write_text(make_table(), encoding="utf-8")
