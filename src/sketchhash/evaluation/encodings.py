"""The values of a model for many items, computed once and cached on disk, so that an interrupted run can go on.

    <cache>/encodings/<model>/<hash>.npz    some hundred items: their keys, and their values ``(items, bits)``

A key is a hash of an item's medium and id and of what tells whether its file has changed. Files are written whole or
not at all; a damaged one is ignored and its items are encoded again.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import partial
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Item, photo_pixels, sketch_ink
from sketchhash.errors import SketchHashError
from sketchhash.files import replacing
from sketchhash.gallery.photos import decode
from sketchhash.imaging import Drawing, shrink
from sketchhash.model import InkInput, Model, decoded_side

_VERSION = 1  # raise whenever a picture reaches the networks in another way
_AT_ONCE = 16  # the model's own
_IN_A_FILE = 512
Values = NDArray[np.float32]


class Medium(StrEnum):
    """Which of the two networks encodes an item."""

    SKETCH = "sketch"
    PHOTO = "photo"


class Encodings:
    """The cached values of one model."""

    def __init__(self, model: Model, cache: Path, threads: int | None = None) -> None:
        """Read what ``cache`` holds for this model; ``threads`` encode the rest, one a core by default."""
        self.model = model
        self.folder = cache / "encodings" / f"{model.fingerprint[:32]}-{_VERSION}"
        self.unreadable: dict[str, str] = {}
        """Why items have no values: reasons by id."""
        self._threads = threads or os.cpu_count() or 1
        self._kept: dict[bytes, Values] = {}
        for path in sorted(self.folder.glob("*.npz")):
            self._kept |= _read(path, model.bits)

    def missing(self, medium: Medium, items: Sequence[Item]) -> list[Item]:
        """List the items that are not encoded yet, each once."""
        return list({item.id: item for item in items if _key(medium, item) not in self._kept}.values())

    def encode(self, medium: Medium, items: Sequence[Item], advance: Callable[[], None] = lambda: None) -> None:
        """Encode items and cache their values; items that cannot be read are added to ``unreadable``."""
        batches = [items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE)]
        pool = ThreadPoolExecutor(self._threads, "encoding")
        fresh: dict[bytes, Values] = {}
        try:
            for batch, encoded in zip(
                batches, pool.map(lambda some: self._encoded(medium, some), batches), strict=True
            ):
                fresh |= encoded
                if len(fresh) >= _IN_A_FILE:
                    self._keep(fresh)
                    fresh = {}
                for _ in batch:
                    advance()
        finally:
            pool.shutdown(cancel_futures=True)
            self._keep(fresh)

    def values(self, medium: Medium, items: Sequence[Item]) -> tuple[list[Item], Values]:
        """Return the encoded ones among items, and their values ``(encoded, bits)``."""
        keyed = [(item, _key(medium, item)) for item in items]
        found = [(item, self._kept[key]) for item, key in keyed if key in self._kept]
        rows = [row for _, row in found]
        return [item for item, _ in found], np.stack(rows) if rows else np.empty((0, self.model.bits), np.float32)

    def _encoded(self, medium: Medium, items: Sequence[Item]) -> dict[bytes, Values]:
        read: Callable[[Item], NDArray[np.uint8]] = partial(photo_picture, model=self.model)
        if medium is Medium.SKETCH:
            read = partial(ink_picture, self.model.manifest.ink)
        pictures: dict[bytes, NDArray[np.uint8]] = {}
        for item in items:
            try:
                pictures[_key(medium, item)] = read(item)
            except (SketchHashError, OSError) as problem:
                self.unreadable[item.id] = str(problem)
        if not pictures:
            return {}
        if medium is Medium.SKETCH:
            values = self.model.encode_sketches(np.stack(list(pictures.values())))
        else:
            values = self.model.encode_photos(list(pictures.values()))
        return dict(zip(pictures, values, strict=True))

    def _keep(self, fresh: dict[bytes, Values]) -> None:
        if not fresh:
            return
        self._kept |= fresh
        self.folder.mkdir(parents=True, exist_ok=True)
        keys = np.frombuffer(b"".join(fresh), dtype=np.uint8).reshape(len(fresh), -1)
        with replacing(self.folder / f"{sha256(keys.tobytes()).hexdigest()[:32]}.npz", durable=False) as file:
            np.savez(file, keys=keys, values=np.stack(list(fresh.values())))


def photo_picture(photo: Item, model: Model | None = None) -> NDArray[np.uint8]:
    """Decode a photo at the size at which galleries of this model do: ``(height, width, 3)``."""
    if isinstance(photo.content, Path):
        return decode(photo.content.read_bytes(), model)
    return shrink(photo_pixels(photo), decoded_side(model.manifest if model else None))


def ink_picture(ink: InkInput, sketch: Item) -> NDArray[np.uint8]:
    """Draw a sketch as a model's input: ``(size, size)``."""
    return sketch_ink(sketch, ink.size, ink.style)


def _key(medium: Medium, item: Item) -> bytes:
    return sha256("\0".join((medium, item.id, _state(item))).encode()).digest()


def _state(item: Item) -> str:
    """Identify the content of an item without reading it: files by size and time, packed items by their place."""
    match item.content:
        case Path() as path:
            status = path.stat() if path.exists() else None
            return f"{status.st_size} {status.st_mtime_ns}" if status else "gone"
        case Drawing() as drawing:
            return repr(drawing.to_json())
        case packed:
            return repr(packed)


def _read(path: Path, bits: int) -> dict[bytes, Values]:
    """Read a file of values, or nothing if it is damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            keys, values = stored["keys"], stored["values"]
    except (BadZipFile, EOFError, KeyError, OSError, ValueError, zlib.error):
        return {}
    is_whole = keys.dtype == np.uint8 and values.dtype == np.float32 and values.shape == (len(keys), bits)
    return {key.tobytes(): row for key, row in zip(keys, values, strict=True)} if is_whole else {}
