"""Drawings to try, chosen so that this gallery has an answer to them."""

from __future__ import annotations

from collections.abc import Hashable

from sketchhash.datasets import example_drawings
from sketchhash.datasets.names import meaning
from sketchhash.gallery import Searcher
from sketchhash.imaging import Drawing
from sketchhash.server.schemas import ExampleAnswer

_MOST = 6
_FIRST_HITS = 5


class ExampleCache:
    """Up to six drawings that find what they show, chosen again only after the gallery has changed."""

    def __init__(self, searcher: Searcher) -> None:
        """Try the drawings with ``searcher``."""
        self._searcher = searcher
        self._last: tuple[Hashable, list[ExampleAnswer]] | None = None

    def get(self) -> list[ExampleAnswer]:
        """Return the examples for the gallery as it is now, the surest first."""
        revision = self._searcher.gallery.revision()
        if self._last is None or self._last[0] != revision:
            self._last = revision, self._choose()
        return self._last[1]

    def _choose(self) -> list[ExampleAnswer]:
        drawings = example_drawings()
        promises = {name: self._promise(name, drawing) for name, drawing in drawings.items()}
        kept = sorted((name for name in drawings if promises[name] > 0), key=promises.__getitem__, reverse=True)
        return [ExampleAnswer(name=name, strokes=drawings[name].to_json()) for name in kept[:_MOST]]

    def _promise(self, name: str, drawing: Drawing) -> float:
        """Return the chance that the first hits show the drawing, 0 if that is not sure; else tell it by labels."""
        answer = self._searcher.search(drawing, _FIRST_HITS)
        if answer.chance is not None:
            is_seen = bool(answer.guesses) and meaning(answer.guesses[0].category) == meaning(name)
            return answer.chance if is_seen and answer.verdict == "sure" else 0.0
        labels = [meaning(hit.label) for hit in answer if hit.label is not None]
        return labels.count(meaning(name)) / _FIRST_HITS
