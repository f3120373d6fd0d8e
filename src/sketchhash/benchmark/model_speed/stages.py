"""The stages of a model folder one by one; together they give what `sketchhash.model.Model` gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.imaging import Drawing, InkStyle, fit_square, rasterise, read_sketch
from sketchhash.model import manifest, read_manifest
from sketchhash.model.model import Network, Port
from sketchhash.tokens import TokenStyle, detector, token_map

Picture = NDArray[np.uint8]
Inputs = Mapping[str, Picture]


class Stages:
    """Preparing pictures and running networks, apart from each other, on one thread."""

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
        """Whether the image network sees contours."""
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
