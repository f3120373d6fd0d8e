"""A gallery on Milvus: one collection of photos with all that belongs to them, and thumbnails beside it.

Thumbnails have a collection of their own, so that searching does not carry them, or are files (`thumbnail_stores`).
They are written before their photos and removed after them: a photo that can be found has one.

Milvus has neither transactions nor sequences. So an id is made from a photo's path and content: whoever stores the same
file, once more after a crash or at the same time as another, stores the same row.
"""

from __future__ import annotations

import json
import os
from array import array
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Self
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from sketchhash.engines.addresses import Address
from sketchhash.engines.engine_gallery import EngineGallery
from sketchhash.engines.milvus import (
    LONGEST,
    Collection,
    CollectionLayout,
    Consistency,
    Kind,
    MilvusServer,
    Row,
    code_of,
)
from sketchhash.engines.milvus_index import ExactSearch
from sketchhash.engines.thumbnail_stores import (
    THUMBNAIL_LAYOUT,
    CollectionThumbnails,
    FileThumbnails,
    ThumbnailStore,
)
from sketchhash.errors import BadArgument, UnknownName
from sketchhash.gallery.filters import Condition, Filter, LeftOut
from sketchhash.gallery.photos import PhotoFile, PhotoRecord, absolute, path_range
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, Opener, PhotoRow, Sample
from sketchhash.gallery.schema import other_format
from sketchhash.gallery.writer import DETAILS, Writer
from sketchhash.imaging.details import Details, moment_of
from sketchhash.index.protocol import Hits, Wanted
from sketchhash.model import Model
from sketchhash.tokens.shape import SHAPE_VERSION

_SPECIAL = frozenset("%\"'\\")

_FORMAT = 1
_OPTIONS = ("timeout", "tls", "database", "index", "nlist", "nprobe", "thumbnails")
_KINDS: Mapping[str, Kind] = {"BIN_FLAT": "BIN_FLAT", "BIN_IVF_FLAT": "BIN_IVF_FLAT"}

# A second for each million photos or so: not with every search.
_COUNTED_EVERY = 60.0

_TEXTS = {"path": LONGEST, "label": LONGEST, "sha256": 64}
_SHAPE = {"shape": 1024}  # collections of before there were shapes have no such column, and cannot get one
_NUMBERS = ("size", "mtime_ns", "has_label", "indexed_at_us")
# The same goes for details. Milvus keeps no null: then a text is empty and a number 0, and a flag says so.
_DETAIL_TEXTS = {"camera": 1024, "description": 16_384}
_DETAIL_NUMBERS = ("has_details", "has_date", "has_place", "taken_at", "width", "height", "sidecars")
_DETAIL_REALS = ("latitude", "longitude")
_DETAIL_COLUMNS = (*_DETAIL_TEXTS, *_DETAIL_NUMBERS, *_DETAIL_REALS)
_EPOCH = datetime.fromtimestamp(0, UTC)
_HASH = {"perceptual": 24}  # "" for none so far, and otherwise ":" and the hash in hexadecimal
_VIEWS = {"views": 8192}  # "" for a photo, and for a drawing ":" and its further codes in hexadecimal
_ID_BITS = 53  # what numbers in a browser hold exactly
_OVERVIEW_COLUMNS = ("path", "label", "has_label", "indexed_at_us")
_DATED_COLUMNS = ("has_date", "has_place", "taken_at")
_FLAGS = {"label": "has_label", "taken_at": "has_date", "latitude": "has_place", "longitude": "has_place"}


