"""Make one gallery equal to another.

Both are read to the end, and only what differs is written, in batches by id. So a copy that was interrupted goes on
where it stopped, an older copy gets only what is new, and an equal one costs two readings.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, IncompatibleGallery
from sketchhash.gallery.indexing import Progress
from sketchhash.gallery.protocol import OpenGallery, PhotoRow

_BATCH = 256
_REMOVED_AT_ONCE = 1000


@dataclass(frozen=True)
class Copied:
    """How many photos a copy wrote, removed and left alone."""

    written: int
    removed: int
    unchanged: int


def copy_photos(source: OpenGallery, target: OpenGallery, prune: bool = False) -> Generator[Progress, None, Copied]:
    """Copy every photo of ``source`` to ``target``, with the same ids.

    Args:
        source: Is only read.
        target: Empty, or an earlier copy of the same gallery.
        prune: Remove photos that only the target has.

    Raises:
        IncompatibleGallery: If the codes are of different models.
        BadArgument: If the target holds other photos; nothing was written.
    """
    if not target.keeps_drawings and source.info().drawings:
        raise BadArgument(
            f"{target.place} was made before there were drawings, and has no room for those of {source.place}. "
            "Name another target."
        )
    if source.model != target.model:
        raise IncompatibleGallery(
            f"The codes of {source.place} come from the model {source.model.name!r} "
            f"({source.model.fingerprint[:12]}), those of {target.place} from {target.model.name!r} "
            f"({target.model.fingerprint[:12]}). Name another target."
        )
    wanted, there = _summarise(source, target), _summarise(target, source)
    extra = _check_target(source, target, wanted, there, prune)
    for start in range(0, len(extra), _REMOVED_AT_ONCE):
        target.remove_photos(extra[start : start + _REMOVED_AT_ONCE].tolist())
    # Pairs of id and digest: what the target has in the same form need not be written.
    missing = set(np.setdiff1d(_pairs(wanted), _pairs(there))["id"].tolist())
    written = 0
    yield Progress(0, len(missing))
    for batch in _batches(source, missing):
        small = source.thumbnails([row.photo.id for row in batch])
        target.put_rows([row for row in batch if row.photo.id in small], small)
        written += len(small)
        yield Progress(written, len(missing))
    if written:
        target.settle()
    return Copied(written, len(extra), len(wanted) - len(missing))


_SUMMARY = np.dtype([("id", np.int64), ("digest", np.uint64), ("content", np.uint64)])
_Rows = NDArray[np.void]


def _summarise(gallery: OpenGallery, other: OpenGallery) -> _Rows:
    """Read all rows, without what the other gallery has no room for, and keep 24 bytes of each."""
    with_shapes, with_details = other.keeps_shapes, other.keeps_details
    rows = (
        replace(row, shape=row.shape if with_shapes else None, details=row.details if with_details else None)
        for page in gallery.pages()
        for row in page
    )
    return np.fromiter(((row.photo.id, row.digest(), int(row.photo.sha256[:16], 16)) for row in rows), dtype=_SUMMARY)


def _pairs(rows: _Rows) -> _Rows:
    return rows[["id", "digest"]].astype([("id", np.int64), ("digest", np.uint64)])


def _check_target(
    source: OpenGallery, target: OpenGallery, wanted: _Rows, there: _Rows, prune: bool
) -> NDArray[np.int64]:
    """Return the ids that only the target has; raise rather than lose anything unasked."""
    _, ours, theirs = np.intersect1d(wanted["id"], there["id"], assume_unique=True, return_indices=True)
    others = there["id"][theirs][wanted["content"][ours] != there["content"][theirs]]
    if len(others):
        raise BadArgument(
            f"{target.place} is not a copy of {source.place}: photo {others[0]} is another one there, and so are "
            f"{len(others) - 1:,} more. Nothing was written. Name another target."
        )
    extra = np.setdiff1d(there["id"], wanted["id"])
    if len(extra) and not prune:
        raise BadArgument(
            f"{target.place} has {len(extra):,} photos that are not in {source.place}. Nothing was written. "
            "To remove them there, add --prune."
        )
    return extra


def _batches(source: OpenGallery, wanted: set[int]) -> Iterator[list[PhotoRow]]:
    batch: list[PhotoRow] = []
    for page in source.pages():
        for row in page:
            if row.photo.id in wanted:
                batch.append(row)
            if len(batch) == _BATCH:
                yield batch
                batch = []
    if batch:
        yield batch
