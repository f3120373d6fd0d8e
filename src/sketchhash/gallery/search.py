"""Search a gallery with a model: by a drawing, by a picture of a sketch, by a photo.

    query ──► prepare (ink or pixels) ──► encode (values) ──► by_values (hits; a sketch's shape decides among equals)

This is the one place that knows at which size pictures are decoded, how drawings are inked and that photos are ordered
by their shape; the command line, the Python interface and the service all search through it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from sketchhash.codes import unpack
from sketchhash.errors import BadArgument, UnknownName, UnreadableImage
from sketchhash.gallery.copy_index import MOST_COPIES, CopyIndex
from sketchhash.gallery.filters import EVERYTHING, Filter, LeftOut
from sketchhash.gallery.naming import DrawingNames
from sketchhash.gallery.protocol import Hit, OpenGallery
from sketchhash.imaging import Drawing, Limits, Run, rasterise, read_recognised, read_sketch, run, share_of_ink
from sketchhash.model import Calibration, Judgement, Model, QueryKind, Verdict
from sketchhash.model.calibration import FIRST_HITS, JUDGED_HITS
from sketchhash.model.model import photo_reader
from sketchhash.tokens.shape import ShapeQuery

Kind = Literal["sketch", "photo"]
Picture = Path | bytes | NDArray[np.uint8] | Image.Image
Query = Drawing | Sequence[Any] | str | Picture

DEFAULT_K = 20

_LIMITS = Limits()
_NO_JUDGEMENT = Judgement()
_NONE_LEFT_OUT = LeftOut()
_INK_DIMENSIONS = 2
_PEEK = 256  # bytes that tell strokes from a picture
_PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a model encodes: ink ``(size, size)`` of a sketch, or the pixels ``(height, width, 3)`` of a photo."""

    kind: Kind
    pixels: NDArray[np.uint8]


class Answer(list[Hit]):
    """Hits, best first, and how sure they are.

    Attributes:
        verdict: "sure" if the first hits show what was asked for; "unsure" if that cannot be told, so far; "unknown" if
            the query does not look like a kind of thing that the model knows, or if nothing of it is in the gallery.
        chance: The calibrated chance that the first hits show what was asked for; None without calibration, and if
            one of the first hits is a drawing, such as an icon: chances were measured with photos.
        guesses: At most five categories that the query may show, the most likely first.
        left_out: How many photos a filter by date or place left out because they have none.
    """

    def __init__(
        self, hits: Iterable[Hit] = (), judgement: Judgement = _NO_JUDGEMENT, left_out: LeftOut = _NONE_LEFT_OUT
    ) -> None:
        """Hold ``hits`` with what was judged of them."""
        super().__init__(hits)
        self.left_out = left_out
        self.verdict: Verdict = judgement.verdict
        self.chance = judgement.chance
        self.guesses = judgement.guesses

    def sort_by_date(self, newest_first: bool = True) -> None:
        """Order the hits by when they were taken, those without a date last; equal ones stay as they are."""
        self.sort(key=lambda hit: hit.taken_at or datetime.min, reverse=newest_first)
        self.sort(key=lambda hit: hit.taken_at is None)


