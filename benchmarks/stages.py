"""Drawings and photos to measure with, and the stages of a model folder one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.datasets.synthetic import CATEGORIES, draw_sketch, render_photo
from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery.photos import decode, find_photos
from sketchhash.imaging import Drawing, InkStyle, fit_square, rasterise, read_sketch
from sketchhash.model import manifest, read_manifest
from sketchhash.model.model import Network, Port
from sketchhash.tokens import TokenStyle, detector, token_map

Picture = NDArray[np.uint8]
Inputs = Mapping[str, Picture]

_PHOTO_SIDE = 640
_SKETCH_SIDE = 512


@dataclass(frozen=True)
class Samples:
    """Drawings as strokes and as PNG files, photos as files of any kind, and where the photos are from."""

    drawings: list[Drawing]
    sketch_files: list[bytes]
    photo_files: list[bytes]
    source: str


def take_samples(count: int, folder: Path | None = None) -> Samples:
    """Draw ``count`` sketches of the synthetic world, and take as many photos of it, or readable ones of a folder."""
    rng = np.random.default_rng(0)
    categories = [CATEGORIES[row % len(CATEGORIES)] for row in range(count)]
    drawings = [draw_sketch(category, rng) for category in categories]
    files = [_file(rasterise(drawing, _SKETCH_SIDE), "PNG") for drawing in drawings]
    if folder is None:
        photos = [_file(render_photo(category, rng, _PHOTO_SIDE), "JPEG") for category in categories]
        source = f"{count} photos of the synthetic world, JPEG, {_PHOTO_SIDE} × {_PHOTO_SIDE}"
    else:
        photos = _some_photos(folder, count)
        source = f"{len(photos)} photos of {folder.resolve().name}, {sum(map(len, photos)) // len(photos):,} bytes each"
    return Samples(drawings, files, photos, source)


class Stages:
    """Preparing pictures and running networks as separate steps, on one thread.

    Together they return what `sketchhash.model.Model` returns.
    """

    def __init__(self, folder: Path) -> None:
        """Open the networks in ``folder``."""
        self.manifest = read_manifest(folder)
        self.style = InkStyle(self.manifest.ink.line_width, self.manifest.ink.margin)
        if self.manifest.tokens:
            tokens, weights = self.manifest.tokens, folder / manifest.TOKEN_WEIGHTS
            self._detector = detector(tokens.detector, weights if weights.exists() else None)
            self._tokens = TokenStyle(tokens.threshold, tokens.floor, tokens.most_ink, tokens.fewest, self.style)
        ink = (self.manifest.ink.size, self.manifest.ink.size)
        image_ports = [Port("tokens", "uint8", ink)] if self.manifest.tokens else []
        if self.manifest.photos:
            side = self.manifest.photos.size
            image_ports.append(Port("photos", "uint8", (side, side, 3)))
        bits = self.manifest.bits
        self.image = Network(folder / manifest.IMAGE_NETWORK, image_ports, bits, threads=1)
        self.sketch = Network(folder / manifest.SKETCH_NETWORK, [Port("sketches", "uint8", ink)], bits, threads=1)

    @property
    def has_tokens(self) -> bool:
        """Whether the image network takes contours."""
        return self.manifest.tokens is not None

    def ink(self, sketch: Drawing | bytes) -> Picture:
        """Draw strokes, or redraw the file of a picture: ``(size, size)``."""
        if isinstance(sketch, Drawing):
            return rasterise(sketch, self.manifest.ink.size, self.style)
        return read_sketch(sketch, self.manifest.ink.size, self.style)

    def tokens(self, photo: Picture) -> Picture:
        """Find and draw the contours of a photo: ``(size, size)``."""
        return token_map(photo, self._detector, self.manifest.ink.size, self._tokens)

    def photo_inputs(self, photos: Sequence[Picture]) -> Inputs:
        """Prepare photos of any size for the image network."""
        inputs = {"tokens": np.stack([self.tokens(photo) for photo in photos])} if self.has_tokens else {}
        if self.manifest.photos:
            side = self.manifest.photos.size
            inputs["photos"] = np.stack([fit_square(photo, side) for photo in photos])
        return inputs

    def sketch_inputs(self, ink: Sequence[Picture]) -> Inputs:
        """Prepare drawn sketches for the sketch network."""
        return {"sketches": np.stack(ink)}


def _some_photos(folder: Path, count: int) -> list[bytes]:
    paths = [path for path in find_photos([folder]) if isinstance(path, Path)]
    photos: list[bytes] = []
    for path in paths[:: max(1, len(paths) // count)]:
        content = path.read_bytes()
        try:
            decode(content)
        except UnreadableImage:
            continue
        photos.append(content)
    if not photos:
        raise BadArgument(f"There is no readable photo in {folder}.")
    return photos[:count]


def _file(pixels: Picture, kind: str) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()
