"""A gallery on Milvus: one collection of photos with their codes, one of thumbnails.

Thumbnails have a collection of their own, so that searching does not carry them. They are written before their
photos and removed after them: a photo that can be found has one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, IncompatibleGallery, UnknownName
from sketchhash.gallery.engines.gallery import EngineGallery
from sketchhash.gallery.engines.milvus_overview import COLUMNS, Overview
from sketchhash.gallery.engines.milvus_text import LONGEST, bytes_of, name_of, stored_bytes, stored_text
from sketchhash.gallery.engines.rows import PhotoRow
from sketchhash.gallery.photos import PhotoRecord
from sketchhash.gallery.schema import CodeMaker
from sketchhash.gallery.store import GalleryInfo, path_range
from sketchhash.gallery.surveying import Sample
from sketchhash.index.addresses import Address
from sketchhash.index.hits import Hits, Wanted
from sketchhash.index.milvus import Collection, Layout, MilvusServer
from sketchhash.index.milvus.collection import Consistency, Kind, Row, code_of
from sketchhash.index.milvus.exact import ExactSearch

_FORMAT = 1
_OPTIONS = ("timeout", "tls", "database", "index", "nlist", "nprobe")
_KINDS: Mapping[str, Kind] = {"BIN_FLAT": "BIN_FLAT", "BIN_IVF_FLAT": "BIN_IVF_FLAT"}

# A second for each million photos or so: not with every search.
_COUNTED_EVERY = 60.0

_TEXTS = {"path": LONGEST, "label": LONGEST, "sha256": 64}
_NUMBERS = ("size", "mtime_ns", "has_label", "indexed_at_us")
_PIECES = {"jpeg": LONGEST, "jpeg_end": LONGEST}
_NO_CODE = bytes(1)  # Milvus has no collection without vectors
_EPOCH = datetime.fromtimestamp(0, UTC)


class MilvusGallery(EngineGallery):
    """An open gallery at ``milvus://user:password@host:port/collection``."""

    def __init__(self, server: MilvusServer, consistency: Consistency) -> None:
        """Take the gallery that the server's address names.

        Raises:
            BadArgument: If there is none.
        """
        address = server.address
        self._server = server
        self._photos_held = Collection(server, address.name, consistency)
        self._thumbnails_held = Collection(server, _thumbnails(address), consistency)
        super().__init__(address.shown, _maker(self._photos_held, address))
        probes = address.number("nprobe", 0) if "nprobe" in address.options else None
        self._search = ExactSearch(self._photos_held, probes)
        self._turn = Lock()
        self._overview: tuple[float, Overview] | None = None

    @classmethod
    def open(cls, address: str, consistency: Consistency = "Bounded") -> Self:
        """Open the gallery at an ``address``; who copies wants the ``Strong`` consistency."""
        return cls._with(_parsed(address), None, consistency)

    @classmethod
    def create(cls, address: str, maker: CodeMaker) -> Self:
        """Open the gallery at an ``address``, which is made for codes of ``maker`` if it is not there."""
        return cls._with(_parsed(address), maker, "Strong")

    @classmethod
    def _with(cls, address: Address, maker: CodeMaker | None, consistency: Consistency) -> Self:
        server = MilvusServer(address)
        try:
            if maker is not None:
                Collection.create(server, _thumbnails(address), Layout(8, _PIECES))
                Collection.create(server, address.name, _layout(address, maker))
            return cls(server, consistency)
        except BaseException:
            server.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def count(self) -> int:
        """Count the photos now."""
        return len(self._photos_held)

    def nearest(self, query: NDArray[np.uint8], k: int, folder: Path | None, label: str | None) -> Hits:
        """Find the ``k`` nearest codes of one query ``(1, bits // 8)``."""
        conditions: list[str] = []
        if folder is not None:
            start, end = (stored_text(place) for place in path_range(folder))
            conditions += [f'path > "{start}"', f'path < "{end}"']
        if label is not None:
            conditions += ["has_label == 1", f'label == "{stored_text(label.encode())}"']
        (hits,) = self._search(query, Wanted(k, self.maker.bits), " and ".join(conditions))
        return hits

    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Give the rows of some ids, by id."""
        found = self._photos_held.rows(ids, ["code", *_TEXTS, *_NUMBERS])
        return {photo: _photo_row(row) for photo, row in found.items()}

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Give all rows, by id, in pages."""
        for page in self._photos_held.pages(["code", *_TEXTS, *_NUMBERS]):
            yield [_photo_row(row) for row in page]

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Give the small JPEGs of some photos."""
        found = self._thumbnails_held.rows(ids, list(_PIECES))
        return {photo: bytes_of(row["jpeg"], row["jpeg_end"]) for photo, row in found.items()}

    def put(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos; after an error some of them may be there, and all may be put again."""
        self._thumbnails_held.put([_thumbnail_row(row.photo.id, thumbnails[row.photo.id]) for row in rows])
        self._photos_held.put([_milvus_row(row) for row in rows])

    def remove(self, ids: Sequence[int]) -> None:
        """Remove photos by id."""
        self._photos_held.remove(ids)
        self._thumbnails_held.remove(ids)

    def settle(self) -> None:
        """Have new codes indexed."""
        self._photos_held.settle()

    def start_following(self) -> None:
        """Count the photos, and look at all of them once."""
        super().start_following()
        self._look()

    def revision(self) -> int:
        """Give a number that changes once a minute: Milvus does not tell whether anything has."""
        return int(monotonic() // _COUNTED_EVERY)

    def info(self) -> GalleryInfo:
        """Count what the gallery holds; how much room that takes is not known here, and given as 0."""
        overview = self._look()
        last = overview.last_indexed_us
        labels = dict(sorted(overview.labels.items()))
        return GalleryInfo(len(overview.ids), self.maker, 0, labels, None if last is None else _when(last))

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Give the first and the last path, as of the last look."""
        return self._look(most_aged=None).ends

    def top_folders(self, start: int, most: int) -> list[tuple[bytes, int]]:
        """Count the photos of each folder that is named from byte ``start`` of the paths on."""
        return self._look().top_folders(start, most)

    def sample(self, most: int) -> Sample:
        """Give at most so many photos, spread evenly over when they were indexed."""
        ids = self._look(most_aged=None).ids
        places = np.unique(np.linspace(0, len(ids) - 1, most).astype(np.int64)).tolist() if ids else []
        rows = sorted(self.rows([ids[place] for place in places]).items())
        codes = np.frombuffer(b"".join(row.code for _, row in rows), dtype=np.uint8)
        return Sample(
            tuple(photo for photo, _ in rows),
            tuple(row.photo.label for _, row in rows),
            codes.reshape(-1, self.maker.bits // 8),
        )

    def _look(self, most_aged: float | None = _COUNTED_EVERY) -> Overview:
        """Give the gallery as a whole, at most so many seconds old, or of any age."""
        with self._turn:
            last = self._overview
            if last is None or (most_aged is not None and monotonic() - last[0] >= most_aged):
                last = self._overview = monotonic(), Overview.of(self._photos_held.pages(COLUMNS))
            return last[1]


def _parsed(text: str) -> Address:
    address = Address.parse(text)
    address.require_options(_OPTIONS)
    if not address.name.isidentifier() or not address.name.isascii():
        raise BadArgument(
            f"A collection has a name of letters, digits and _, not {address.name!r}. "
            "Write milvus://host:port/collection"
        )
    return address


def _thumbnails(address: Address) -> str:
    return f"{address.name}_thumbnails"


def _layout(address: Address, maker: CodeMaker) -> Layout:
    name = address.options.get("index", "BIN_FLAT")
    if name not in _KINDS:
        raise UnknownName("index of Milvus", name, _KINDS)
    about = json.dumps({"sketchhash": _FORMAT, "model": maker.name, "fingerprint": maker.fingerprint})
    return Layout(maker.bits, _TEXTS, _NUMBERS, about, _KINDS[name], address.number("nlist", 128))


def _maker(collection: Collection, address: Address) -> CodeMaker:
    try:
        about = json.loads(collection.about)
        version, name, fingerprint = about["sketchhash"], about["model"], about["fingerprint"]
    except (ValueError, TypeError, KeyError) as problem:
        raise BadArgument(f"The collection at {address.shown} is no gallery of sketchhash. Name another.") from problem
    if version != _FORMAT:
        raise IncompatibleGallery(
            f"{address.shown} has format version {version}, and this sketchhash reads {_FORMAT}. "
            "Type: pip install --upgrade sketchhash"
        )
    return CodeMaker(name, fingerprint, collection.bits)


def _thumbnail_row(photo_id: int, jpeg: bytes) -> Row:
    first, second = stored_bytes(jpeg)
    return {"id": photo_id, "code": _NO_CODE, "jpeg": first, "jpeg_end": second}


def _milvus_row(row: PhotoRow) -> Row:
    photo = row.photo
    return {
        "id": photo.id,
        "code": row.code,
        "path": stored_text(os.fsencode(photo.path)),
        "label": stored_text((photo.label or "").encode()),
        "has_label": int(photo.label is not None),
        "sha256": photo.sha256,
        "size": photo.size,
        "mtime_ns": photo.mtime_ns,
        "indexed_at_us": (photo.indexed_at - _EPOCH) // timedelta(microseconds=1),
    }


def _photo_row(row: Row) -> PhotoRow:
    photo = PhotoRecord(
        Path(os.fsdecode(name_of(row["path"]))),
        row["sha256"],
        row["size"],
        row["mtime_ns"],
        name_of(row["label"]).decode() if row["has_label"] else None,
        id=row["id"],
        indexed_at=_when(row["indexed_at_us"]),
    )
    return PhotoRow(photo, code_of(row))


def _when(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