class MilvusGallery(EngineGallery):
    """An open gallery at ``milvus://user:password@host:port/collection``."""

    def __init__(self, server: MilvusServer, consistency: Consistency) -> None:
        """Open the gallery that the server's address names.

        Raises:
            BadArgument: If there is none.
        """
        address = server.address
        self._server = server
        self._photo_rows = Collection(server, address.name, consistency)
        super().__init__(address.shown, _model(self._photo_rows, address))
        self._consistency = consistency
        self._thumbnails = _thumbnail_store(self._photo_rows)
        probes = address.number("nprobe", 0) if "nprobe" in address.options else None
        self._search = ExactSearch(self._photo_rows, probes)
        self.keeps_shapes = _SHAPE.keys() <= self._photo_rows.columns
        self.keeps_details = self._photo_rows.columns.issuperset(_DETAIL_COLUMNS)
        self.keeps_hashes = _HASH.keys() <= self._photo_rows.columns
        self.keeps_drawings = _VIEWS.keys() <= self._photo_rows.columns
        named = ("code", *_TEXTS, *_SHAPE, *_NUMBERS, *_DETAIL_COLUMNS, *_HASH, *_VIEWS)
        self._columns = [name for name in named if name in self._photo_rows.columns]
        self._turn = Lock()
        self._overview: tuple[float, RowOverview] | None = None

    @classmethod
    def open(cls, address: str, consistency: Consistency = "Bounded") -> Self:
        """Open the gallery at an ``address``; copying needs ``Strong`` consistency."""
        return cls._with(_parsed(address), None, consistency)

    @classmethod
    def create(cls, address: str, model: GalleryModel) -> Self:
        """Open the gallery at an ``address``, which is made for codes of ``model`` if it is not there."""
        return cls._with(_parsed(address), model, "Strong")

    @classmethod
    def _with(cls, address: Address, model: GalleryModel | None, consistency: Consistency) -> Self:
        server = MilvusServer(address)
        try:
            if model is not None:
                if "thumbnails" not in address.options:
                    Collection.create(server, _thumbnail_collection(address.name), THUMBNAIL_LAYOUT)
                _require_place(Collection.create(server, address.name, _layout(address, model)), address)
            return cls(server, consistency)
        except BaseException:
            server.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def count(self) -> int:
        """Count the photos now."""
        return len(self._photo_rows)

    def nearest(self, query: NDArray[np.uint8], k: int, only: Filter) -> Hits:
        """Find the ``k`` nearest codes of one query ``(1, bits // 8)``."""
        wanted = Wanted(k, self.model.bits)
        if not self.keeps_details and (only.needs_date or only.near):
            (hits,) = self._search.among(query, wanted, [])
            return hits
        condition = _written(only)
        if only.near is None:
            (hits,) = self._search(query, wanted, condition)
            return hits
        pages = self._photo_rows.selected(condition, list(_DETAIL_REALS))
        places = [(row["id"], row["latitude"], row["longitude"]) for page in pages for row in page]
        found = np.array(places, dtype=[("id", np.int64), ("latitude", np.float64), ("longitude", np.float64)])
        inside = found["id"][only.near.contains(found["latitude"], found["longitude"])]
        (hits,) = self._search.among(query, wanted, inside.tolist())
        return hits

    def left_out(self, only: Filter) -> LeftOut:
        """Count the photos that pass but for the date or place that is asked for, and have none."""
        others = _written(only.without_details())
        flags = {"has_date == 0": only.needs_date, "has_place == 0": only.near is not None}
        return LeftOut(
            *(
                self._photo_rows.count(" and ".join(filter(None, (others, flag if self.keeps_details else ""))))
                if is_asked
                else 0
                for flag, is_asked in flags.items()
            )
        )

    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Return the rows of some ids, by id."""
        found = self._photo_rows.rows(ids, self._columns)
        return {photo: _photo_row(row) for photo, row in found.items()}

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Yield all rows, by id, in pages."""
        for page in self._photo_rows.pages(self._columns):
            yield [_photo_row(row) for row in page]

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos."""
        return self._thumbnails.get(ids)

    @property
    def opener(self) -> Opener:
        """A function that opens the gallery in another process, to write to it at the same time."""
        return partial(MilvusGallery.create, self._server.address.text, self.model)

    @contextmanager
    def writing(self, model: Model | None = None) -> Iterator[MilvusWriter]:
        """Change the gallery: what the writer does is kept as it does it; see `OpenGallery.writing`."""
        self.require(model)
        yield MilvusWriter(self)

    def photos_at(self, paths: Sequence[Path]) -> dict[Path, PhotoRow]:
        """Return the rows of the photos at some absolute paths."""
        return {row.photo.path: row for row in self.selected(_any_of("path", map(_stored_path, paths)))}

    def within(self, place: Path) -> Iterator[PhotoRecord]:
        """Yield the photo at ``place``, or those at any depth below it."""
        start, end = (stored_text(each) for each in path_range(place))
        below = f'(path > "{start}" and path < "{end}")'
        return (row.photo for row in self.selected(f'path == "{_stored_path(absolute(place))}" or {below}'))

    def has_content(self, sha256: str) -> bool:
        """Tell whether a photo with this content is in the gallery."""
        return self._photo_rows.count(f'sha256 == "{sha256}"') > 0

    def without_hash(self, most: int) -> list[int]:
        """Return the ids of at most ``most`` photos that have no perceptual hash."""
        pages = self._photo_rows.selected('perceptual == ""', []) if self.keeps_hashes else iter(())
        return [row["id"] for row in islice(chain.from_iterable(pages), most)]

    def count_without_shape(self) -> int:
        """Count the photos that have no shape."""
        return self._photo_rows.count('shape == ""') if self.keeps_shapes else 0

    def selected(self, condition: str) -> Iterator[PhotoRow]:
        """Yield the rows that fulfil a condition as Milvus has them."""
        for page in self._photo_rows.selected(condition, self._columns):
            yield from map(_photo_row, page)

    def put(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos after their thumbnails; after an error some may be there, and all may be put again."""
        self._thumbnails.put({row.photo.id: thumbnails[row.photo.id] for row in rows if row.photo.id in thumbnails})
        self._photo_rows.put([{name: row[name] for name in ("id", *self._columns)} for row in map(_milvus_row, rows)])

    def drop(self, ids: Sequence[int]) -> None:
        """Remove photos before their thumbnails."""
        self._photo_rows.remove(ids)
        self._thumbnails.remove(ids)

    def settle(self) -> None:
        """Make Milvus index new codes, and count anew when that is asked for."""
        self._photo_rows.settle()
        self._overview = None

    def prepare_search(self, lasting: bool = False) -> None:
        """Count the photos; if ``lasting``, read all of them once, so that no later question has to."""
        super().prepare_search(lasting)
        if lasting:
            self._read_all()

    def revision(self) -> int:
        """Return a number that changes once a minute: Milvus does not tell whether anything has."""
        return int(monotonic() // _COUNTED_EVERY)

    def info(self) -> GalleryInfo:
        """Count photos and labels; the size is not known, and 0."""
        overview = self._read_all()
        last = overview.last_indexed_us
        labels = dict(sorted(overview.labels.items()))
        when = None if last is None else _when(last)
        counts = overview.dated, overview.placed
        taken = overview.taken or (None, None)
        first, latest = map(_taken, taken)
        return GalleryInfo(
            len(overview.ids), self.model, 0, labels, when, *counts, first, latest, drawings=overview.drawings
        )

    def path_ends(self) -> tuple[bytes, bytes] | None:
        """Return the first and the last path, as of the last reading."""
        return self._read_all(oldest=None).ends

    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``."""
        return self._read_all().top_folders(below, most)

    def sample(self, most: int) -> Sample:
        """Return at most ``most`` photos, spread evenly over when they were indexed."""
        ids = self._read_all(oldest=None).ids
        places = np.unique(np.linspace(0, len(ids) - 1, most).astype(np.int64)).tolist() if ids else []
        rows = sorted(self.rows([ids[place] for place in places]).items())
        codes = np.frombuffer(b"".join(row.code for _, row in rows), dtype=np.uint8)
        return Sample(
            tuple(photo for photo, _ in rows),
            tuple(row.photo.label for _, row in rows),
            codes.reshape(-1, self.model.bits // 8),
        )

    def _read_all(self, oldest: float | None = _COUNTED_EVERY) -> RowOverview:
        """Read the gallery as a whole; what was read before may be ``oldest`` seconds old, or of any age if None."""
        columns = _OVERVIEW_COLUMNS + (_DATED_COLUMNS if self.keeps_details else ())
        columns += tuple(_VIEWS) if self.keeps_drawings else ()
        with self._turn:
            last = self._overview
            if last is None or (oldest is not None and monotonic() - last[0] >= oldest):
                last = self._overview = monotonic(), RowOverview.of(self._photo_rows.pages(columns))
            return last[1]


class MilvusWriter(Writer):
    """Changes a gallery, call by call; get one from `MilvusGallery.writing`."""

    def __init__(self, gallery: MilvusGallery) -> None:
        """Write to a gallery that was opened to be written."""
        self._gallery = gallery
        self._taken: set[int] = set()

    def find(self, files: Sequence[PhotoFile]) -> list[PhotoRow]:
        """Return the rows at the path of any of the files, or with the content of any."""
        conditions = [
            _any_of("path", (_stored_path(file.path) for file in files)),
            _any_of("sha256", (file.sha256 for file in files)),
            f"id in {[made_id(file) for file in files]}",
        ]
        found = list(self._gallery.selected(" or ".join(conditions)))
        self._taken.update(row.photo.id for row in found)
        wanted = {file.path for file in files}, {file.sha256 for file in files}
        return [row for row in found if row.photo.path in wanted[0] or row.photo.sha256 in wanted[1]]

    def rows(self, ids: Sequence[int]) -> dict[int, PhotoRow]:
        """Return the rows of some ids, by id."""
        return self._gallery.rows(ids)

    def thumbnails(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the small JPEGs of some photos."""
        return self._gallery.thumbnails(ids)

    def new_id(self, file: PhotoFile) -> int:
        """Return an id that is made from the file; another if a photo that moved away, or any other, has that."""
        attempt = 0
        while (photo := made_id(file, attempt)) in self._taken or (attempt and self._gallery.rows([photo])):
            attempt += 1
        self._taken.add(photo)
        return photo

    def put_rows(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write rows; those with the same ids are replaced, and keep their thumbnails if none is given."""
        self._gallery.put(rows, thumbnails)

    def remove(self, photos: Iterable[int]) -> int:
        """Remove photos by id, and count those that were there."""
        ids = list(photos)
        there = len(self._gallery.rows(ids)) if ids else 0
        self._gallery.drop(ids)
        return there

    def start_over(self, model: Model) -> None:
        """Refuse: a collection holds codes of one width, and cannot be emptied and changed at once."""
        raise BadArgument(
            f"A gallery on Milvus cannot start over with another model, {GalleryModel.of(model)}. "
            "Name another collection, or drop this one first."
        )


def made_id(file: PhotoFile, attempt: int = 0) -> int:
    """Return an id that follows from a file's path and content, 1 or more."""
    text = b"%d\0%s\0%s" % (attempt, file.sha256.encode(), os.fsencode(file.path))
    digest = blake2b(text, digest_size=8).digest()
    return int.from_bytes(digest, "big") % ((1 << _ID_BITS) - 1) + 1


@dataclass
class RowOverview:
    """The numbers of a gallery; ``folders`` counts the photos that lie directly in each.

    Milvus does not group and count: all rows are read, without their codes, and only the numbers are kept.
    """

    ids: array[int] = field(default_factory=lambda: array("q"))
    labels: Counter[str] = field(default_factory=Counter)
    folders: Counter[bytes] = field(default_factory=Counter)
    ends: tuple[bytes, bytes] | None = None
    last_indexed_us: int | None = None
    dated: int = 0
    placed: int = 0
    taken: tuple[int, int] | None = None
    drawings: int = 0

    @classmethod
    def of(cls, pages: Iterable[Sequence[Row]]) -> RowOverview:
        """Read rows with the ``_OVERVIEW_COLUMNS``."""
        overview = cls()
        for page in pages:
            for row in page:
                overview._count(row)
        return overview

    def top_folders(self, below: bytes, most: int) -> list[tuple[bytes, int]]:
        """Count the photos at any depth of each folder in ``below``, which ends with a slash; the fullest first."""
        tops: Counter[bytes] = Counter()
        for folder, photos in self.folders.items():
            path = folder + os.fsencode(os.sep)
            top, separator, _ = path[len(below) :].partition(os.fsencode(os.sep))
            if path.startswith(below) and separator and top:
                tops[top] += photos
        return sorted(tops.items(), key=lambda each: (-each[1], each[0]))[:most]

    def _count(self, row: Row) -> None:
        path = name_of(row["path"])
        self.ids.append(row["id"])
        self.folders[os.path.dirname(path)] += 1  # noqa: PTH120 - bytes
        if row["has_label"]:
            self.labels[name_of(row["label"]).decode("utf-8")] += 1
        first, last = self.ends or (path, path)
        self.ends = min(first, path), max(last, path)
        self.last_indexed_us = max(self.last_indexed_us or 0, row["indexed_at_us"])
        self.placed += row.get("has_place", 0)
        self.drawings += bool(row.get("views"))
        if row.get("has_date"):
            self.dated += 1
            earliest, latest = self.taken or (row["taken_at"], row["taken_at"])
            self.taken = min(earliest, row["taken_at"]), max(latest, row["taken_at"])


def stored_text(name: bytes) -> str:
    r"""Write a name as text that stays readable: what is not UTF-8, not printable or special is written as ``%FF``.

    Each character is written by itself, so names that begin alike are stored alike, and a folder is a range of texts.

    >>> print(stored_text("/photos/café 100%.jpg".encode()), stored_text(b"\xff\"\n"))
    /photos/café 100%25.jpg %FF%22%0A
    """
    return "".join(
        character if character.isprintable() and character not in _SPECIAL else _escaped(character)
        for character in name.decode("utf-8", "surrogateescape")
    )


def name_of(text: str) -> bytes:
    r"""Return the name that was stored as this text.

    >>> name_of(stored_text(b"\xff\"%41\n"))
    b'\xff"%41\n'
    """
    return unquote_to_bytes(text)


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))


