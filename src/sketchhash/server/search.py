"""Search by a drawing, a picture, a category or a photo of the gallery, and answer as the interface says."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import UnreadableImage
from sketchhash.gallery import Answer, Filter, Hit, Prepared, Searcher
from sketchhash.imaging import Drawing, Run, run
from sketchhash.server.limits import UPLOADS
from sketchhash.server.metrics import Stopwatch
from sketchhash.server.photos import common_root, display_name, folder_below, folder_path, unknown_photo_is_not_found
from sketchhash.server.schemas import (
    CategoryQuery,
    DrawingQuery,
    GuessAnswer,
    HitAnswer,
    PictureKind,
    PictureQuery,
    SearchAnswer,
    SearchOptions,
    TimingsAnswer,
)


@dataclass(frozen=True)
class SearchResult:
    """What a search found, the query's code ``(1, bits // 8)``, and how many photos were searched."""

    found: Answer
    root: bytes
    code: NDArray[np.uint8]
    photos: int
    kind: PictureKind | None = None

    def answer(self, watch: Stopwatch) -> SearchAnswer:
        """Return the response, with timings up to now."""
        return SearchAnswer(
            hits=[_hit_answer(hit, self.root) for hit in self.found],
            verdict=self.found.verdict,
            chance=_rounded(self.found.chance),
            guesses=[
                GuessAnswer(category=guess.category, chance=round(guess.chance, 4)) for guess in self.found.guesses
            ],
            code=self.code.tobytes().hex(),
            bits=8 * self.code.shape[1],
            photos=self.photos,
            undated=self.found.left_out.undated,
            unplaced=self.found.left_out.unplaced,
            kind=self.kind,
            timings_ms=TimingsAnswer(**watch.milliseconds()),
        )


class Finder:
    """Answers the queries of clients with a `Searcher`; safe to use from many threads."""

    def __init__(self, searcher: Searcher, run: Run = run) -> None:
        """Search with ``searcher``, and decode pictures where ``run`` does it."""
        self._searcher = searcher
        self._run = run

    def __len__(self) -> int:
        """Return the number of photos that can be found."""
        return len(self._searcher)

    def find_by_drawing(self, query: DrawingQuery, watch: Stopwatch) -> SearchResult:
        """Find photos that show what was drawn."""
        with watch.stage("ink"):
            ink = self._searcher.prepare_drawing(Drawing.from_json(query.strokes))
        return self._find_prepared(ink, query, watch)

    def find_by_picture(self, content: bytes, query: PictureQuery, watch: Stopwatch) -> SearchResult:
        """Find photos that look like an uploaded photo, or that show the sketch in an uploaded picture."""
        try:
            with watch.stage("ink"):
                if query.kind == "auto":
                    picture = self._searcher.prepare_recognised(content, UPLOADS, self._run)
                else:
                    picture = self._searcher.prepare_picture(content, query.kind, UPLOADS, self._run)
        except UnreadableImage as error:
            reason = str(error).replace("these bytes", "the picture")
            raise UnreadableImage(f"{reason} Send another picture, such as a JPEG or PNG.") from error
        return replace(self._find_prepared(picture, query, watch), kind=picture.kind)

    def find_by_category(self, query: CategoryQuery, watch: Stopwatch) -> SearchResult:
        """Find photos of a kind of thing that the model knows."""
        with watch.stage("search"):
            root, only = self._filter(query)
            hits = self._searcher.by_category(query.category, query.k, only=only)
            return self._found(hits, self._category_values(query.category), root)

    def meanings(self, word: str, most: int) -> list[str]:
        """Return at most so many names of drawings that a word means, and the word itself if it is a tag of some."""
        names = self._searcher.names
        return [*names.meant(word, most), *([word] if names.has_tag(word) else [])]

    def _category_values(self, category: str) -> NDArray[Any]:
        if category in self._searcher.model.manifest.categories and self._searcher.model.calibration is not None:
            return self._searcher.values_of_category(category)
        return np.ones(self._searcher.model.bits, dtype=np.int8)

    def find_similar(self, photo_id: int, query: SearchOptions, watch: Stopwatch) -> SearchResult:
        """Find other photos that look like one of the gallery."""
        with watch.stage("search"):
            root, only = self._filter(query)
            with unknown_photo_is_not_found(photo_id):
                values = self._searcher.values_of(photo_id)
                hits = self._searcher.similar(photo_id, query.k, only=only)
            return self._found(hits, values, root)

    def find_copies(self, photo_id: int) -> list[HitAnswer]:
        """Find the copies of a photo of the gallery, wherever they are in it."""
        root = common_root(self._searcher.gallery)
        with unknown_photo_is_not_found(photo_id):
            return [_hit_answer(hit, root) for hit in self._searcher.copies(photo_id)]

    def _find_prepared(self, prepared: Prepared, query: SearchOptions, watch: Stopwatch) -> SearchResult:
        with watch.stage("encode"):
            values = self._searcher.encode(prepared)
        with watch.stage("search"):
            root, only = self._filter(query)
            hits = self._searcher.by_values(values, query.k, only=only, asked=prepared)
            return self._found(hits, values, root)

    def _filter(self, query: SearchOptions) -> tuple[bytes, Filter]:
        """Return the folder that all photos share, and which photos the query asks for."""
        root = common_root(self._searcher.gallery)
        folder = folder_path(root, query.folder) if query.folder else None
        return root, Filter.parse(folder, query.label, query.after, query.before, query.near)

    def _found(self, hits: Answer, values: NDArray[Any], root: bytes) -> SearchResult:
        return SearchResult(hits, root, pack(values[np.newaxis]), len(self))


def _hit_answer(hit: Hit, root: bytes) -> HitAnswer:
    return HitAnswer(
        id=hit.id,
        distance=hit.distance,
        chance=_rounded(hit.chance),
        likely=hit.likely,
        label=hit.label,
        name=display_name(os.fsencode(hit.path.name)),
        folder=folder_below(root, hit.path),
        taken_at=hit.taken_at,
        copy_of=hit.copy_of,
        copies=hit.copies,
        kind=hit.kind,
    )


def _rounded(chance: float | None) -> float | None:
    return None if chance is None else round(chance, 4)
