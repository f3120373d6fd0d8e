"""A gallery on Milvus: one collection of photos with all that belongs to them, and thumbnails beside it.

Thumbnails have a collection of their own, so that searching does not carry them, or are files (`thumbnail_stores`).
They are written before their photos and removed after them: a photo that can be found has one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.engines.addresses import Address
from sketchhash.engines.engine_gallery import EngineGallery
from sketchhash.engines.milvus import (
    Collection,
    CollectionLayout,
    Consistency,
    Kind,
    MilvusServer,
)
from sketchhash.engines.milvus_index import ExactSearch
from sketchhash.engines.milvus_rows import (
    DATED_COLUMNS,
    DETAIL_COLUMNS,
    DETAIL_NUMBERS,
    DETAIL_REALS,
    DETAIL_TEXTS,
    DRAWING,
    HASH,
    NUMBERS,
    OVERVIEW_COLUMNS,
    SHAPE,
    TEXTS,
    RowOverview,
    any_of,
    hash_of,
    milvus_row,
    photo_row,
    stored_path,
    stored_text,
    taken_of,
    when_of,
    written,
)
from sketchhash.engines.milvus_writer import MilvusWriter
from sketchhash.engines.thumbnail_stores import (
    THUMBNAIL_LAYOUT,
    CollectionThumbnails,
    FileThumbnails,
    ThumbnailStore,
)
from sketchhash.errors import BadArgument, IncompatibleGallery, UnknownName
from sketchhash.gallery.filters import Filter, LeftOut
from sketchhash.gallery.photos import PhotoRecord, absolute, path_range
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, Opener, PhotoRow, Sample, TaggedDrawing
from sketchhash.gallery.schema import other_format
from sketchhash.index.protocol import Hits, Wanted
from sketchhash.model import Model

_FORMAT = 1
_OPTIONS = ("timeout", "tls", "database", "index", "nlist", "nprobe", "thumbnails")
_KINDS: Mapping[str, Kind] = {"BIN_FLAT": "BIN_FLAT", "BIN_IVF_FLAT": "BIN_IVF_FLAT"}

# A second for each million photos or so: not with every search.
_COUNTED_EVERY = 60.0


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
        self.keeps_shapes = SHAPE.keys() <= self._photo_rows.columns
        self.keeps_details = self._photo_rows.columns.issuperset(DETAIL_COLUMNS)
        self.keeps_hashes = HASH.keys() <= self._photo_rows.columns
        self.keeps_drawings = self._photo_rows.columns.issuperset(DRAWING)
        named = ("code", *TEXTS, *SHAPE, *NUMBERS, *DETAIL_COLUMNS, *HASH, *DRAWING)
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
        condition = written(only)
        if only.near is None:
            (hits,) = self._search(query, wanted, condition)
            return hits
        pages = self._photo_rows.selected(condition, list(DETAIL_REALS))
        places = [(row["id"], row["latitude"], row["longitude"]) for page in pages for row in page]
        found = np.array(places, dtype=[("id", np.int64), ("latitude", np.float64), ("longitude", np.float64)])
        inside = found["id"][only.near.contains(found["latitude"], found["longitude"])]
        (hits,) = self._search.among(query, wanted, inside.tolist())
        return hits

    def left_out(self, only: Filter) -> LeftOut:
        """Count the photos that pass but for the date or place that is asked for, and have none."""
        others = written(only.without_details())
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
        return {photo: photo_row(row) for photo, row in found.items()}

    def pages(self) -> Iterator[list[PhotoRow]]:
        """Yield all rows, by id, in pages."""
        for page in self._photo_rows.pages(self._columns):
            yield [photo_row(row) for row in page]

    def tagged_drawings(self) -> list[TaggedDrawing]:
        """Return the drawings that have tags."""
        rows = self.selected("is_drawing == 1") if self.keeps_drawings else iter(())
        described = ((row.photo, row.details and row.details.description) for row in rows)
        return [
            TaggedDrawing(photo.id, photo.label, tags) for photo, tags in described if photo.label is not None and tags
        ]

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
        if self._photo_rows.about_now() != self._photo_rows.about:
            raise IncompatibleGallery(
                f"The gallery {self.place} was indexed again with another model. Open it again with that model."
            )
        yield MilvusWriter(self)

    def start_over(self, model: GalleryModel) -> None:
        """Remove every photo, and expect codes of ``model`` from now on: the gallery must be opened again.

        A collection holds codes of one width, so it is made anew, with the index and the place of thumbnails that it
        had. Milvus cannot do this at once. Stopped in between, there is no gallery, and the next `create` makes one.
        Who is writing meanwhile with the old model finds out with its next batch.
        """
        photos, address = self._photo_rows, self._server.address
        kept = {name: str(value) for name, value in _about(photos).items() if name == "thumbnails"}
        if photos.clusters:
            kept |= {"index": "BIN_IVF_FLAT", "nlist": str(photos.clusters)}
        ids = [row["id"] for page in photos.pages([]) for row in page]
        photos.drop()
        self._thumbnails.remove(ids)
        layout = _layout(replace(address, options={**address.options, **kept}), model)
        Collection.create(self._server, photos.name, layout)

    def photos_at(self, paths: Sequence[Path]) -> dict[Path, PhotoRow]:
        """Return the rows of the photos at some absolute paths."""
        return {row.photo.path: row for row in self.selected(any_of("path", map(stored_path, paths)))}

    def within(self, place: Path) -> Iterator[PhotoRecord]:
        """Yield the photo at ``place``, or those at any depth below it."""
        start, end = (stored_text(each) for each in path_range(place))
        below = f'(path > "{start}" and path < "{end}")'
        return (row.photo for row in self.selected(f'path == "{stored_path(absolute(place))}" or {below}'))

    def has_content(self, sha256: str) -> bool:
        """Tell whether a photo with this content is in the gallery."""
        return self._photo_rows.count(f'sha256 == "{sha256}"') > 0

    def hash_pages(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the ids and perceptual hashes of all photos that were hashed, by id, in pages."""
        for page in self._photo_rows.pages(list(HASH)) if self.keeps_hashes else ():
            hashed = ((row["id"], hash_of(row)) for row in page)
            yield [(photo, own) for photo, own in hashed if own is not None]

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
            yield from map(photo_row, page)

    def put(self, rows: Sequence[PhotoRow], thumbnails: Mapping[int, bytes]) -> None:
        """Write photos after their thumbnails; after an error some may be there, and all may be put again."""
        self._thumbnails.put({row.photo.id: thumbnails[row.photo.id] for row in rows if row.photo.id in thumbnails})
        self._photo_rows.put([{name: row[name] for name in ("id", *self._columns)} for row in map(milvus_row, rows)])

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
        when = None if last is None else when_of(last)
        counts = overview.dated, overview.placed
        taken = overview.taken or (None, None)
        first, latest = map(taken_of, taken)
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
        columns = OVERVIEW_COLUMNS + (DATED_COLUMNS if self.keeps_details else ())
        columns += DRAWING if self.keeps_drawings else ()
        with self._turn:
            last = self._overview
            if last is None or (oldest is not None and monotonic() - last[0] >= oldest):
                last = self._overview = monotonic(), RowOverview.of(self._photo_rows.pages(columns))
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
        TEXTS | SHAPE | DETAIL_TEXTS | HASH,
        (*NUMBERS, *DETAIL_NUMBERS, *DRAWING),
        DETAIL_REALS,
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