def _parsed(text: str) -> Address:
    address = Address.parse(text)
    address.require_options(_OPTIONS)
    if not address.name.isidentifier() or not address.name.isascii():
        raise BadArgument(
            f"A collection has a name of letters, digits and _, not {address.name!r}. "
            "Write milvus://host:port/collection"
        )
    return address


def _any_of(column: str, texts: Iterable[str]) -> str:
    listed = ", ".join(f'"{text}"' for text in texts)
    return f"{column} in [{listed}]"


def _stored_path(path: Path) -> str:
    return stored_text(os.fsencode(path))


def _thumbnail_collection(name: str) -> str:
    return f"{name}_thumbnails"


def _thumbnail_store(photos: Collection) -> ThumbnailStore:
    """Open what the gallery's own description names: everybody finds the same, whatever their address says."""
    url = _about(photos).get("thumbnails")
    if url is not None:
        return FileThumbnails(url)
    return CollectionThumbnails(Collection(photos.server, _thumbnail_collection(photos.name), photos.consistency))


def _require_place(photos: Collection, address: Address) -> None:
    wanted, kept = address.options.get("thumbnails"), _about(photos).get("thumbnails")
    if wanted is not None and wanted != kept:
        where = "in Milvus itself" if kept is None else f"at {kept}"
        raise BadArgument(
            f"The gallery {address.shown} keeps its thumbnails {where}, which cannot be changed. "
            "Leave thumbnails= out of its address, or copy the gallery to another."
        )


