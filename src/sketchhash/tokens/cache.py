"""Token maps on disk, so that the contours of a photo are detected once.

One PNG a map, ``ab/cdef….png``, named by a hash of everything the map depends on. A map never
changes, so processes share a folder without locks: two that make the same map write the same bytes, and a
rename is atomic. Deleting any file costs time and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.files import replacing
from sketchhash.tokens.contours import TokenStyle
from sketchhash.tokens.detectors import Detector, token_map

_VERSION = 1  # raise whenever `token_map` draws other maps from the same scores


@dataclass(frozen=True)
class TokenCache:
    """The token maps of one detector, size and style; caches of other kinds may share the folder."""

    folder: Path
    detector: Detector
    size: int
    style: TokenStyle = field(default_factory=TokenStyle)

    def token_map(self, content: bytes, decode: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Return the map of a photo: ``(size, size)``, made and kept if it is not there yet.

        Args:
            content: What identifies the photo: its file's bytes, or `pixel_content` of its pixels.
            decode: Returns the photo's pixels; called only if the map has to be made.
        """
        path = self._path(content)
        kept = self._read(path)
        if kept is not None:
            return kept
        made = token_map(decode(), self.detector, self.size, self.style)
        _write(path, made)
        return made

    def _path(self, content: bytes) -> Path:
        recipe = (_VERSION, self.detector.fingerprint, self.size, self.style)
        name = hashlib.sha256(hashlib.sha256(content).digest() + repr(recipe).encode()).hexdigest()
        return self.folder / name[:2] / f"{name[2:]}.png"

    def _read(self, path: Path) -> NDArray[np.uint8] | None:
        """Return a kept map, or None if it is absent or damaged."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            Image.open(BytesIO(data)).verify()  # checksums; decoding alone misses flipped bits
            kept = np.array(Image.open(BytesIO(data)))
        except (OSError, SyntaxError, ValueError):  # what Pillow raises for a broken PNG
            return None
        return kept if kept.shape == (self.size, self.size) else None


def pixel_content(pixels: NDArray[np.uint8]) -> bytes:
    """Describe a photo that has no file of its own by its shape and pixels."""
    return repr(pixels.shape).encode() + pixels.tobytes()


def _write(path: Path, token_map: NDArray[np.uint8]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, durable=False) as file:
        Image.fromarray(token_map).save(file, format="PNG", optimize=True)
