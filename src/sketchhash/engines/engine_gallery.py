"""What galleries on engines have in common: the engine searches and stores; everything else works as for a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import BadArgument, IncompatibleGallery
from sketchhash.gallery.filters import EVERYTHING, Filter, LeftOut
from sketchhash.gallery.memory_index import check_query
from sketchhash.gallery.photos import PhotoRecord, outermost
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, Hit, Opener, PhotoRow, Sample, TaggedDrawing
from sketchhash.gallery.writer import Writer, retried
from sketchhash.imaging.details import Details
from sketchhash.index import Hits, rerank
from sketchhash.model import Model
from sketchhash.tokens.shape import ShapeQuery

RERANKED = 200
"""Hits of an engine that are re-ranked at least, so that a photo a little farther off can still come out first."""


class EngineGallery(ABC):
    """An `OpenGallery` that any number of servers search and write at the same time; nothing of it is kept here."""

    keeps_shapes: bool
    keeps_details: bool
    keeps_hashes: bool
    keeps_drawings: bool

    def __init__(self, place: str, model: GalleryModel) -> None:
        """Take the address, as it may be shown, and the model that the codes come from."""
        self._place = place
        self._model = model
        self._photos: int | None = None

    @property
    def place(self) -> str:
        """The address, for people to read: no password."""
        return self._place

    @property
    def model(self) -> GalleryModel:
        """The model that encoded the photos."""
        return self._model

    def __enter__(self) -> Self:
        """Close the connection at the end of the ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def require(self, model: Model | None) -> None:
        """Raise `IncompatibleGallery` if the codes come from another model; None stands for any."""
        if model is not None and model.fingerprint != self.model.fingerprint:
            raise IncompatibleGallery(
                f"The gallery {self.place} was made with the model {self.model}, not with {GalleryModel.of(model)}: "
                "their codes do not compare. Use that model."
            )

    def prepare_search(self, lasting: bool = False) -> None:
        """Count the photos; each search then keeps the number fresh."""
        self._photos = self.count()

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        if self._photos is None:
            self._photos = self.count()
        return self._photos

    def search(
        self,
        values: NDArray[Any],
        k: int,
        only: Filter = EVERYTHING,
        rerank: bool = True,
        shape: ShapeQuery | None = None,
    ) -> list[Hit]:
        """Return the ``k`` nearest photos; see `OpenGallery.search`."""
        check_query(values, k, self.model.bits)
        hits = self.nearest(pack(values[np.newaxis]), max(k, RERANKED) if rerank else k, only)
        rows = self.rows(hits.ids.tolist())
        self._photos = self.count()
        staying = np.isin(hits.ids, list(rows))  # another server may have removed a photo meanwhile
        found = Hits(hits.ids[staying], hits.distances[staying])
        if rerank:
            found = _reranked(found, rows, values, shape)
        return [
            _hit(rows[each], distance)
            for each, distance in zip(found.ids[:k].tolist(), found.distances[:k].tolist(), strict=True)
        ]

    def photo(self, photo_id: int) -> PhotoRecord:
        """Return the photo with an id, or raise `BadArgument` if there is none."""
        return self._row(photo_id).photo

    def code(self, photo_id: int) -> bytes:
        """Return the packed code of a photo."""
        return self._row(photo_id).code

    def codes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the packed codes of some photos, by id; a photo that is gone has none."""
        return {photo_id: row.code for photo_id, row in self.rows(ids).items()}

    def details(self, ids: Sequence[int]) -> dict[int, Details]:
        """Return when, where and with what some photos were taken; one that was not examined for it has none."""
        return {photo_id: row.details for photo_id, row in self.rows(ids).items() if row.details is not None}

    def perceptual_hashes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the perceptual hashes of some photos; one that was indexed before there were any has none."""
        return {photo_id: row.perceptual for photo_id, row in self.rows(ids).items() if row.perceptual is not None}

    def photos(self) -> Iterator[PhotoRecord]:
        """Yield every photo, by id."""
        return (row.photo for page in self.pages() for row in page)

    def damage(self) -> list[str]:
        """Find nothing wrong: an engine looks after itself."""
        return []

    def snapshot(self) -> AbstractContextManager[None]:
        """Do nothing: an engine is seen as it is at each moment."""
        return nullcontext()

    def remove(self, places: Iterable[Path]) -> int:
        """Remove the photos in and below ``places``, and count them; their files are left alone."""
        ids = [photo.id for place in outermost(places) for photo in self.within(place)]
        self.remove_photos(ids)
        return len(ids)

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all that belongs to each; rows with the same ids are replaced."""
        self._change(lambda writer: writer.put_rows(rows, thumbnails))

    def remove_photos(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        self._change(lambda writer: writer.remove(ids))

    def thumbnail(self, photo_id: int) -> bytes:
        """Return the small JPEG of a photo."""
        for jpeg in self.thumbnails([photo_id]).values():
            return jpeg
        raise self._no_photo(photo_id)

    def _change(self, change: Callable[[Writer], object]) -> None:
        def once() -> None:
            with self.writing() as writer:
                change(writer)

        retried(once)

    def _row(self, photo_id: int) -> PhotoRow:
        for row in self.rows([photo_id]).values():
            return row
        raise self._no_photo(photo_id)

    def _no_photo(self, photo_id: int) -> BadArgument:
        return BadArgument(f"The gallery {self.place} has no photo with the id {photo_id}.")

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    def count(self) -> int:
        """Count the photos now."""

    @abstractmethod
    def nearest(self, query: NDArray[np.uint8], k: int, only: Filter) -> Hits:
        """Find the ``k`` nearest codes of one query ``(1, bits // 8)``."""

    @abstractmethod
    def left_out(self, only: Filter) -> LeftOut:
        """Count the photos that pass but for the date or place that is asked for, and have none."""

    @abstractmethod
    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Return the rows of some ids, by id; an id that is not there has none."""

    @abstractmethod
    def pages(self) -> Iterator[list[PhotoRow]]:
        """Yield all rows, by id, in pages."""

    @abstractmethod
    def tagged_drawings(self) -> list[TaggedDrawing]:
        """Return the drawings that have tags."""

    @abstractmethod
    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos; a photo that is gone has none."""

    @property
    @abstractmethod
    def opener(self) -> Opener:
        """A function that opens the gallery in another process, to write to it at the same time."""

    @abstractmethod
    def writing(self, model: Model | None = None) -> AbstractContextManager[Writer]:
        """Change the gallery; see `OpenGallery.writing`."""

    @abstractmethod
    def photos_at(self, paths: Sequence[Path]) -> dict[Path, PhotoRow]:
        """Return the rows of the photos at some absolute paths."""

    @abstractmethod
    def within(self, place: Path) -> Iterator[PhotoRecord]:
        """Yield the photo at ``place``, or those at any depth below it."""

    @abstractmethod
    def has_content(self, sha256: str) -> bool:
        """Tell whether a photo with this content is in the gallery."""

    @abstractmethod
    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos that were hashed, by id, in pages."""

    @abstractmethod
    def without_hash(self, most: int) -> list[int]:
        """Return the ids of at most ``most`` photos that have no perceptual hash."""

    @abstractmethod
    def count_without_shape(self) -> int:
        """Count the photos that have no shape; in a gallery without room for shapes none is missing."""

    def content_prefixes(self, size: int) -> bytes:
        """Return the first ``size`` bytes of every SHA-256, in ascending order, one after the other."""
        return b"".join(sorted(bytes.fromhex(photo.sha256)[:size] for photo in self.photos()))

    def settle(self) -> None:
        """Do nothing: every write is finished when it returns."""
        return

    @abstractmethod
    def revision(self) -> Hashable:
        """Return a value that stays the same only while the gallery need not be counted again."""

    @abstractmethod
    def info(self) -> GalleryInfo:
        """Count photos and labels."""

    @abstractmethod
    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Return the first and the last path, in the order of their bytes, if there are photos."""

    @abstractmethod
    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``, which ends with a slash; the fullest first."""

    @abstractmethod
    def sample(self, most: int) -> Sample:
        """Return at most ``most`` photos, spread evenly over when they were indexed."""


def _hit(row: PhotoRow, distance: int) -> Hit:
    taken_at = None if row.details is None else row.details.taken_at
    photo = row.photo
    return Hit(photo.id, distance, photo.path, photo.label, taken_at=taken_at, kind=photo.kind)


def _reranked(hits: Hits, rows: Mapping[int, PhotoRow], values: NDArray[Any], shape: ShapeQuery | None) -> Hits:
    ids = hits.ids.tolist()
    codes = np.frombuffer(b"".join(rows[each].code for each in ids), dtype=np.uint8)
    shapes = {each: kept for each in ids if (kept := rows[each].shape) is not None}
    fits = None if shape is None else shape.fits(shapes, ids)
    best = rerank(hits.ids, codes.reshape(len(hits), len(values) // 8), values, fits)
    return Hits(best.ids, best.distances)