def _layout(address: Address, model: GalleryModel) -> CollectionLayout:
    name = address.options.get("index", "BIN_FLAT")
    if name not in _KINDS:
        raise UnknownName("index of Milvus", name, _KINDS)
    described = {"sketchhash": _FORMAT, "model": model.name, "fingerprint": model.fingerprint}
    if "thumbnails" in address.options:
        FileThumbnails(address.options["thumbnails"])  # before a collection is made for it
        described["thumbnails"] = address.options["thumbnails"]
    about = json.dumps(described)
    return CollectionLayout(
        model.bits,
        _TEXTS | _SHAPE | _DETAIL_TEXTS | _HASH | _VIEWS,
        (*_NUMBERS, *_DETAIL_NUMBERS),
        _DETAIL_REALS,
        about,
        _KINDS[name],
        address.number("nlist", 128),
    )


def _about(collection: Collection) -> dict[str, Any]:
    try:
        about = json.loads(collection.about)
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}


def _model(collection: Collection, address: Address) -> GalleryModel:
    about = _about(collection)
    try:
        version, name, fingerprint = about["sketchhash"], about["model"], about["fingerprint"]
    except (ValueError, TypeError, KeyError) as problem:
        raise BadArgument(f"The collection at {address.shown} is not a sketchhash gallery. Name another.") from problem
    if version != _FORMAT:
        raise other_format(address.shown, version, _FORMAT)
    return GalleryModel(name, fingerprint, collection.bits)


