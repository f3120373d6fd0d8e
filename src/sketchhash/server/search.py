"""Search by a drawing, a picture or a photo of the gallery; and tell whether a hit is closer than chance.

A distance of 12 bits means little by itself: much in a code of 16 bits, little in one of 128; and the nearest of a
million photos is nearer than the nearest of a hundred, even to a scribble. So each query is compared with a sample
of the gallery. Distances to photos that have nothing to do with the query are about normally distributed, and from
their median and deviation follows how many of them would be as near as a hit by chance alone:

    expected(d) = photos · Φ((d + ½ − median) / deviation)

The similarity of a hit is exp(−expected): the probability that no unrelated photo of this gallery comes as near. It
falls as the distance grows, and means the same for all code lengths and gallery sizes.

Where a gallery shows only one kind of thing, nothing stands out in it, and nothing is called close.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack
from sketchhash.errors import UnreadableImage
from sketchhash.gallery import Answer, Hit, OpenGallery, Prepared, Sample, Searcher
from sketchhash.imaging import Drawing, Run, run
from sketchhash.server.limits import UPLOADS
from sketchhash.server.metrics import Stopwatch
from sketchhash.server.photos import common_root, display_name, folder_below, folder_path, unknown_photo_is_not_found
from sketchhash.server.schemas import (
    CategoryQuery,
    Confidence,
    DrawingQuery,
    GuessAnswer,
    HitAnswer,
    PictureQuery,
    SearchAnswer,
    SearchOptions,
    TimingsAnswer,
)

_SAMPLE_SIZE = 4096
_TOLERATED_CHANGE = 0.1

# The nearest of unrelated photos passes for "close" in one query of a thousand, for "some" in one of ten.
_CLOSE, _SOME = 0.001, 0.1

# Fewer distances say little about their deviation; then bits are assumed to be fair and independent.
_SMALLEST_SAMPLE = 50
_LEAST_DEVIATION = 0.5


@dataclass(frozen=True)
class SearchResult:
    """The hits of a search, the query's code ``(1, bits // 8)``, and what chance alone would have given."""

    found: Answer
    hits: list[HitAnswer]
    code: NDArray[np.uint8]
    chance: Chance

    def answer(self, watch: Stopwatch) -> SearchAnswer:
        """Return the response, with timings up to now."""
        return SearchAnswer(
            hits=self.hits,
            verdict=self.found.verdict,
            chance=self.found.chance,
            guesses=[GuessAnswer(category=guess.category, chance=guess.chance) for guess in self.found.guesses],
            code=self.code.tobytes().hex(),
            bits=8 * self.code.shape[1],
            photos=self.chance.photos,
            confidence=self.chance.confidence(min((hit.distance for hit in self.hits), default=None)),
            timings_ms=TimingsAnswer(**watch.milliseconds()),
        )


class Finder:
    """Answers the queries of clients with a `Searcher`; safe to use from many threads."""

    def __init__(self, searcher: Searcher, run: Run = run) -> None:
        """Search with ``searcher``, and decode pictures where ``run`` does it."""
        self._searcher = searcher
        self._run = run
        self._sample = SampleCache(searcher.gallery, _SAMPLE_SIZE)

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
                picture = self._searcher.prepare_picture(content, query.kind, UPLOADS, self._run)
        except UnreadableImage as error:
            reason = str(error).replace("these bytes", "the picture")
            raise UnreadableImage(f"{reason} Send another picture, such as a JPEG or PNG.") from error
        return self._find_prepared(picture, query, watch)

    def find_by_category(self, query: CategoryQuery, watch: Stopwatch) -> SearchResult:
        """Find photos of a kind of thing that the model knows."""
        with watch.stage("search"):
            root, folder = self._folder(query)
            hits = self._searcher.by_category(query.category, query.k, folder=folder, label=query.label)
            return self._found(hits, self._searcher.values_of_category(query.category), root)

    def find_similar(self, photo_id: int, query: SearchOptions, watch: Stopwatch) -> SearchResult:
        """Find other photos that look like one of the gallery."""
        with watch.stage("search"):
            root, folder = self._folder(query)
            with unknown_photo_is_not_found(photo_id):
                values = self._searcher.values_of(photo_id)
                hits = self._searcher.similar(photo_id, query.k, folder=folder, label=query.label)
            return self._found(hits, values, root)

    def _find_prepared(self, prepared: Prepared, query: SearchOptions, watch: Stopwatch) -> SearchResult:
        with watch.stage("encode"):
            values = self._searcher.encode(prepared)
        with watch.stage("search"):
            root, folder = self._folder(query)
            hits = self._searcher.by_values(values, query.k, folder=folder, label=query.label, asked=prepared)
            return self._found(hits, values, root)

    def _folder(self, query: SearchOptions) -> tuple[bytes, Path | None]:
        """Return the folder that all photos share, and the one that the query asks for."""
        root = common_root(self._searcher.gallery)
        return root, folder_path(root, query.folder) if query.folder else None

    def _found(self, hits: Answer, values: NDArray[Any], root: bytes) -> SearchResult:
        code = pack(values[np.newaxis])
        chance = Chance.estimate(code, self._sample.get(len(self)).codes, len(self))
        return SearchResult(hits, [_hit_answer(hit, root, chance) for hit in hits], code, chance)


