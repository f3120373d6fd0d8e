"""What a service asks of a gallery, wherever that is kept: in a file, or on an engine that others share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.searching import Hit, Searcher
from sketchhash.gallery.store import Gallery, GalleryInfo
from sketchhash.gallery.surveying import Sample
from sketchhash.index.addresses import is_address
from sketchhash.model import Model


class PhotoFinder(Protocol):
    """Finds the photos that are nearest to a drawing; safe to use from many threads."""

    def __len__(self) -> int:
        """Count the photos, as of the last search."""
        ...

    def search(
        self,
        values: NDArray[Any],
        k: int,
        folder: Path | None = None,
        label: str | None = None,
        reranked: bool = False,
    ) -> list[Hit]:
        """Give the ``k`` nearest photos, by distance and then id; see `Searcher.search`."""
        ...


class ServedGallery(Protocol):
    """Tells about its photos, one by one and as a whole; safe to use from many threads."""

    def photo(self, photo_id: int) -> PhotoRecord:
        """Give the photo of an id, or raise `BadArgument` when there is none."""
        ...

    def code(self, photo_id: int) -> bytes:
        """Give the packed code of a photo."""
        ...

    def thumbnail(self, photo_id: int) -> bytes:
        """Give the small JPEG of a photo."""
        ...

    def revision(self) -> Hashable:
        """Give something that stays the same only while what is told as a whole need not be counted again."""
        ...

    def info(self) -> GalleryInfo:
        """Count what the gallery holds."""
        ...

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Give the first and the last path, in the order of their bytes, if there are photos."""
        ...

    def top_folders(self, start: int, most: int) -> list[tuple[bytes, int]]:
        """Count the photos of each folder that is named from byte ``start`` of the paths on; the fullest first."""
        ...

    def sample(self, most: int) -> Sample:
        """Give at most so many photos, spread evenly."""
        ...


@dataclass(frozen=True)
class Served:
    """A gallery open to be served: to be searched, to look photos up in, and to be counted, at the same time."""

    searched: PhotoFinder
    looked_up: ServedGallery
    counted: ServedGallery


@contextmanager
def open_served(place: str | Path, model: Model) -> Iterator[Served]:
    """Open the gallery in a file or at an engine's address until the block ends.

    Raises:
        IncompatibleGallery: If its codes come from another model than ``model``: they would not compare.
    """
    with ExitStack() as stack:
        if is_address(str(place)):
            from sketchhash.gallery.engines import open_engine

            engine = stack.enter_context(open_engine(str(place)))
            engine.require(model)
            engine.start_following()
            yield Served(engine, engine, engine)
            return
        # Threads take turns on an open file, so searching, looking up and counting have one each.
        searched, looked_up, counted = (stack.enter_context(Gallery.open(Path(place), model)) for _ in range(3))
        yield Served(Searcher(searched, lasting=True), looked_up, counted)
