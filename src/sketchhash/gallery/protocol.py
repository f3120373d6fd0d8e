"""What every gallery can do, wherever it is kept: in a file, on Milvus or in PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.gallery.filters import EVERYTHING, Filter, LeftOut
from sketchhash.gallery.photos import PhotoKind, PhotoRecord
from sketchhash.imaging.details import Details
from sketchhash.model import Model
from sketchhash.tokens.shape import ShapeQuery

if TYPE_CHECKING:
    from sketchhash.gallery.writer import Writer


@dataclass(frozen=True)
class GalleryModel:
    """The model that encoded all photos of a gallery."""

    name: str
    fingerprint: str
    bits: int

    @classmethod
    def of(cls, model: Model) -> Self:
        """Describe ``model``."""
        return cls(model.manifest.name, model.fingerprint, model.bits)

    def __str__(self) -> str:
        """Name the model as messages do."""
        return f"{self.name!r} of {self.bits} bits ({self.fingerprint[:12]})"


@dataclass(frozen=True)
class GalleryInfo:
    """A gallery in numbers; ``labels`` counts the photos of each label, unlabelled ones are left out.

    ``dated`` and ``placed`` count the photos of which it is known when and where they were taken. ``drawings`` counts
    how many of all ``photos`` are drawings, such as icons.
    """

    photos: int
    model: GalleryModel
    bytes: int
    labels: Mapping[str, int]
    last_indexed: datetime | None
    dated: int = 0
    placed: int = 0
    first_taken: datetime | None = None
    last_taken: datetime | None = None
    drawings: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A photo that was found, and in how many bits its code differs from the query's.

    Attributes:
        chance: The calibrated chance that the photo shows what was asked for; it never rises from a hit to the next.
            None if the model has no calibration, and for drawings and what follows them.
        likely: Whether it belongs to the good matches, which come first.
        taken_at: When it was taken, by the camera's clock, if that is known.
        copy_of: The id of an earlier hit that it is a copy of, if it is one.
        kind: Whether it is a "photo" or a "drawing", such as an icon.
        copies: How many other photos of the whole gallery are copies of it, whether they were found or not; None if
            that was not counted, as for a hit that is a copy itself.
    """

    id: int
    distance: int
    path: Path
    label: str | None
    chance: float | None = None
    likely: bool = False
    taken_at: datetime | None = None
    copy_of: int | None = None
    kind: PhotoKind = "photo"
    copies: int | None = None


class TaggedDrawing(NamedTuple):
    """A drawing that has words beside its name, such as the tags of an icon."""

    id: int
    label: str
    tags: str


@dataclass(frozen=True, eq=False)
class Sample:
    """Some photos of a gallery: ids, labels and packed codes ``(ids, bits // 8)``."""

    ids: tuple[int, ...]
    labels: tuple[str | None, ...]
    codes: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PhotoRow:
    """A photo, its packed code, and its shape, details and perceptual hash if it has any, as galleries copy them."""

    photo: PhotoRecord
    code: bytes
    shape: bytes | None = None
    details: Details | None = None
    perceptual: bytes | None = None

    def digest(self) -> int:
        """Return a number that two rows share only if they are equal, but for one chance in 2**64."""
        photo = self.photo
        when = photo.indexed_at.isoformat()
        file = (os.fsencode(photo.path), photo.sha256, photo.size, photo.mtime_ns, photo.label, when)
        kept = (self.code, self.shape, self.details and self.details.columns(), self.perceptual)
        drawn = (photo.kind,) if photo.kind == "drawing" else ()  # photos keep the digests that they had
        written = repr((*file, *kept, *drawn)).encode("utf-8", "backslashreplace")
        return int.from_bytes(blake2b(written, digest_size=8).digest(), "big")


Opener = Callable[[], "OpenGallery"]


class OpenGallery(Protocol):
    """An open gallery; safe to use from many threads, and searches do not wait for other questions."""

    @property
    def place(self) -> str:
        """Where it is kept, for people to read: no password."""
        ...

    @property
    def model(self) -> GalleryModel:
        """The model that encoded the photos."""
        ...

    @property
    def keeps_shapes(self) -> bool:
        """Whether it has room for shapes; galleries that were made before there were any may have none."""
        ...

    @property
    def keeps_details(self) -> bool:
        """Whether it has room for details; galleries that were made before there were any may have none."""
        ...

    def close(self) -> None:
        """Close the file or the connections."""
        ...

    def __enter__(self) -> Self:
        """Close the gallery at the end of the ``with`` block."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the gallery."""
        ...

    @property
    def keeps_hashes(self) -> bool:
        """Whether it has room for perceptual hashes."""
        ...

    @property
    def keeps_drawings(self) -> bool:
        """Whether it has room for drawings; without it, everything counts as a photo."""
        ...

    @property
    def opener(self) -> Opener | None:
        """A function that opens the gallery in another process, to write to it at the same time; None if it must not.

        It can be pickled, and holds the password if there is one.
        """
        ...

    def require(self, model: Model | None) -> None:
        """Raise `IncompatibleGallery` if the codes come from another model; None stands for any."""
        ...

    def prepare_search(self, lasting: bool = False) -> None:
        """Load what a search needs; otherwise the first search does.

        Args:
            lasting: Take some seconds more for the index that answers fastest, as a service may.
        """
        ...

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        ...

    def search(
        self,
        values: NDArray[Any],
        k: int,
        only: Filter = EVERYTHING,
        rerank: bool = True,
        shape: ShapeQuery | None = None,
    ) -> list[Hit]:
        """Return the ``k`` nearest photos.

        Args:
            values: The output of the model for one query, ``(bits,)``; or the signs of a code.
            k: How many hits; fewer come back only if there are fewer photos.
            only: Which photos are considered.
            rerank: Order photos by how well they agree with the values themselves and not only with their signs, and
                equal ones by id; see `sketchhash.index.weighing`. A file does so with all its photos, an engine with a
                few hundred that are nearest in bits. Otherwise hits are ordered by (distance, id).
            shape: What was drawn: it decides the order of photos whose codes agree about equally well, if ``rerank``.
        """
        ...

    def left_out(self, only: Filter) -> LeftOut:
        """Count the photos that pass but for the date or place that is asked for, and have none."""
        ...

    def details(self, ids: Sequence[int]) -> Mapping[int, Details]:
        """Return when, where and with what some photos were taken; one that was not examined for it has none."""
        ...

    def photo(self, photo_id: int) -> PhotoRecord:
        """Return the photo with an id, or raise `BadArgument` if there is none."""
        ...

    def code(self, photo_id: int) -> bytes:
        """Return the packed code of a photo, or raise `BadArgument` if there is none."""
        ...

    def codes(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the packed codes of some photos; a photo that is gone has none."""
        ...

    def thumbnail(self, photo_id: int) -> bytes:
        """Return the small JPEG of a photo, or raise `BadArgument` if there is none."""
        ...

    def revision(self) -> Hashable:
        """Return a value that stays the same only while the gallery need not be counted again."""
        ...

    def info(self) -> GalleryInfo:
        """Count photos and labels."""
        ...

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Return the first and the last path, in the order of their bytes, if there are photos."""
        ...

    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``, which ends with a slash; the fullest first."""
        ...

    def sample(self, most: int) -> Sample:
        """Return at most ``most`` photos, spread evenly over when they were indexed."""
        ...

    def tagged_drawings(self) -> list[TaggedDrawing]:
        """Return the drawings that have tags."""
        ...

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Yield all rows, by id, in pages."""
        ...

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos; a photo that is gone has none."""
        ...

    def perceptual_hashes(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the perceptual hashes of some photos; one that was indexed before there were any has none."""
        ...

    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos that were hashed, by id, in pages."""
        ...

    def count_without_shape(self) -> int:
        """Count the photos that have no shape; in a gallery without room for shapes none is missing."""
        ...

    def without_hash(self, most: int) -> list[int]:
        """Return the ids of at most ``most`` photos that have no perceptual hash."""
        ...

    def photos(self) -> Iterator[PhotoRecord]:
        """Yield every photo, by id; photos that come or go meanwhile may be among them or not."""
        ...

    def photos_at(self, paths: Sequence[Path]) -> Mapping[Path, PhotoRow]:
        """Return the rows of the photos at some absolute paths."""
        ...

    def within(self, place: Path) -> Iterator[PhotoRecord]:
        """Yield the photo at ``place``, or those at any depth below it."""
        ...

    def has_content(self, sha256: str) -> bool:
        """Tell whether a photo with this content is in the gallery."""
        ...

    def content_prefixes(self, size: int) -> bytes:
        """Return the first ``size`` bytes of every SHA-256, in ascending order, one after the other."""
        ...

    def damage(self) -> list[str]:
        """Check what the gallery is kept in, and return what is wrong with it; an engine looks after itself."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """See a file in one state throughout the block; an engine is seen as it is at each moment."""
        ...

    def writing(self, model: Model | None = None) -> AbstractContextManager[Writer]:
        """Change the gallery: what the writer does is kept at the end of the block.

        A file and PostgreSQL keep all of it or none. Milvus has no transactions: after a crash some of a batch may be
        there, each photo whole, and doing the same again ends the same.

        Raises:
            BusyGallery: If another process kept writing for several seconds; nothing was done then.
            IncompatibleGallery: If the gallery was made with another model than ``model``.
        """
        ...

    def remove(self, places: Iterable[Path]) -> int:
        """Remove the photos in and below ``places``, and count them; their files are left alone."""
        ...

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all that belongs to each; rows with the same ids are replaced."""
        ...

    def remove_photos(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        ...

    def settle(self) -> None:
        """Finish a long series of writes."""
        ...
