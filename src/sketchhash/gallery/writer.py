"""The rules by which files become photos of a gallery, wherever it is kept.

A `Writer` changes a gallery: what it does in one `writing` block of the gallery is kept at the end of the block. Files
and engines say how rows are found, put and removed; the rules are here, once for all of them:

- a file whose content is as it was keeps its photo, whatever its time says;
- a file whose content the gallery has is its photo, moved, if that one's own file is gone, or else a copy;
- any other is a new photo, and what was at its path before is gone.

They work on the rows that may matter to a batch, which are read at once, and write all that changed at once: an engine
that is far away is asked a few times a batch, and not a few times a photo.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TypeVar

from sketchhash.errors import BusyGallery
from sketchhash.gallery.packs import Packed
from sketchhash.gallery.photos import PhotoFile, PhotoKind, PhotoRecord, is_gone
from sketchhash.gallery.protocol import PhotoRow
from sketchhash.gallery.sidecars import NO_SIDECARS, Sidecars
from sketchhash.imaging.details import Details
from sketchhash.model import Model

DETAILS = "taken_at, camera, width, height, latitude, longitude, description, sidecars"
"""The columns of `Details.columns`."""

_TRIES = 5

_T = TypeVar("_T")


class Change(Enum):
    """What bringing one file up to date came to."""

    ADDED = "added"
    UPDATED = "updated"
    MOVED = "moved"
    DESCRIBED = "described"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Task:
    """A file to examine, the label that its photo gets, and the sidecars that belong to it.

    ``kind`` is what it is taken for, None if its content is to tell. A drawing of a pack comes with its content.
    """

    path: Path
    label: str | None = None
    sidecars: Sidecars = NO_SIDECARS
    kind: PhotoKind | None = None
    packed: Packed | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A file whose content is in the gallery."""

    file: PhotoFile
    details: Details | None
    task: Task


@dataclass(frozen=True, slots=True)
class Encoded:
    """A photo that is new to the gallery, ready to be stored."""

    file: PhotoFile
    details: Details | None
    code: bytes
    thumbnail: bytes
    shape: bytes | None
    perceptual: bytes | None = None


class Writer(ABC):
    """Changes a gallery; get one from the gallery's ``writing``."""

    def store(self, results: Sequence[Known | Encoded]) -> list[Change | None]:
        """Bring the gallery up to date with some files; None stands for one whose content is not there any more."""
        batch = _Batch(self, [result.file for result in results])
        changes = [batch.take(result) for result in results]
        batch.write()
        return changes

    def put(
        self,
        file: PhotoFile,
        code: bytes,
        thumbnail: bytes,
        shape: bytes | None = None,
        details: Details | None = None,
    ) -> Change:
        """Store a photo, with its shape if the model finds contours; what was at that path before is replaced."""
        (change,) = self.store([Encoded(file, details, code, thumbnail, shape)])
        assert change is not None
        return change

    def put_known(self, file: PhotoFile, details: Details | None = None) -> Change | None:
        """Store a file whose content the gallery has; None, and nothing is done, if no photo has that content."""
        (change,) = self.store([Known(file, details, Task(file.path, file.label))])
        return change

    def put_shapes(self, shapes: Mapping[int, bytes]) -> None:
        """Store the shapes of photos, by id; a photo that is gone gets none."""
        self.put_rows([replace(row, shape=shapes[each]) for each, row in self.rows(list(shapes)).items()], {})

    def put_details(self, details: Mapping[int, Details]) -> None:
        """Store when, where and with what photos were taken, by id."""
        self.put_rows([replace(row, details=details[each]) for each, row in self.rows(list(details)).items()], {})

    def put_hashes(self, hashes: Mapping[int, bytes]) -> None:
        """Store the perceptual hashes of photos, by id."""
        self.put_rows([replace(row, perceptual=hashes[each]) for each, row in self.rows(list(hashes)).items()], {})

    @abstractmethod
    def find(self, files: Sequence[PhotoFile]) -> Iterable[PhotoRow]:
        """Return the rows at the path of any of the files, or with the content of any."""

    @abstractmethod
    def rows(self, ids: Sequence[int]) -> Mapping[int, PhotoRow]:
        """Return the rows of some ids, by id; an id that is not there has none."""

    @abstractmethod
    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos."""

    @abstractmethod
    def new_id(self, file: PhotoFile) -> int:
        """Return the id for a photo that is new, one of the files that `find` was asked for: no other has had it."""

    @abstractmethod
    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write rows; those with the same ids are replaced, and keep their thumbnails if none is given."""

    @abstractmethod
    def remove(self, photos: Iterable[int]) -> int:
        """Remove photos by id, and count those that were there; their files are left alone."""

    @abstractmethod
    def start_over(self, model: Model) -> None:
        """Remove every photo, and expect codes of ``model`` from now on."""


