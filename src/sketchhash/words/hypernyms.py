"""Vectors that say what kind of thing a category is: alike as far as their WordNet ancestry is shared.

The *information content* of a synset measures how specific it is, from the shape of the taxonomy alone (Seco,
Veale and Hayes, "An Intrinsic Information Content Metric for Semantic Similarity in WordNet", ECAI 2004):

    ic(s) = 1 − log(1 + number of synsets below s) / log(number of synsets)

which is 0 at the root and 1 at a leaf. A category has one coordinate for each synset of its lineage (itself
and all its ancestors): the square root of the information gained over the most specific parent. Where synsets
have one parent each, the gains along a lineage add up, so the inner product of two categories is the
information content of their nearest common ancestor (Resnik's similarity), however many steps away it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DatasetProblem
from sketchhash.words.names import nouns_of, without_vectors
from sketchhash.words.wordnet import Nouns

Hypernyms = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True)
class HypernymVectors:
    """Categories as their lineages in a noun taxonomy."""

    nouns: Nouns

    def embed(self, categories: Sequence[str]) -> NDArray[np.float32]:
        """Give one row for each category and one column for each synset in any of their lineages."""
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
    """Give a synset and all its ancestors, by every path."""
    seen, ahead = {synset}, [synset]
    while ahead:
        parents = [parent for parent in hypernyms[ahead.pop()] if parent not in seen]
        seen.update(parents)
        ahead.extend(parents)
    return seen


def information_content(hypernyms: Hypernyms) -> dict[int, float]:
    """Tell how specific each synset is, from 0 for one that everything belongs to, to 1 for a leaf."""
    if len(hypernyms) < 2:
        raise DatasetProblem(f"A taxonomy of {len(hypernyms)} synsets tells nothing apart.")
    kinds = Counter(ancestor for synset in hypernyms for ancestor in lineage(synset, hypernyms))
    return {synset: 1 - log(kinds[synset]) / log(len(hypernyms)) for synset in hypernyms}