class Searcher:
    """Finds photos of a gallery; safe to use from many threads.

    The gallery stays the caller's: closing it ends the search.
    """

    def __init__(self, model: Model, gallery: OpenGallery, lasting: bool = False) -> None:
        """Load what a search of ``gallery`` needs.

        Args:
            model: Encodes the queries.
            gallery: Made with the same model.
            lasting: Take some seconds more for the index that answers fastest, as a service may.

        Raises:
            IncompatibleGallery: If the gallery was made with another model.
        """
        gallery.require(model)
        gallery.prepare_search(lasting)
        self.model = model
        self.gallery = gallery
        self.names = DrawingNames(gallery)
        self._copies = CopyIndex(gallery, lasting)
        self._ink = model.manifest.ink
        self._style = self._ink.style

    def __len__(self) -> int:
        """Count the photos that can be found, as of the last search."""
        return len(self.gallery)

    def search(
        self,
        query: Query,
        k: int = DEFAULT_K,
        *,
        kind: Kind = "sketch",
        only: Filter = EVERYTHING,
        rerank: bool = True,
    ) -> Answer:
        """Return the ``k`` photos that look most like the query.

        Args:
            query: A `Drawing` or its strokes; or a picture: a file, its bytes, pixels or a Pillow image. Files and
                bytes may hold strokes as JSON too.
            k: How many hits; fewer come back only if there are fewer photos.
            kind: What a picture is: a "sketch", or a "photo" to find others like it.
            only: Which photos are considered.
            rerank: Order photos by how well they agree with the output of the network, and not only with its signs;
                those that agree about equally well by how well they fit a sketch's shape, and equal ones by id.
                Otherwise hits are ordered by (distance, id).
        """
        prepared = self.prepare(query, kind)
        values = self.encode(prepared)
        return self.by_values(values, k, only=only, rerank=rerank, asked=prepared)

    def by_values(
        self,
        values: NDArray[Any],
        k: int = DEFAULT_K,
        *,
        only: Filter = EVERYTHING,
        rerank: bool = True,
        asked: Prepared | None = None,
    ) -> Answer:
        """Return the ``k`` photos nearest to what `encode` returned, ``(bits,)``; see `search`.

        Args:
            values: The output of the network, or the signs of a photo's code.
            k: How many hits.
            only: Which photos are considered.
            rerank: See `search`.
            asked: What the values were made from; without it they are taken for those of a photo. The shape of a
                sketch decides among photos of nearly equal codes.
        """
        shape = None if asked is None else self.shape_of(asked)
        hits = self.gallery.search(values, max(k, JUDGED_HITS), only, rerank, shape)
        return self._judged(hits, k, only, partial(self._judge, values=values, asked=asked))

    def by_category(self, category: str, k: int = DEFAULT_K, *, only: Filter = EVERYTHING) -> Answer:
        """Return drawings with the category's words as name or tag, and then the photos nearest to it: ``k`` in all.

        A word that the model does not know finds drawings alone.

        Raises:
            UnknownName: If the model does not know the category, and no drawing has such a name or tag.
            BadArgument: If the model has no calibration, and so no vectors of categories.
        """
        named = self.names.find(category, k, only)
        if named:
            is_known = category in self.model.manifest.categories and self.model.calibration is not None
            others = self.gallery.search(self.values_of_category(category), k, only) if is_known else []
            seen = {hit.id for hit in named}
            return Answer(self._copies.marked([*named, *(hit for hit in others if hit.id not in seen)][:k]))
        values = self.values_of_category(category)
        hits = self.gallery.search(values, max(k, JUDGED_HITS), only)
        return self._judged(hits, k, only, lambda calibration, codes: calibration.judge_category(category, codes))

    def similar(self, photo_id: int, k: int = DEFAULT_K, *, only: Filter = EVERYTHING) -> Answer:
        """Return the ``k`` other photos most like one of the gallery, or raise `BadArgument` if it is not there."""
        values = self.values_of(photo_id)
        hits = self.gallery.search(values, max(k, JUDGED_HITS) + 1, only)
        others = [hit for hit in hits if hit.id != photo_id]
        if self.gallery.photo(photo_id).kind == "drawing":
            return Answer(self._copies.marked(others[:k]), left_out=self._left_out(only))
        return self._judged(others, k, only, partial(self._judge, values=values, asked=None))

    def copies(self, photo_id: int, most: int = MOST_COPIES) -> list[Hit]:
        """Return at most ``most`` copies of a photo, the nearest first, or raise `BadArgument` if it is not there."""
        return self._copies.of(photo_id, most)

    def prepare(self, query: Query, kind: Kind = "sketch", limits: Limits = _LIMITS) -> Prepared:
        """Draw or decode any query as the model takes it.

        Raises:
            UnreadableImage: If it is a picture that cannot be decoded, or has no ink.
            BadArgument: If it is not strokes, or something that is no query at all.
        """
        if isinstance(query, Drawing):
            return self.prepare_drawing(query)
        if isinstance(query, str):
            query = Path(query)
        if isinstance(query, (bytes, Path)) and kind == "sketch":
            strokes = _json_strokes(query, limits)
            if strokes is not None:
                return self.prepare_drawing(Drawing.from_json(strokes))
        if isinstance(query, (bytes, Path, np.ndarray, Image.Image)):
            return self.prepare_picture(query, kind, limits)
        return self.prepare_drawing(Drawing.from_json(_in_lists(query)))

    def prepare_drawing(self, drawing: Drawing) -> Prepared:
        """Ink strokes as the training sketches were."""
        return Prepared("sketch", rasterise(drawing, self._ink.size, self._style))

    def prepare_picture(
        self, picture: Picture, kind: Kind = "sketch", limits: Limits = _LIMITS, run: Run = run
    ) -> Prepared:
        """Decode a picture where ``run`` does it, and find the ink on it if it is a sketch.

        Raises:
            UnreadableImage: If it cannot be decoded, or has no ink.
        """
        source = _encoded(picture)
        if kind == "sketch":
            return Prepared(kind, run(read_sketch, source, self._ink.size, self._style, limits))
        # As indexing does it: a photo of the gallery that is sent again gets the very code that it has there.
        return Prepared(kind, self.model.read_photo(source, limits, run))

    def prepare_recognised(self, picture: bytes, limits: Limits = _LIMITS, run: Run = run) -> Prepared:
        """Decode a picture as the sketch or the photo that it shows; see `prepare_picture`."""
        as_sketch = partial(read_sketch, size=self._ink.size, style=self._style, limits=limits)
        pixels = run(read_recognised, picture, as_sketch, photo_reader(self.model.manifest, limits), limits)
        return Prepared("sketch" if pixels.ndim == _INK_DIMENSIONS else "photo", pixels)

    def encode(self, prepared: Prepared) -> NDArray[np.float32]:
        """Return the output of the network, ``(bits,)``; its signs are the code."""
        if prepared.kind == "sketch":
            (values,) = self.model.encode_sketches(prepared.pixels[np.newaxis])
        else:
            (values,) = self.model.encode_photos([prepared.pixels])
        return np.asarray(values)

    def shape_of(self, prepared: Prepared) -> ShapeQuery | None:
        """Return the shape of a sketch, which decides among photos of equal codes; photos are found without."""
        return ShapeQuery.of_ink(prepared.pixels) if prepared.kind == "sketch" else None

    def values_of(self, photo_id: int) -> NDArray[np.int8]:
        """Return the signs ``(bits,)`` of a photo's code, or raise `BadArgument` if it is not there."""
        code = np.frombuffer(self.gallery.code(photo_id), dtype=np.uint8)
        return np.asarray(unpack(code[np.newaxis])[0])

    def values_of_category(self, category: str) -> NDArray[np.float32]:
        """Return the values ``(bits,)`` of a category's typical photo; see `by_category`."""
        if category not in self.model.manifest.categories:
            raise UnknownName("category", category, self.model.manifest.categories)
        if self.model.calibration is None:
            raise BadArgument(
                "This model does not know what photos of its categories are like. Teach it with: "
                "sketchhash model calibrate MODEL --data DIR"
            )
        return self.model.calibration.category_values(category)

    def _judge(
        self, calibration: Calibration, codes: NDArray[np.uint8], *, values: NDArray[Any], asked: Prepared | None
    ) -> Judgement:
        if asked is None or asked.kind == "photo":
            return calibration.judge(values, codes, QueryKind.PHOTO)
        return calibration.judge(values, codes, QueryKind.SKETCH, share_of_ink(asked.pixels))

    def _judged(
        self, hits: list[Hit], k: int, only: Filter, judge: Callable[[Calibration, NDArray[np.uint8]], Judgement]
    ) -> Answer:
        """Return the first ``k`` hits with what can be said of them: nothing, without calibration.

        Chances were measured with photos: from the first drawing on, hits have none, and if that is one of the hits
        which the chance of the answer is about, the answer has none either. What was drawn can be guessed all the same.
        """
        left_out = self._left_out(only)
        if self.model.calibration is None:
            return Answer(self._copies.marked(hits[:k]), left_out=left_out)
        codes = self.gallery.codes([hit.id for hit in hits])
        staying = [hit for hit in hits if hit.id in codes]  # another process may have removed a photo meanwhile
        photos = list(takewhile(lambda hit: hit.kind == "photo", staying))
        packed = np.frombuffer(b"".join(codes[hit.id] for hit in photos), dtype=np.uint8)
        judgement = judge(self.model.calibration, packed.reshape(len(photos), self.model.bits // 8))
        if len(photos) < min(FIRST_HITS, len(staying)):
            return Answer(self._copies.marked(staying[:k]), Judgement(guesses=judgement.guesses), left_out)
        judged = [
            replace(hit, chance=chance, likely=rank <= judgement.likely)
            for rank, (hit, chance) in enumerate(zip(photos, judgement.hit_chances, strict=True), start=1)
        ]
        return Answer(self._copies.marked([*judged, *staying[len(photos) :]][:k]), judgement, left_out)

    def _left_out(self, only: Filter) -> LeftOut:
        return self.gallery.left_out(only) if only.needs_date or only.near else _NONE_LEFT_OUT


def _json_strokes(source: bytes | Path, limits: Limits) -> object | None:
    """Parse strokes in JSON, or return None for a picture: none that can be read begins with a bracket."""
    if isinstance(source, Path):
        if not source.is_file():  # the decoder says what it is, and never opens a pipe
            return None
        try:
            with source.open("rb") as file:
                source = file.read(_PEEK)
                if _looks_like_json(source):
                    source += file.read(limits.bytes)
        except OSError:
            return None
    if not _looks_like_json(source):
        return None
    try:
        strokes: object = json.loads(source)
    except (ValueError, RecursionError) as problem:
        raise BadArgument(
            f"The strokes are no valid JSON ({problem}). Write them as [[[x, y], ...], ...]."
        ) from problem
    return strokes


def _looks_like_json(content: bytes) -> bool:
    return content.lstrip().startswith((b"[", b"{"))


def _in_lists(strokes: object) -> object:
    """Turn tuples and arrays into the lists that JSON has."""
    if isinstance(strokes, (np.ndarray, np.generic)):
        return strokes.tolist()
    return [_in_lists(each) for each in strokes] if isinstance(strokes, (list, tuple)) else strokes


def _encoded(picture: Picture) -> Path | bytes:
    """Turn pixels into a file's bytes, so that every picture goes through the one decoder."""
    if isinstance(picture, np.ndarray):
        if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or picture.shape[2:] not in ((), (3,), (4,)):
            raise BadArgument(
                f"Pixels are uint8 of shape (height, width), (height, width, 3) or (height, width, 4), "
                f"got {picture.dtype} of {picture.shape}."
            )
        if picture.size == 0:
            raise UnreadableImage("Cannot read these bytes: it is empty.")
        picture = Image.fromarray(picture)
    if isinstance(picture, Image.Image):
        upright = ImageOps.exif_transpose(picture)
        file = io.BytesIO()
        (upright if upright.mode in _PNG_MODES else upright.convert("RGB")).save(file, "PNG", compress_level=1)
        return file.getvalue()
    return picture
