"""What the networks see: photos, their token maps and sketches, as pixels or as the output of frozen trunks.

With frozen trunks, features are computed for *all* photos and for all sketches of categories that have
photos, not for the training part alone: runs on other splits then find them ready, and queries can be encoded
at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sketchhash.datasets import Dataset, Item, collection, photo_pixels, sketch_ink
from sketchhash.datasets.quickdraw import QuickDrawing
from sketchhash.devices import device
from sketchhash.dsh.augment import augment_ink, augment_photos, redraw
from sketchhash.dsh.checkpoints import read_array, write_array
from sketchhash.dsh.loading import ReadAhead
from sketchhash.dsh.networks import HashNetwork, Net, NetworkSpec
from sketchhash.dsh.pixels import Kept, PixelFile, check_room
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.recipe import Recipe
from sketchhash.dsh.sources import (
    Absent,
    Alternating,
    Features,
    FeatureStore,
    InputSet,
    Joined,
    Kind,
    Loaded,
    Pictures,
    Redrawn,
    Source,
)
from sketchhash.errors import DatasetProblem, SketchHashError
from sketchhash.imaging import Drawing, InkStyle, fit_square, rasterise
from sketchhash.tokens import TokenCache, detector, pixel_content

_BATCH = 128
_MANY = 2000  # items that are worth starting processes for
_CHUNK = 64  # items that a process is given at once
_CONTOURS = "contours of photos"


class NetworkInputs:
    """The sources of a dataset's items, and the values that a network has for them."""

    def __init__(
        self,
        dataset: Dataset,
        network: HashNetwork,
        recipe: Recipe,
        seed: int,
        cache: Path,
        progress: Progress,
        keep_pixels: bool = False,
    ) -> None:
        """Set up for one network; nothing is read yet.

        With ``keep_pixels``, photos and token maps that a network learns from as pixels are kept on disk so (`pixels`).
        """
        self.dataset, self.network, self.recipe, self.progress = dataset, network, recipe, progress
        self.reader = Reader.for_network(network.spec, recipe.detector, cache)
        self.store = FeatureStore(cache / "features", seed, progress)
        self.ink_folder = cache / "sketches"
        self.pixel_folder = cache / "pixels" if keep_pixels and not recipe.frozen_trunks else None
        self._tables: dict[Kind, _Table] = {}
        self._kept: dict[Kind, Tensor] = {}

    def prepare_photos(self) -> None:
        """Read all photos before anything else, and make their token maps if any network looks at them.

        An unreadable photo shows now, not hours later.
        """
        photos, files = self.dataset.photos, self._pixel_files()
        if self.pixel_folder is not None:
            check_room(self.pixel_folder, list(files.values()))
        if self.network.spec.branches.has_tokens:
            with self.progress.stage("sketch-tokens of photos", len(photos)) as advance:
                self.reader.prepare_tokens(photos, advance)
        else:
            with self.progress.stage("reading photos", len(photos)) as advance:
                self.reader.check_photos(photos, advance)
        for kind in files:
            self._pixels(kind)

    def pretraining_sketches(self, items: Sequence[Item]) -> InputSet:
        """Show sketches as pixels, to pre-train C2 on."""
        return self._shown_ink(Kind.SKETCHES, items, (), lambda: self._redrawn_sketches(items))

    def pretraining_ink(self, sketches: Sequence[Item], photos: Sequence[Item]) -> InputSet:
        """Show sketches, and the token maps of photos if the network looks at any, as pixels to pre-train C2 on."""
        if not self.network.spec.branches.has_tokens:
            return self.pretraining_sketches(sketches)

        def load() -> Source:
            return Joined(self._redrawn_sketches(sketches), len(sketches), self._contours(photos))

        return self._shown_ink(Kind.INK, sketches, photos, load)

    def pretraining_photos(self, items: Sequence[Item]) -> InputSet:
        """Show photos to pre-train C1 on: as pixels, or through its trunk when that is frozen."""
        views = self.recipe.photo_views if self.recipe.frozen_trunks else 1
        return self._shown(Kind.PHOTOS, items, lambda: self.photos(items), views)

    def pretraining_behind(self, sketches: Sequence[Item], photos: Sequence[Item]) -> InputSet:
        """Show what C2's frozen trunk makes of sketches, and of token maps if the network looks at any."""
        has_tokens = self.network.spec.branches.has_tokens
        items = [*sketches, *photos] if has_tokens else sketches

        def load() -> Source:
            shown = self.sketches(sketches)
            return Joined(shown, len(sketches), self.tokens(photos)) if has_tokens else shown

        return InputSet(Kind.INK, items, load, self.reader.fingerprint(Kind.INK, items), self.recipe.sketch_views)

    def photos(self, items: Sequence[Item]) -> Source:
        """Return photos as C1 takes them."""
        if self.network.c1 is None:
            return Absent((0,) if self.recipe.frozen_trunks else (3, 1, 1))
        if not self.recipe.frozen_trunks:
            return self._photo_pictures(items)
        everything = self.dataset.photos
        shown = self._shown(Kind.PHOTOS, everything, lambda: self._photo_pictures(everything), self.recipe.photo_views)
        return self._features(self.network.c1, shown).take(items)

    def tokens(self, items: Sequence[Item]) -> Source:
        """Return the photos' token maps as C2 takes them."""
        if not self.network.spec.branches.has_tokens:
            side = self.network.spec.ink_side
            return Absent((0,) if self.recipe.frozen_trunks else (1, side, side))
        if not self.recipe.frozen_trunks:
            return self._token_pictures(items)
        everything = self.dataset.photos
        shown = self._shown(Kind.TOKENS, everything, lambda: self._token_pictures(everything), self.recipe.photo_views)
        return self._features(self.network.c2, shown).take(items)

    def sketches(self, items: Sequence[Item]) -> Source:
        """Return sketches as C2 takes them."""
        if not self.recipe.frozen_trunks:
            return self._sketch_pictures(items)
        found = {photo.label for photo in self.dataset.photos}
        searchable = [sketch for sketch in self.dataset.sketches if sketch.label in found]
        shown = self._shown(
            Kind.SKETCHES, searchable, lambda: self._sketch_pictures(searchable), self.recipe.sketch_views
        )
        return self._features(self.network.c2, shown).take(items)

    def photo_values(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Compute F₁ of photos: ``(n, bits)``."""
        if not items:
            return self._no_values()
        network = self.network
        encode = network.photo_values if self.recipe.frozen_trunks else network.encode_photos
        return self._in_batches(encode, [self.photos(items), self.tokens(items)], len(items))

    def sketch_values(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Compute F₂ of sketches: ``(n, bits)``."""
        if not items:
            return self._no_values()
        network = self.network
        encode = network.sketch_values if self.recipe.frozen_trunks else network.encode_sketches
        return self._in_batches(encode, [self.sketches(items)], len(items))

    def _in_batches(self, encode: Callable[..., Tensor], sources: Sequence[Source], count: int) -> NDArray[np.float32]:
        self.network.eval().to(device())

        def read(rows: Tensor) -> list[Tensor]:
            return [source.batch(rows, None).to(device()) for source in sources]

        batches = ReadAhead(torch.arange(count).split(_BATCH), read)
        with torch.inference_mode():
            return np.concatenate([encode(*batch).cpu().numpy() for batch in batches])

    def _no_values(self) -> NDArray[np.float32]:
        return np.empty((0, self.network.spec.bits), dtype=np.float32)

    def _photo_pictures(self, items: Sequence[Item]) -> Source:
        if self.pixel_folder is not None:
            return Kept(self._pixels(Kind.PHOTOS), self._photo_rows(items), augment_photos)
        return Pictures(items, self.reader.photos, augment_photos)

    def _token_pictures(self, items: Sequence[Item]) -> Source:
        if self.pixel_folder is not None:
            return Kept(self._pixels(Kind.TOKENS), self._photo_rows(items), augment_ink)
        return Pictures(items, self.reader.tokens, augment_ink)

    def _pixel_files(self) -> dict[Kind, PixelFile]:
        """Return the files of kept pixels of all that the network looks at; none if pixels are not kept."""
        if self.pixel_folder is None:
            return {}
        spec, reader, items = self.network.spec, self.reader, self.dataset.photos
        shapes: dict[Kind, tuple[tuple[int, ...], Callable[[Sequence[Item]], NDArray[np.uint8]]]] = {}
        if spec.branches.has_photos:
            shapes[Kind.PHOTOS] = (3, spec.photo_side, spec.photo_side), reader.photos
        if spec.branches.has_tokens:
            shapes[Kind.TOKENS] = (1, spec.ink_side, spec.ink_side), reader.tokens
        return {
            kind: PixelFile(self.pixel_folder / f"{kind}-{reader.fingerprint(kind, items)[:32]}.npy", items, *how)
            for kind, how in shapes.items()
        }

    def _pixels(self, kind: Kind) -> Tensor:
        if kind not in self._kept:
            self._kept[kind] = self._pixel_files()[kind].open(kind, self.progress)
        return self._kept[kind]

    def _photo_rows(self, items: Sequence[Item]) -> Tensor:
        places = {photo.id: place for place, photo in enumerate(self.dataset.photos)}
        return torch.tensor([places[item.id] for item in items], dtype=torch.long)

    def _contours(self, items: Sequence[Item]) -> Source:
        """Load token maps, in a second style too if the recipe asks for it."""
        if not self.recipe.second_threshold:
            return self._token_pictures(items)
        with self.progress.stage("contours at a second threshold", len(items)) as advance:
            other = self.reader.with_threshold(self.recipe.second_threshold)
            other.prepare_tokens(items, advance)
        styles = [self.reader.tokens(items), other.tokens(items)]
        return Alternating([Loaded(torch.from_numpy(style), augment_ink) for style in styles])

    def _sketch_pictures(self, items: Sequence[Item]) -> Source:
        """Load sketches, kept on disk once read: they are small, and slow to bring into their normal form."""
        side = self.network.spec.ink_side
        path = self.ink_folder / f"{self.reader.fingerprint(Kind.SKETCHES, items)[:32]}.npy"
        ink = read_array(path, (len(items), 1, side, side), np.uint8)
        if ink is None:
            with self.progress.stage("reading sketches", len(items)) as advance:
                ink = self.reader.sketches(items, advance)
            write_array(path, ink)
        return Loaded(torch.from_numpy(ink), augment_ink)

    def _redrawn_sketches(self, items: Sequence[Item]) -> Source:
        """Load sketches, those stored as strokes in several drawings if the recipe asks for them."""
        redraws, side = self.recipe.stroke_redraws, self.network.spec.ink_side
        if not redraws:
            return self._sketch_pictures(items)
        name = f"{self.reader.fingerprint(Kind.SKETCHES, items)[:32]}-{redraws}"
        starts = read_array(self.ink_folder / f"{name}-starts.npy", (len(items) + 1,), np.int64)
        shape = (int(starts[-1]), 1, side, side) if starts is not None else ()
        ink = read_array(self.ink_folder / f"{name}.npy", shape, np.uint8)
        if starts is None or ink is None:
            with self.progress.stage("redrawing sketches", len(items)) as advance:
                drawings = self.reader.redrawn(items, redraws, advance)
            ink = np.concatenate(drawings)[:, None]
            starts = np.cumsum([0, *map(len, drawings)], dtype=np.int64)
            write_array(self.ink_folder / f"{name}.npy", ink)
            write_array(self.ink_folder / f"{name}-starts.npy", starts)
        return Redrawn(torch.from_numpy(ink), torch.from_numpy(starts), augment_ink)

    def _shown_ink(
        self, kind: Kind, sketches: Sequence[Item], photos: Sequence[Item], load: Callable[[], Source]
    ) -> InputSet:
        groups = [*(collection(self.dataset, sketch) for sketch in sketches), *[_CONTOURS] * len(photos)]
        items = [*sketches, *photos]
        views = 1 + self.recipe.stroke_redraws
        fingerprint = self.reader.fingerprint(kind, items)
        if photos and self.recipe.second_threshold:
            fingerprint = f"{fingerprint} {self.recipe.second_threshold}"
        return InputSet(kind, items, load, fingerprint, views, groups)

    def _shown(self, kind: Kind, items: Sequence[Item], load: Callable[[], Source], views: int = 1) -> InputSet:
        return InputSet(kind, items, load, self.reader.fingerprint(kind, items), views)

    def _features(self, net: Net, shown: InputSet) -> _Table:
        if shown.kind not in self._tables:
            self._tables[shown.kind] = _Table(shown.items, self.store.get(net, shown))
        return self._tables[shown.kind]


class _Table:
    """Features with the rows of their items."""

    def __init__(self, items: Sequence[Item], features: Features) -> None:
        self.rows = {item.id: row for row, item in enumerate(items)}
        self.features = features

    def take(self, items: Sequence[Item]) -> Features:
        """Return the features of these items."""
        strangers = [item.id for item in items if item.id not in self.rows]
        if strangers:
            raise DatasetProblem(f"No photo could be found with {strangers[0]}: its category has none.")
        return self.features.take(torch.tensor([self.rows[item.id] for item in items], dtype=torch.long))


Advance = Callable[[], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Reader:
    """Reads items at the sizes of a network; token maps are kept in a folder by the photo's content."""

    photo_side: int
    ink_side: int
    token_cache: TokenCache

    @classmethod
    def for_network(cls, spec: NetworkSpec, detector_name: str, cache: Path) -> Reader:
        """Read at the sizes ``spec`` asks for."""
        tokens = TokenCache(cache / "tokens", detector(detector_name), spec.ink_side)
        return cls(spec.photo_side, spec.ink_side, tokens)

    def with_threshold(self, threshold: float) -> Reader:
        """Return a reader whose token maps show the contours above another threshold."""
        cache = self.token_cache
        return replace(self, token_cache=replace(cache, style=replace(cache.style, threshold=threshold)))

    def fingerprint(self, kind: Kind, items: Sequence[Item]) -> str:
        """Hash what decides these items' pixels: who they are, and how this kind is read.

        A file stands for itself by its size: its bytes are not read.
        """
        drawing = (self.ink_side, InkStyle())
        contours = (self.token_cache.detector.fingerprint, self.token_cache.style)
        how = {
            Kind.PHOTOS: (self.photo_side,),
            Kind.TOKENS: (self.ink_side, *contours),
            Kind.SKETCHES: drawing,
            Kind.INK: (*drawing, *contours),
        }
        digest = hashlib.sha256(repr(how[kind]).encode())
        for item in items:
            what = item.content.stat().st_size if isinstance(item.content, Path) else item.content
            digest.update(f"{item.id} {item.label} {what!r}\n".encode())
        return digest.hexdigest()

    def photos(self, items: Sequence[Item]) -> NDArray[np.uint8]:
        """Read photos: ``(n, 3, side, side)``."""
        return np.stack(_read_all(items, self._square)).transpose(0, 3, 1, 2)

    def check_photos(self, items: Sequence[Item], advance: Advance) -> None:
        """Make sure that every photo can be read."""
        _read_all(items, lambda item: self._square(item).shape, advance)

    def tokens(self, items: Sequence[Item]) -> NDArray[np.uint8]:
        """Return the token maps of photos: ``(n, 1, side, side)``."""
        return np.stack(_read_all(items, self._token_map))[:, None]

    def prepare_tokens(self, items: Sequence[Item], advance: Advance) -> None:
        """Make the token maps that are not kept yet; this also shows that every photo can be read."""
        _read_all(items, lambda item: self._token_map(item).shape, advance)

    def sketches(self, items: Sequence[Item], advance: Advance = lambda: None) -> NDArray[np.uint8]:
        """Read sketches: ``(n, 1, side, side)``."""
        read = partial(sketch_ink, size=self.ink_side)
        return np.stack(_read_all(items, read, advance, len(items) >= _MANY))[:, None]

    def redrawn(self, items: Sequence[Item], redraws: int, advance: Advance) -> list[NDArray[np.uint8]]:
        """Read sketches in several drawings: ``(drawings, side, side)`` each, the first as the sketch is.

        A sketch that is stored as a picture has one; strokes have ``redraws`` more.
        """
        read = partial(_redrawings, size=self.ink_side, redraws=redraws)
        return _read_all(items, read, advance, len(items) >= _MANY)

    def _square(self, item: Item) -> NDArray[np.uint8]:
        return fit_square(photo_pixels(item, 2 * self.photo_side), self.photo_side)

    def _token_map(self, item: Item) -> NDArray[np.uint8]:
        if isinstance(item.content, Path):
            return self.token_cache.token_map(item.content.read_bytes(), lambda: photo_pixels(item))
        pixels = photo_pixels(item)
        return self.token_cache.token_map(pixel_content(pixels), lambda: pixels)


def _redrawings(item: Item, size: int, redraws: int) -> NDArray[np.uint8]:
    content = item.content.read() if isinstance(item.content, QuickDrawing) else item.content
    if not isinstance(content, Drawing):
        return sketch_ink(item, size)[None]
    rng = np.random.default_rng([*hashlib.sha256(item.id.encode()).digest()])
    drawings = [content, *(redraw(content, rng) for _ in range(redraws))]
    return np.stack([rasterise(drawing, size) for drawing in drawings])


@dataclass(frozen=True)
class _Unreadable:
    """Why an item could not be read."""

    reason: str


def _attempt(read: Callable[[Item], T], item: Item) -> T | _Unreadable:
    try:
        return read(item)
    except (SketchHashError, OSError) as problem:
        return _Unreadable(f"{item.id}: {problem}")


def _read_all(
    items: Sequence[Item], read: Callable[[Item], T], advance: Advance = lambda: None, in_processes: bool = False
) -> list[T]:
    """Read with all cores; every unreadable item is named in one error.

    Threads suit what spends its time in C. Ink is brought into its normal form by many small steps of Python, which
    threads would take in turns.
    """
    pool: Executor
    if in_processes:
        pool = ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))
    else:
        pool = ThreadPoolExecutor()
    pictures: list[T] = []
    problems: list[str] = []
    with pool:
        for result in pool.map(partial(_attempt, read), items, chunksize=_CHUNK):
            advance()
            if isinstance(result, _Unreadable):
                problems.append(result.reason)
            else:
                pictures.append(result)
    if problems:
        shown = "\n".join(f"  {problem}" for problem in sorted(problems)[:20])
        raise DatasetProblem(
            f"{len(problems)} pictures cannot be read; repair or remove them "
            f"(sketchhash data check lists all):\n{shown}"
        )
    return pictures
