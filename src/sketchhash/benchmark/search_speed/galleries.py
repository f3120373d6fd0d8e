"""Codes to search, and codes to search for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.gallery import GalleryFile
from sketchhash.index.protocol import check_bits

QUERIES = 1000
CENTRES = 125  # the categories of Sketchy

_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class TestGallery:
    """Packed codes ``(size, bits // 8)``, queries like them, and how long it took to read the codes from a file."""

    __test__ = False  # pytest takes the name for a test

    kind: str
    codes: NDArray[np.uint8]
    queries: NDArray[np.uint8]
    read_seconds: float

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.codes)

    @property
    def bits(self) -> int:
        """The width of the codes."""
        return int(self.codes.shape[1]) * 8


def random_gallery(size: int, bits: int, rng: np.random.Generator) -> TestGallery:
    """Draw every bit with a coin: the hardest codes, since nothing is near anything."""
    check_bits(bits)
    codes = rng.integers(0, 256, (size + QUERIES, bits // 8), dtype=np.uint8)
    return _split("random", codes)


def clustered_gallery(size: int, bits: int, rng: np.random.Generator) -> TestGallery:
    """Put every code near one of 125 centres, as a model does that has learned 125 categories."""
    check_bits(bits)
    centres = rng.integers(0, 256, (CENTRES, bits // 8), dtype=np.uint8)
    codes = np.empty((size + QUERIES, bits // 8), dtype=np.uint8)
    for start in range(0, len(codes), _AT_ONCE):
        some = codes[start : start + _AT_ONCE]
        some[:] = with_noise(centres[rng.integers(CENTRES, size=len(some))], rng)
    return _split("clustered", codes)


def stored_gallery(path: Path, rng: np.random.Generator) -> TestGallery:
    """Read the codes of a gallery's photos, and search for some of them with a few bits flipped."""
    start = perf_counter()
    with GalleryFile.open(path) as gallery:
        _, codes = gallery.read_codes()
    seconds = perf_counter() - start
    if not len(codes):
        raise BadArgument(f"The gallery {path} holds no photos to search. Add some with: sketchhash index")
    return TestGallery("stored", codes, with_noise(codes[rng.integers(len(codes), size=QUERIES)], rng), seconds)


def with_noise(codes: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Flip 6 % of the bits of one half of the codes, and 9 % of the other."""
    # Random bytes joined by "and" have 1/2, 1/4, 1/8 ... of their bits set, at no cost for each bit.
    first, second, third, fourth, fifth = rng.integers(0, 256, (5, *codes.shape), dtype=np.uint8)
    fifth[::2] = 0
    noisy: NDArray[np.uint8] = codes ^ (first & second & third & (fourth | fifth))
    return noisy


def _split(kind: str, codes: NDArray[np.uint8]) -> TestGallery:
    gallery = codes[QUERIES:]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "codes.npy"
        np.save(path, gallery)
        start = perf_counter()
        np.load(path)
        seconds = perf_counter() - start
    return TestGallery(kind, gallery, codes[:QUERIES], seconds)