def _milvus_row(row: PhotoRow) -> Row:
    photo = row.photo
    return {
        "id": photo.id,
        "code": row.code,
        "path": stored_text(os.fsencode(photo.path)),
        "label": stored_text((photo.label or "").encode()),
        "has_label": int(photo.label is not None),
        "sha256": photo.sha256,
        "shape": "" if row.shape is None else f"{SHAPE_VERSION}:{b64encode(row.shape).decode('ascii')}",
        "size": photo.size,
        "mtime_ns": photo.mtime_ns,
        "indexed_at_us": (photo.indexed_at - _EPOCH) // timedelta(microseconds=1),
        "perceptual": "" if row.perceptual is None else f":{row.perceptual.hex()}",
        "views": f":{row.views.hex()}" if photo.kind == "drawing" else "",
        **_detail_columns(row.details),
    }


def _detail_columns(details: Details | None) -> Row:
    known = details or Details()
    named: dict[str, Any] = dict(zip(DETAILS.split(", "), known.columns(), strict=True))
    texts = {name: stored_text((named.pop(name) or "").encode()) for name in _DETAIL_TEXTS}
    numbers = {name: 0 if value is None else value for name, value in named.items()}
    flags = {
        "has_details": int(details is not None),
        "has_date": int(known.taken_at is not None),
        "has_place": int(known.latitude is not None),
    }
    return {**texts, **numbers, **flags, **{name: float(numbers[name]) for name in _DETAIL_REALS}}


