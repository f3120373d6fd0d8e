"""Sources of word vectors, and `embed`, which turns category names into vectors with one of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, UnknownName, UnknownWords
from sketchhash.words.names import without_vectors, words_of
from sketchhash.words.word_files import (
    WordTable,
    read_glove_text,
    read_packaged_glove,
    read_word2vec_binary,
    read_word2vec_text,
)
from sketchhash.words.wordnet import HypernymVectors, find_wordnet, read_nouns


class Vectors(Protocol):
    """A way to embed categories: vectors are close where categories are alike."""

    def embed(self, categories: Sequence[str]) -> NDArray[np.float32]:
        """Return ``(categories, dimensions)``, or raise one `UnknownWords` with every category it lacks."""
        ...


def embed(categories: Sequence[str], source: str = "default", path: Path | None = None) -> NDArray[np.float32]:
    """Return one unit-length row for each category: ``(categories, dimensions)``.

    The dimensions depend on the source, and for WordNet on the categories: rows are comparable with rows of
    the same call, so embed seen and unseen categories together. WordNet's root, *entity*, is all zeros.

    Args:
        categories: Names as datasets spell them; the words of a compound are averaged.
        source: A key of `SOURCES`.
        path: The file of a source named after a file format, or the folder of WordNet.
    """
    if source not in SOURCES:
        raise UnknownName("source of word vectors", source, SOURCES)
    if not categories:
        raise BadArgument("There are no categories to give word vectors.")
    return _unit_rows(SOURCES[source](path).embed(categories))


def centred(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Subtract the mean of the rows, which tells no category from another, and scale them to unit length again."""
    return _unit_rows(vectors - vectors.mean(axis=0))


@dataclass(frozen=True)
class MeanOfWords:
    """Categories as the mean of their words' vectors."""

    name: str
    read: Callable[[Collection[str]], WordTable]

    def embed(self, categories: Sequence[str]) -> NDArray[np.float32]:
        """Look up the words of all categories in one pass over the table."""
        words = [words_of(category) for category in categories]
        table = self.read({word for names in words for word in names})
        unknown = [
            category
            for category, names in zip(categories, words, strict=True)
            if not names or not table.keys() >= set(names)
        ]
        if unknown:
            raise without_vectors(unknown, self.name)
        return np.stack([np.mean([table[word] for word in names], axis=0) for names in words])


@dataclass(frozen=True)
class Blend:
    """Several kinds of vectors side by side: its cosine is the weighted mean of their cosines."""

    parts: Sequence[tuple[float, Vectors]]

    def embed(self, categories: Sequence[str]) -> NDArray[np.float32]:
        """Embed with every part, so that one error lists what any of them lacks."""
        blocks, lacks = [], []
        for weight, vectors in self.parts:
            try:
                blocks.append(sqrt(weight) * _unit_rows(vectors.embed(categories)))
            except UnknownWords as unknown:
                lacks.append(str(unknown))
        if lacks:
            raise UnknownWords("\n".join(lacks))
        return np.hstack(blocks).astype(np.float32)


def _glove(path: Path | None) -> Vectors:
    if path is not None:
        raise BadArgument("The source 'glove' is an installed package and takes no path. For a file: 'glove-text'.")
    return MeanOfWords("GloVe vocabulary", read_packaged_glove)


def _wordnet(path: Path | None) -> Vectors:
    return HypernymVectors(read_nouns(find_wordnet(path)))


def _glove_and_wordnet(path: Path | None) -> Vectors:
    return Blend([(0.5, _glove(None)), (0.5, _wordnet(path))])


def _file(read: Callable[[Path, Collection[str]], WordTable], path: Path | None) -> Vectors:
    if path is None:
        raise BadArgument("This source of word vectors is a file: give its path.")
    return MeanOfWords(f"file {path}", partial(read, path))


SOURCES: Mapping[str, Callable[[Path | None], Vectors]] = {
    # Words used alike are not always of a kind: in GloVe alone a cheetah is nearer a dolphin than a tiger.
    "default": _glove_and_wordnet,
    "glove": _glove,
    "glove-text": partial(_file, read_glove_text),
    "word2vec-binary": partial(_file, read_word2vec_binary),
    "word2vec-text": partial(_file, read_word2vec_text),
    "wordnet": _wordnet,
}


def _unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit
