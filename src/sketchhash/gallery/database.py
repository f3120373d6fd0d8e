"""A gallery in one SQLite file: photos with their codes, shapes, details and thumbnails.

Any number of processes may read while one writes; writers take turns. All that belongs to a photo is written in
one transaction, so a gallery never holds half of one, whenever its writer is killed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Self

from numpy.typing import NDArray

from sketchhash.errors import IncompatibleGallery, UnwritableState
from sketchhash.gallery.file_counts import count_folders, count_gallery, take_sample
from sketchhash.gallery.file_reader import FileReader, where
from sketchhash.gallery.file_writer import FileWriter
from sketchhash.gallery.filters import EVERYTHING, Filter, LeftOut
from sketchhash.gallery.memory_index import MemoryIndex, SearchReader
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, Hit, PhotoRow, Sample
from sketchhash.gallery.schema import begin_gallery, connect, explained, transaction
from sketchhash.model import Model
from sketchhash.tokens.shape import ShapeQuery


class GalleryFile(FileReader):
    """An open gallery file; see `OpenGallery`. Use `open` or `create` to get one.

    Threads take turns on one connection, but searches and counts have connections of their own, so that looking up a
    photo does not wait for them.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Wrap an open connection."""
        super().__init__(path, connection)
        self._opening = RLock()
        self._counting: FileReader | None = None
        self._memory: MemoryIndex | None = None

    @classmethod
    def open(cls, path: Path, model: Model | None = None) -> Self:
        """Open the gallery at ``path``.

        Raises:
            IncompatibleGallery: If its codes come from another model than ``model``: they would not compare.
        """
        gallery = cls(path, connect(path))
        try:
            gallery.require(model)
        except BaseException:
            gallery.close()
            raise
        return gallery

    @classmethod
    def create(cls, path: Path, model: Model | GalleryModel) -> Self:
        """Open the gallery at ``path``, which is made for codes of ``model`` if it is not there."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UnwritableState(
                f"The folder of the gallery {path} cannot be made: {problem.strerror}. Name a file elsewhere."
            ) from problem
        described = GalleryModel.of(model) if isinstance(model, Model) else model
        with closing(connect(path, create=True)) as connection:
            begin_gallery(connection, path, described)
        return cls.open(path, model if isinstance(model, Model) else None)

    def close(self) -> None:
        """Close the file."""
        with self._opening:
            if self._memory is not None:
                self._memory.close()
            if self._counting is not None:
                self._counting.close()
        super().close()

    @property
    def place(self) -> str:
        """The path, for people to read."""
        return str(self.path)

    @property
    def opener(self) -> None:
        """Nothing: one process writes a file at a time."""
        return

    def require(self, model: Model | None) -> None:
        """Raise `IncompatibleGallery` if the codes come from another model; None stands for any."""
        own = self.model
        if model is not None and model.fingerprint != own.fingerprint:
            raise IncompatibleGallery(
                f"The gallery {self.path} was made with the model {own}, not with {GalleryModel.of(model)}: "
                "their codes do not compare. Use that model, or encode all photos again with: "
                f"sketchhash index FOLDER --reindex --gallery {self.path}"
            )

    def prepare_search(self, lasting: bool = False) -> None:
        """Load all codes: about a second for a million photos; see `OpenGallery.prepare_search`."""
        self._searched(lasting)

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        if self._memory is not None:
            return len(self._memory)
        ((photos,),) = self.rows("SELECT count(*) FROM photos")
        return int(photos)

    def search(
        self,
        values: NDArray[Any],
        k: int,
        only: Filter = EVERYTHING,
        rerank: bool = True,
        shape: ShapeQuery | None = None,
    ) -> list[Hit]:
        """Return the ``k`` nearest photos; see `OpenGallery.search`."""
        return self._searched().search(values, k, only, rerank, shape)

    def left_out(self, only: Filter) -> LeftOut:
        """Count the photos that pass but for the date or place that is asked for, and have none."""
        conditions, wanted = where(only.without_details())
        query = f"SELECT count(*) FROM {self.with_details} WHERE {conditions} AND "
        ((undated,),) = self.rows(f"{query} taken_at IS NULL", *wanted) if only.needs_date else ((0,),)
        ((unplaced,),) = self.rows(f"{query} latitude IS NULL", *wanted) if only.near is not None else ((0,),)
        return LeftOut(undated, unplaced)

    def perceptual_hashes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the perceptual hashes of some photos, by id; those without one are left out."""
        # What a search needs does not wait for other questions.
        return super().perceptual_hashes(ids) if self._memory is None else self._memory.perceptual_hashes(ids)

    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos that were hashed, by id, in pages."""
        return super().hash_pages() if self._memory is None else self._memory.hash_pages()

    def revision(self) -> tuple[int, int]:
        """Return two numbers that stay the same only while the gallery does not change."""
        return super().revision() if self._memory is None else self._memory.revision()

    def info(self) -> GalleryInfo:
        """Count photos and labels."""
        return count_gallery(self._counted())

    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``, which ends with a slash; the fullest first."""
        return count_folders(self._counted(), below, most)

    def sample(self, most: int) -> Sample:
        """Return at most ``most`` photos, spread evenly over when they were indexed; always the same ones."""
        return take_sample(self._counted(), most)

    @contextmanager
    def writing(self, model: Model | None = None) -> Iterator[FileWriter]:
        """Change the gallery: all that the writer does is kept at the end of the block, or none of it.

        Raises:
            BusyGallery: If another process kept writing for several seconds; nothing was done then.
            IncompatibleGallery: If the gallery has started over with another model than ``model``.
        """
        with self.turn, explained(self.path), transaction(self.connection, "BEGIN IMMEDIATE"):
            self.require(model)
            yield FileWriter(self)

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos, all of them or none."""
        with self.writing() as writer:
            writer.put_rows(rows, thumbnails)

    def remove_photos(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        with self.writing() as writer:
            writer.remove(ids)

    def remove(self, places: Iterable[Path]) -> int:
        """Remove the photos in and below ``places``, and count them; their files are left alone."""
        with self.writing() as writer:
            return sum(writer.remove(photo.id for photo in self.within(place)) for place in places)

    def settle(self) -> None:
        """Do nothing: every write is finished when it returns."""

    def _searched(self, lasting: bool = False) -> MemoryIndex:
        with self._opening:
            if self._memory is None:
                self._memory = MemoryIndex(SearchReader.open(self.path), lasting)
            return self._memory

    def _counted(self) -> FileReader:
        """Return a connection for long counts, so that looking up photos does not wait for them."""
        if self.connection.in_transaction:  # inside a snapshot, everything is of one state
            return self
        with self._opening:
            if self._counting is None:
                self._counting = FileReader.open(self.path)
            return self._counting
