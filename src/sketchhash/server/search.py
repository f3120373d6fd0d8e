"""From a drawing, a picture or a photo of the gallery to an answer."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack, unpack
from sketchhash.errors import UnreadableImage
from sketchhash.gallery import Hit, PhotoFinder, Sample, ServedGallery
from sketchhash.imaging import Drawing, InkStyle, rasterise, read_photo, read_sketch, shrink
from sketchhash.model import Model
from sketchhash.server.limits import UPLOADS
from sketchhash.server.metrics import Stopwatch
from sketchhash.server.photos import common_root, folder_below, folder_named, known, text_of
from sketchhash.server.schemas import (
    Confidence,
    DrawingQuery,
    HitAnswer,
    PictureQuery,
    SearchAnswer,
    TimingsAnswer,
    Wanted,
)

# As indexing has it: a photo of the gallery that is sent again then gets the very code that it has there.
_LONGEST_SIDE = 512

_SAMPLED = 4096


@dataclass(frozen=True)
class Answer:
    """What a search found: the hits, the query's code ``(1, bits // 8)``, and what chance would have given."""

    hits: list[HitAnswer]
    code: NDArray[np.uint8]
    chance: Chance

    def with_timings(self, watch: Stopwatch) -> SearchAnswer:
        """Make it ready to be sent."""
        return SearchAnswer(
            hits=self.hits,
            code=self.code.tobytes().hex(),
            bits=8 * self.code.shape[1],
            photos=self.chance.photos,
            confidence=self.chance.confidence(min((hit.distance for hit in self.hits), default=None)),
            timings_ms=TimingsAnswer(**watch.milliseconds()),
        )


class Finder:
    """Answers queries; safe to use from many threads, which only take turns for the search itself."""

    def __init__(self, model: Model, searcher: PhotoFinder, gallery: ServedGallery) -> None:
        """Take an own ``gallery`` to look things up in: a file that is searched is locked meanwhile."""
        self._model = model
        self._searcher = searcher
        self._gallery = gallery
        self._sample = FollowingSample(gallery, _SAMPLED)
        self._ink = model.manifest.ink
        self._style = InkStyle(self._ink.line_width, self._ink.margin)

    def __len__(self) -> int:
        """Count the photos that can be found."""
        return len(self._searcher)

    def find_by_drawing(self, query: DrawingQuery, watch: Stopwatch) -> Answer:
        """Find photos that look like what was drawn."""
        with watch.stage("ink"):
            ink = rasterise(Drawing.from_json(query.strokes), self._ink.size, self._style)
        return self._find_by_ink(ink, query, watch)

    def find_by_picture(self, content: bytes, query: PictureQuery, watch: Stopwatch) -> Answer:
        """Find photos that look like an uploaded photo, or like the sketch in an uploaded picture."""
        try:
            with watch.stage("ink"):
                if query.kind == "photo":
                    pixels = shrink(read_photo(content, UPLOADS, longest=_LONGEST_SIDE), _LONGEST_SIDE)
                else:
                    ink = read_sketch(content, self._ink.size, self._style, UPLOADS)
        except UnreadableImage as problem:
            reason = str(problem).replace("these bytes", "the picture")
            raise UnreadableImage(f"{reason} Send another picture, such as a JPEG or PNG.") from problem
        if query.kind == "sketch":
            return self._find_by_ink(ink, query, watch)
        with watch.stage("encode"):
            (values,) = self._model.encode_photos([pixels])
        return self._find(values, query, watch)

    def find_similar(self, photo_id: int, query: Wanted, watch: Stopwatch) -> Answer:
        """Find other photos that look like one of the gallery."""
        with known(photo_id):
            code = np.frombuffer(self._gallery.code(photo_id), dtype=np.uint8)
        return self._find(unpack(code[np.newaxis])[0], query, watch, left_out=photo_id)

    def _find_by_ink(self, ink: NDArray[np.uint8], query: Wanted, watch: Stopwatch) -> Answer:
        with watch.stage("encode"):
            (values,) = self._model.encode_sketches(ink[np.newaxis])
        return self._find(values, query, watch)

    def _find(
        self, values: NDArray[np.generic], query: Wanted, watch: Stopwatch, left_out: int | None = None
    ) -> Answer:
        with watch.stage("search"):
            root = common_root(self._gallery)
            folder = folder_named(root, query.folder) if query.folder else None
            wanted = query.k if left_out is None else query.k + 1
            hits = self._searcher.search(values, wanted, folder, query.label, reranked=True)
            code = pack(values[np.newaxis])
            chance = Chance.estimate(code, self._sample.at(len(self)).codes, len(self))
        found = [hit for hit in hits if hit.id != left_out][: query.k]
        return Answer([_answer(hit, root, chance) for hit in found], code, chance)


