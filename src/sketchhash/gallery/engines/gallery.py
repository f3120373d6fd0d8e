"""What galleries on engines have in common: the engine finds and keeps, the rest is as with a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.errors import BadArgument, IncompatibleGallery
from sketchhash.gallery.engines.rows import PhotoRow
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.schema import CodeMaker
from sketchhash.gallery.searching import RERANKED, Hit
from sketchhash.gallery.store import GalleryInfo
from sketchhash.gallery.surveying import Sample
from sketchhash.index import Hits, rerank
from sketchhash.model import Model


class EngineGallery(ABC):
    """A gallery that any number of servers search and write at the same time; nothing of it is kept here."""

    def __init__(self, place: str, maker: CodeMaker) -> None:
        """Take the address, as it may be shown, and the model that the codes come from."""
        self.place = place
        self.maker = maker
        self._photos = 0

    def __enter__(self) -> Self:
        """Close the connection at the end of the ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def require(self, model: Model) -> None:
        """Raise `IncompatibleGallery` if the codes come from another model."""
        if model.fingerprint != self.maker.fingerprint:
            raise IncompatibleGallery(
                f"The gallery {self.place} was made with the model {self.maker.name!r} of {self.maker.bits} bits "
                f"({self.maker.fingerprint[:12]}), not with {model.manifest.name!r} of {model.bits} bits "
                f"({model.fingerprint[:12]}): their codes do not compare. Use that model."
            )

    def start_following(self) -> None:
        """Count the photos; each search then keeps the number fresh."""
        self._photos = self.count()

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        return self._photos

    def search(
        self,
        values: NDArray[Any],
        k: int,
        folder: Path | None = None,
        label: str | None = None,
        reranked: bool = False,
    ) -> list[Hit]:
        """Give the ``k`` nearest photos, by distance and then id; see `Searcher.search`."""
        if values.shape != (self.maker.bits,):
            raise BadArgument(f"A query is {self.maker.bits} values, one a bit, not an array of shape {values.shape}.")
        if k < 1:
            raise BadArgument(f"k is the number of hits wanted, at least 1; got {k}.")
        hits = self.nearest(pack(values[np.newaxis]), max(k, RERANKED) if reranked else k, folder, label)
        rows = self.rows(hits.ids.tolist())
        self._photos = self.count()
        staying = np.isin(hits.ids, list(rows))  # another server may have removed a photo meanwhile
        ids, distances = hits.ids[staying], hits.distances[staying]
        if reranked and len(ids):
            codes = np.frombuffer(b"".join(rows[each].code for each in ids.tolist()), dtype=np.uint8)
            best = rerank(Hits(ids, distances), codes.reshape(len(ids), -1), values)
            ids, distances = best.ids[:k], best.distances[:k]
        return [
            Hit(each, distance, rows[each].photo.path, rows[each].photo.label)
            for each, distance in zip(ids.tolist(), distances.tolist(), strict=True)
        ]

    def photo(self, photo_id: int) -> PhotoRecord:
        """Give the photo of an id, or raise `BadArgument` when there is none."""
        return self._row(photo_id).photo

    def code(self, photo_id: int) -> bytes:
        """Give the packed code of a photo."""
        return self._row(photo_id).code

    def thumbnail(self, photo_id: int) -> bytes:
        """Give the small JPEG of a photo."""
        for jpeg in self.thumbnails([photo_id]).values():
            return jpeg
        raise self._no_photo(photo_id)

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
    def nearest(self, query: NDArray[np.uint8], k: int, folder: Path | None, label: str | None) -> Hits:
        """Find the ``k`` nearest codes of one query ``(1, bits // 8)``."""

    @abstractmethod
    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Give the rows of some ids, by id; an id that is not there has none."""

    @abstractmethod
    def pages(self) -> Iterator[list[PhotoRow]]:
        """Give all rows, by id, in pages."""

    @abstractmethod
    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Give the small JPEGs of some photos; a photo that is gone has none."""

    @abstractmethod
    def put(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all that belongs to each; what was there under their ids is replaced."""

    @abstractmethod
    def remove(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""

    def settle(self) -> None:
        """Be told that all is written, for now."""
        return

    @abstractmethod
    def revision(self) -> Hashable:
        """Give something that stays the same only while the gallery need not be counted again."""

    @abstractmethod
    def info(self) -> GalleryInfo:
        """Count what the gallery holds."""

    @abstractmethod
    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Give the first and the last path, in the order of their bytes, if there are photos."""

    @abstractmethod
    def top_folders(self, start: int, most: int) -> list[tuple[bytes, int]]:
        """Count the photos of each folder that is named from byte ``start`` of the paths on; the fullest first."""

    @abstractmethod
    def sample(self, most: int) -> Sample:
        """Give at most so many photos, spread evenly."""