@dataclass(frozen=True)
class Chance:
    """The distribution of distances, in bits, of ``photos`` that have nothing to do with a query."""

    photos: int
    median: float
    deviation: float

    @classmethod
    def estimate(cls, code: NDArray[np.uint8], sample: NDArray[np.uint8], photos: int) -> Self:
        """Estimate it from a ``sample`` of the gallery's codes; all codes are packed, ``(codes, bits // 8)``.

        Photos of what was drawn are in the sample too, and would widen the distribution. They lie below the
        median, so the deviation is taken from the distances above it.
        """
        bits = 8 * code.shape[1]
        if len(sample) < _SMALLEST_SAMPLE:
            return cls(photos, bits / 2, math.sqrt(bits) / 2)
        distances = hamming(code, sample)[0].astype(np.float64)
        median = float(np.median(distances))
        upper_half = float(np.mean(np.maximum(distances - median, 0) ** 2))
        return cls(photos, median, max(math.sqrt(2 * upper_half), _LEAST_DEVIATION))

    def expected(self, distance: int) -> float:
        """Return how many unrelated photos are expected within ``distance``."""
        return self.photos * 0.5 * math.erfc((self.median - distance - 0.5) / (self.deviation * math.sqrt(2)))

    def similarity(self, distance: int) -> float:
        """Return the probability, 0 to 1, that no unrelated photo is within ``distance``.

        >>> [round(Chance(1000, median=32, deviation=4).similarity(distance), 2) for distance in (10, 20, 30)]
        [1.0, 0.13, 0.0]
        """
        return math.exp(-self.expected(distance))

    def confidence(self, nearest: int | None) -> Confidence:
        """Return whether the distance of the ``nearest`` hit, if there is one, is less than chance would give."""
        if nearest is None or (expected := self.expected(nearest)) >= _SOME:
            return "none"
        return "close" if expected < _CLOSE else "some"


class SampleCache:
    """A sample of a gallery's codes, drawn again when the gallery has grown or shrunk by a tenth."""

    def __init__(self, gallery: OpenGallery, size: int) -> None:
        """Draw at most ``size`` codes from ``gallery``."""
        self._gallery = gallery
        self._size = size
        self._last: tuple[int, Sample] | None = None

    def get(self, photos: int) -> Sample:
        """Return a sample that is good for a gallery of so many ``photos``."""
        last = self._last
        if last is None or abs(photos - last[0]) > _TOLERATED_CHANGE * last[0]:
            last = self._last = photos, self._gallery.sample(self._size)
        return last[1]


def _hit_answer(hit: Hit, root: bytes, chance: Chance) -> HitAnswer:
    return HitAnswer(
        id=hit.id,
        distance=hit.distance,
        chance=hit.chance,
        likely=hit.likely,
        similarity=round(chance.similarity(hit.distance), 4),
        label=hit.label,
        name=display_name(os.fsencode(hit.path.name)),
        folder=folder_below(root, hit.path),
    )