def _details(row: Row) -> Details | None:
    if not row.get("has_details"):
        return None
    named = {name: row[name] for name in DETAILS.split(", ")}
    named |= {name: name_of(row[name]).decode() or None for name in _DETAIL_TEXTS}
    named |= {name: row[name] or None for name in ("width", "height")}
    named |= {} if row["has_date"] else {"taken_at": None}
    named |= {} if row["has_place"] else dict.fromkeys(_DETAIL_REALS)
    return Details.of_columns(list(named.values()))


def _taken(seconds: int | None) -> datetime | None:
    return None if seconds is None else moment_of(seconds)


def _written(only: Filter) -> str:
    """Write a filter as Milvus reads it."""
    return " and ".join(map(_compared, only.conditions()))


def _compared(condition: Condition) -> str:
    column, operator, value = condition
    if isinstance(value, bytes | str):
        value = f'"{stored_text(value.encode() if isinstance(value, str) else value)}"'
    flag = f"{_FLAGS[column]} == 1 and " if column in _FLAGS else ""
    return f"{flag}{column} {'==' if operator == '=' else operator} {value}"


def _photo_row(row: Row) -> PhotoRow:
    is_drawing, views = row.get("views", "")[:1], row.get("views", "")[1:]
    photo = PhotoRecord(
        Path(os.fsdecode(name_of(row["path"]))),
        row["sha256"],
        row["size"],
        row["mtime_ns"],
        name_of(row["label"]).decode() if row["has_label"] else None,
        "drawing" if is_drawing else "photo",
        id=row["id"],
        indexed_at=_when(row["indexed_at_us"]),
    )
    version, _, shape = row.get("shape", "").partition(":")
    kept = b64decode(shape) if version == str(SHAPE_VERSION) else None
    is_hashed, perceptual = row.get("perceptual", "")[:1], row.get("perceptual", "")[1:]
    kept_hash = bytes.fromhex(perceptual) if is_hashed else None
    return PhotoRow(photo, code_of(row), kept, _details(row), kept_hash, bytes.fromhex(views))


def _when(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
