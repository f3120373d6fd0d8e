"""Find drawings by their names and tags: an icon is called what it shows, so words find it as well as lines do."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np

from sketchhash.gallery.filters import Filter
from sketchhash.gallery.protocol import Hit, OpenGallery, TaggedDrawing

_BETWEEN = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class _Words:
    """How many photos and drawings have each label, and the drawings that have tags, of one state of a gallery."""

    labels: Mapping[str, int] = field(default_factory=dict)
    tagged: tuple[TaggedDrawing, ...] = ()


class DrawingNames:
    """The labels and tags of a gallery that has drawings, followed as it changes; safe to use from many threads."""

    def __init__(self, gallery: OpenGallery) -> None:
        """Read labels when they are asked for."""
        self._gallery = gallery
        self._turn = Lock()
        self._read: tuple[Hashable, _Words] | None = None

    def meant(self, text: str, most: int) -> list[str]:
        """Return at most so many labels that have all words of a text, or words that begin so.

        Those with the fewest other words come first.
        """
        wanted = _words(text)
        ranked = []
        for label in self._words().labels if wanted else ():
            fit = _fit(wanted, label)
            if fit is not None:
                ranked.append((*fit, label))
        return [label for _, _, label in sorted(ranked)[:most]]

    def has_tag(self, text: str) -> bool:
        """Tell whether a drawing has all words of a text among its tags, or words that begin so."""
        return bool(self._tagged(text))

    def find(self, text: str, k: int, only: Filter) -> list[Hit]:
        """Return at most ``k`` drawings: by their names, the nearest first, and then those by their tags.

        ``distance`` means nothing, and is 0.
        """
        if only.label is not None:
            return []
        hits: dict[int, Hit] = {}
        for label in self.meant(text, k):
            hits |= {hit.id: hit for hit in self._labelled(label, k, only)}
            if len(hits) >= k:
                return list(hits.values())[:k]
        for drawing in self._tagged(text):
            if drawing.id not in hits:
                same = self._labelled(drawing.label, self._words().labels.get(drawing.label, 1), only)
                hits |= {hit.id: hit for hit in same if hit.id == drawing.id}
            if len(hits) >= k:
                break
        return list(hits.values())

    def _labelled(self, label: str, k: int, only: Filter) -> Iterator[Hit]:
        anything = np.ones(self._gallery.model.bits, dtype=np.int8)
        hits = self._gallery.search(anything, k, replace(only, label=label), rerank=False)
        return (replace(hit, distance=0) for hit in hits if hit.kind == "drawing")

    def _tagged(self, text: str) -> list[TaggedDrawing]:
        """Return the drawings whose tags have all words of a text; those with whole words, and few others, first."""
        wanted = _words(text)
        fits = [(_fit(wanted, each.tags), each.id, each) for each in self._words().tagged if wanted]
        return [each for _, _, each in sorted(fit for fit in fits if fit[0] is not None)]

    def _words(self) -> _Words:
        with self._turn:
            revision = self._gallery.revision()
            if self._read is None or self._read[0] != revision:
                info = self._gallery.info()
                tagged = tuple(self._gallery.tagged_drawings()) if info.drawings else ()
                self._read = revision, _Words(info.labels, tagged) if info.drawings else _Words()
            return self._read[1]


def _fit(wanted: list[str], text: str) -> tuple[int, int] | None:
    """Return how many of the wanted words only begin words of a text, and how many it has; None if one is not there."""
    words = _words(text)
    if not all(any(word.startswith(each) for word in words) for each in wanted):
        return None
    return sum(each not in words for each in wanted), len(words)


def _words(text: str) -> list[str]:
    """Split a text into words, in small letters.

    >>> _words("Arrow-left_2")
    ['arrow', 'left', '2']
    """
    return [word for word in _BETWEEN.split(text.casefold()) if word]
