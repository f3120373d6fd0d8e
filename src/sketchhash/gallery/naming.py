"""Find drawings by their names: an icon is called what it shows, so words find it as well as lines do."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace
from threading import Lock

import numpy as np

from sketchhash.gallery.filters import Filter
from sketchhash.gallery.protocol import Hit, OpenGallery

_BETWEEN = re.compile(r"[\W_]+")


class DrawingNames:
    """The labels of a gallery that has drawings, followed as it changes; safe to use from many threads."""

    def __init__(self, gallery: OpenGallery) -> None:
        """Read labels when they are asked for."""
        self._gallery = gallery
        self._turn = Lock()
        self._read: tuple[Hashable, tuple[str, ...]] | None = None

    def meant(self, text: str, most: int) -> list[str]:
        """Return at most so many labels that have all words of a text, or words that begin so.

        Those with the fewest other words come first.
        """
        wanted = _words(text)
        ranked = []
        for label in self._labels() if wanted else ():
            words = _words(label)
            if all(any(word.startswith(each) for word in words) for each in wanted):
                missing = sum(each not in words for each in wanted)
                ranked.append((missing, len(words), label))
        return [label for _, _, label in sorted(ranked)[:most]]

    def find(self, text: str, k: int, only: Filter) -> list[Hit]:
        """Return at most ``k`` drawings by their names, the nearest first; ``distance`` means nothing, and is 0."""
        hits: dict[int, Hit] = {}
        anything = np.ones(self._gallery.model.bits, dtype=np.int8)
        for label in self.meant(text, k) if only.label is None else ():
            for hit in self._gallery.search(anything, k, replace(only, label=label), rerank=False):
                if hit.kind == "drawing":
                    hits[hit.id] = replace(hit, distance=0)
            if len(hits) >= k:
                break
        return list(hits.values())[:k]

    def _labels(self) -> tuple[str, ...]:
        with self._turn:
            revision = self._gallery.revision()
            if self._read is None or self._read[0] != revision:
                info = self._gallery.info()
                self._read = revision, tuple(info.labels) if info.drawings else ()
            return self._read[1]


def _words(text: str) -> list[str]:
    """Split a text into words, in small letters.

    >>> _words("Arrow-left_2")
    ['arrow', 'left', '2']
    """
    return [word for word in _BETWEEN.split(text.casefold()) if word]
