"""Find the copies of a photo among the photos of a gallery, and the one of them to keep.

Photos are copies if their files are equal, or if their perceptual hashes differ in a few bits: a photo that was
resized, recompressed, brightened a little or cropped at its edges. Codes are no help: they are made to agree for photos
of one kind. The best of some copies is the largest picture, then the largest file, then the oldest; the others belong
to it if they are near to it itself, so that groups do not chain from one picture to a quite different one.

How the radius was chosen, and what it finds: ``results/copies.json``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.protocol import OpenGallery, PhotoRow
from sketchhash.imaging.perceptual import PERCEPTUAL_BYTES
from sketchhash.index import near_pairs

COPY_RADIUS = 9
"""Bits in which the hashes of copies differ at most; others of different photos differ in about 32."""

MOST_RADIUS = 24
"""Beyond, photos that have nothing in common would be taken for copies."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy, and in how many bits its perceptual hash differs from that of the photo to keep."""

    photo: PhotoRecord
    distance: int


@dataclass(frozen=True, slots=True)
class CopyGroup:
    """A photo to keep, why, and its copies, the nearest first."""

    keep: PhotoRecord
    reason: str
    copies: tuple[Copy, ...]


def find_copies(gallery: OpenGallery, radius: int | None = COPY_RADIUS) -> list[CopyGroup]:
    """Return the groups of photos that are copies of one another, the largest groups first; nothing is changed.

    Args:
        gallery: Is only read.
        radius: In how many bits of 64 the perceptual hashes of copies may differ; None for equal files alone.
    """
    if radius is not None and not 0 <= radius <= MOST_RADIUS:
        raise BadArgument(f"The radius is a number of bits, 0 to {MOST_RADIUS}; got {radius}.")
    seen = np.fromiter(_read(gallery), dtype=_SEEN)
    seen = seen[np.lexsort((seen["id"], seen["time"], -seen["size"], -seen["pixels"]))]  # the best first
    near = _neighbours(seen, radius)
    taken: set[int] = set()
    groups = []
    for best in sorted(near):
        copies = [(far, other) for far, other in near[best] if other not in taken] if best not in taken else []
        if copies:
            taken.update((best, *(other for _, other in copies)))
            groups.append(_group(gallery, seen, best, sorted(copies)))
    return sorted(filter(None, groups), key=lambda group: (-len(group.copies), group.keep.id))


# What decides about a photo, in 56 bytes: a million of them take no more than a few photos.
_SEEN = np.dtype(
    [
        ("id", np.int64),
        ("pixels", np.int64),
        ("size", np.int64),
        ("time", np.int64),
        ("content", np.uint8, 16),
        ("hash", np.uint8, PERCEPTUAL_BYTES),
        ("has_hash", np.bool_),
    ]
)
_Seen = NDArray[np.void]
_NO_HASH = bytes(PERCEPTUAL_BYTES)


def _read(gallery: OpenGallery) -> Iterator[tuple[object, ...]]:
    for page in gallery.pages():
        for row in page:
            photo, own = row.photo, row.perceptual or b""
            has_hash = len(own) == PERCEPTUAL_BYTES
            content = np.frombuffer(bytes.fromhex(photo.sha256)[:16], dtype=np.uint8)
            own_hash = np.frombuffer(own if has_hash else _NO_HASH, dtype=np.uint8)
            yield photo.id, _pixels(row), photo.size, photo.mtime_ns, content, own_hash, has_hash


def _pixels(row: PhotoRow) -> int:
    details = row.details
    return 0 if details is None or not details.width or not details.height else details.width * details.height


def _neighbours(seen: _Seen, radius: int | None) -> dict[int, list[tuple[int, int]]]:
    """Return for each photo, by its place, the later ones that are copies of it and how far they are."""
    near: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for places in _equal(seen["content"]):
        for better, place in enumerate(places):
            near[place] += ((0, other) for other in places[better + 1 :])
    if radius is None:
        return near
    hashed = np.flatnonzero(seen["has_hash"])
    # Equal hashes are one: a thousand equal pictures would be half a million pairs.
    distinct, which = np.unique(seen["hash"][hashed], axis=0, return_inverse=True)
    owners: dict[int, list[int]] = defaultdict(list)
    for place, own in zip(hashed.tolist(), which.tolist(), strict=True):
        owners[own].append(place)
    pairs = near_pairs(distinct, radius)
    far = np.bitwise_count(distinct[pairs[:, 0]] ^ distinct[pairs[:, 1]]).sum(axis=1)
    joined = [(one, other, bits) for (one, other), bits in zip(pairs.tolist(), far.tolist(), strict=True)]
    joined += [(own, own, 0) for own, places in owners.items() if len(places) > 1]
    for one, other, bits in joined:
        for place in owners[one]:
            for another in owners[other]:
                if place != another and (one != other or place < another):
                    near[min(place, another)].append((bits, max(place, another)))
    return {place: list({other: (bits, other) for bits, other in some}.values()) for place, some in near.items()}


def _equal(contents: NDArray[np.uint8]) -> Iterator[list[int]]:
    """Yield the places, in ascending order, of rows that are equal."""
    order = np.lexsort(contents.T)
    starts = np.flatnonzero((contents[order][1:] != contents[order][:-1]).any(axis=1)) + 1
    yield from (group.tolist() for group in np.split(order, starts) if len(group) > 1)


def _group(gallery: OpenGallery, seen: _Seen, best: int, copies: Sequence[tuple[int, int]]) -> CopyGroup | None:
    """Fetch the photos of a group; those that were removed meanwhile are left out."""
    places = [best, *(place for _, place in copies)]
    records = [_photo(gallery, int(seen["id"][place])) for place in places]
    keep, *others = records
    found = tuple(Copy(photo, far) for photo, (far, _) in zip(others, copies, strict=True) if photo is not None)
    return CopyGroup(keep, _reason(seen[places]), found) if keep is not None and found else None


def _photo(gallery: OpenGallery, photo_id: int) -> PhotoRecord | None:
    try:
        return gallery.photo(photo_id)
    except BadArgument:
        return None


def _reason(seen: _Seen) -> str:
    """Say why the first of some photos is the one to keep."""
    first, second = seen[0], seen[1:]
    for column, reason in (("pixels", "the largest picture"), ("size", "the largest file"), ("time", "the oldest")):
        if (second[column] != first[column]).all():
            return reason
    return "the first that was indexed"
