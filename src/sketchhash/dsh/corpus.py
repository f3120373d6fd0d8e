"""The pictures that networks see: photos, their token maps and sketches, as arrays of pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Item, photo_pixels, sketch_ink
from sketchhash.dsh.networks import NetworkSpec
from sketchhash.dsh.sources import Kind
from sketchhash.errors import DatasetProblem, SketchHashError
from sketchhash.imaging import InkStyle, fit_square
from sketchhash.tokens import TokenCache, detector, pixel_content

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
        """Give the token maps of photos: ``(n, 1, side, side)``."""
        return np.stack(_read_all(items, self._token_map))[:, None]

    def prepare_tokens(self, items: Sequence[Item], advance: Advance) -> None:
        """Make the token maps that are not kept yet; this also shows that every photo can be read."""
        _read_all(items, lambda item: self._token_map(item).shape, advance)

    def sketches(self, items: Sequence[Item], advance: Advance = lambda: None) -> NDArray[np.uint8]:
        """Read sketches: ``(n, 1, side, side)``."""
        return np.stack(_read_all(items, lambda item: sketch_ink(item, self.ink_side), advance))[:, None]

    def _square(self, item: Item) -> NDArray[np.uint8]:
        return fit_square(photo_pixels(item, 2 * self.photo_side), self.photo_side)

    def _token_map(self, item: Item) -> NDArray[np.uint8]:
        if isinstance(item.content, Path):
            return self.token_cache.token_map(item.content.read_bytes(), lambda: photo_pixels(item))
        pixels = photo_pixels(item)
        return self.token_cache.token_map(pixel_content(pixels), lambda: pixels)


def _read_all(items: Sequence[Item], read: Callable[[Item], T], advance: Advance = lambda: None) -> list[T]:
    """Read with all cores; every unreadable item is named in one error."""
    problems: list[str] = []

    def attempt(item: Item) -> T | None:
        try:
            return read(item)
        except (SketchHashError, OSError) as problem:
            problems.append(str(problem))
            return None

    pictures: list[T] = []
    with ThreadPoolExecutor() as pool:
        for picture in pool.map(attempt, items):
            advance()
            if picture is not None:
                pictures.append(picture)
    if problems:
        shown = "\n".join(f"  {problem}" for problem in sorted(problems)[:20])
        raise DatasetProblem(
            f"{len(problems)} pictures cannot be read; repair or remove them "
            f"(sketchhash data check lists all):\n{shown}"
        )
    return pictures