def _answer(hit: Hit, root: bytes, chance: Chance) -> HitAnswer:
    return HitAnswer(
        id=hit.id,
        distance=hit.distance,
        similarity=round(chance.similarity(hit.distance), 4),
        label=hit.label,
        name=text_of(os.fsencode(hit.path.name)),
        folder=folder_below(root, hit.path),
    )


_TOLERATED_CHANGE = 0.1


class FollowingSample:
    """A sample that is drawn again when the gallery has grown or shrunk by a tenth."""

    def __init__(self, gallery: ServedGallery, most: int) -> None:
        """Draw from ``gallery``, at most so many."""
        self._gallery = gallery
        self._most = most
        self._drawn: tuple[int, Sample] | None = None

    def at(self, photos: int) -> Sample:
        """Give a sample of the gallery while it has so many ``photos``."""
        drawn = self._drawn
        if drawn is None or abs(photos - drawn[0]) > _TOLERATED_CHANGE * drawn[0]:
            drawn = self._drawn = photos, self._gallery.sample(self._most)
        return drawn[1]


# The nearest of unrelated photos passes for "close" once in a thousand queries, for "some" once in ten.
_CLOSE, _SOME = 0.001, 0.1

# Fewer distances say little about their spread; then codes are taken to be tosses of a fair coin.
_FEWEST = 50
_LEAST_SPREAD = 0.5


@dataclass(frozen=True)
class Chance:
    """The distances, in bits, at which ``photos`` that are unrelated to a query lie."""

    photos: int
    middle: float
    spread: float

    @classmethod
    def estimate(cls, code: NDArray[np.uint8], sample: NDArray[np.uint8], photos: int) -> Self:
        """Learn from a ``sample`` of the gallery's codes; all codes are packed, ``(codes, bits // 8)``.

        Photos of what was drawn are in the sample too, and would widen the spread. They lie below the middle:
        it is taken from those above, and the other side is as wide.
        """
        bits = 8 * code.shape[1]
        if len(sample) < _FEWEST:
            return cls(photos, bits / 2, math.sqrt(bits) / 2)
        distances = hamming(code, sample)[0].astype(np.float64)
        middle = float(np.median(distances))
        upper_half = float(np.mean(np.maximum(distances - middle, 0) ** 2))
        return cls(photos, middle, max(math.sqrt(2 * upper_half), _LEAST_SPREAD))

    def expected(self, distance: int) -> float:
        """Give how many unrelated photos would be as near as this."""
        return self.photos * 0.5 * math.erfc((self.middle - distance - 0.5) / (self.spread * math.sqrt(2)))

    def similarity(self, distance: int) -> float:
        """Give the chance, 0 to 1, that no unrelated photo would be as near as this.

        >>> [round(Chance(1000, middle=32, spread=4).similarity(distance), 2) for distance in (10, 20, 30)]
        [1.0, 0.13, 0.0]
        """
        return math.exp(-self.expected(distance))

    def confidence(self, nearest: int | None) -> Confidence:
        """Say whether the ``nearest`` hit, if there is one, is nearer than chance would have it."""
        if nearest is None or (expected := self.expected(nearest)) >= _SOME:
            return "none"
        return "close" if expected < _CLOSE else "some"