def retried(change: Callable[[], _T]) -> _T:
    """Make a change of a gallery, and again if another writer was let first: then nothing of it was done.

    Raises:
        BusyGallery: If others were let first every time.
    """
    for _ in range(_TRIES - 1):
        try:
            return change()
        except BusyGallery:
            continue
    return change()


class _Batch:
    """The rows that may matter to some files, as they will be; `write` writes what changed."""

    def __init__(self, writer: Writer, files: Sequence[PhotoFile]) -> None:
        self._writer = writer
        self._rows = {row.photo.id: row for row in writer.find(files)}
        self._changed: dict[int, None] = {}
        self._removed: list[int] = []
        self._thumbnails: dict[int, bytes] = {}
        self._thumbnails_of: dict[int, int] = {}

    def take(self, result: Known | Encoded) -> Change | None:
        file = result.file
        here = next((row for row in self._rows.values() if row.photo.path == file.path), None)
        is_other_kind = isinstance(result, Encoded) and here is not None and here.photo.kind != file.kind
        if here is not None and here.photo.sha256 == file.sha256 and not is_other_kind:
            is_news = result.details is not None and result.details != here.details
            self._move(here, result)
            return Change.DESCRIBED if is_news else Change.UNCHANGED
        twins = sorted((row.photo.id, row) for row in self._rows.values() if row.photo.sha256 == file.sha256)
        if isinstance(result, Known) and not twins:
            return None
        if here is not None:
            del self._rows[here.photo.id]
            self._removed.append(here.photo.id)
        if isinstance(result, Known):
            for _, twin in twins:
                if is_gone(twin.photo.path):
                    self._move(twin, result)
                    return Change.MOVED
            self._copy(twins[0][1], result)
        else:
            self._add(result)
        return Change.ADDED if here is None else Change.UPDATED

    def write(self) -> None:
        """Write all that changed; thumbnails are read before anything is removed."""
        small = self._writer.thumbnails(list(self._thumbnails_of.values())) if self._thumbnails_of else {}
        copied = {copy: small[twin] for copy, twin in self._thumbnails_of.items() if twin in small}
        if self._removed:
            self._writer.remove(self._removed)
        rows = [self._rows[each] for each in self._changed if each in self._rows]
        if rows:
            self._writer.put_rows(rows, self._thumbnails | copied)

    def _move(self, row: PhotoRow, result: Known | Encoded) -> None:
        """Let a photo be that of a file with its content."""
        file, photo = result.file, row.photo
        label = photo.label if file.label is None else file.label
        moved = replace(photo, path=file.path, size=file.size, mtime_ns=file.mtime_ns, label=label)
        details = row.details if result.details is None else result.details
        self._keep(replace(row, photo=moved, details=details))

    def _copy(self, twin: PhotoRow, result: Known) -> None:
        copy = self._record(result.file)
        self._thumbnails_of[copy.id] = twin.photo.id
        self._keep(replace(twin, photo=copy, details=result.details))

    def _add(self, result: Encoded) -> None:
        photo = self._record(result.file)
        self._thumbnails[photo.id] = result.thumbnail
        self._keep(PhotoRow(photo, result.code, result.shape, result.details, result.perceptual))

    def _record(self, file: PhotoFile) -> PhotoRecord:
        known = {field.name: getattr(file, field.name) for field in fields(PhotoFile)}
        return PhotoRecord(**known, id=self._writer.new_id(file), indexed_at=datetime.now(UTC))

    def _keep(self, row: PhotoRow) -> None:
        if self._rows.get(row.photo.id) != row:
            self._rows[row.photo.id] = row
            self._changed[row.photo.id] = None
