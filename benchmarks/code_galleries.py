"""Galleries of codes to search, and codes to search for: random, clustered, or those of a real gallery."""

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

Codes = NDArray[np.uint8]

QUERIES = 1000
CENTRES = 125  # the categories of Sketchy

_PIECE = 1 << 18
_QUERY_PIECE = 1 << 40  # far from the numbers of pieces


@dataclass(frozen=True, eq=False)
class CodeGallery:
    """Packed codes ``(size, bits // 8)``, queries like them, and the seconds to read the codes from a file."""

    kind: str
    codes: Codes
    queries: Codes
    read_seconds: float

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.codes)

    @property
    def bits(self) -> int:
        """The length of the codes."""
        return int(self.codes.shape[1]) * 8


def random_gallery(size: int, bits: int, rng: np.random.Generator) -> CodeGallery:
    """Draw every bit at random: the hardest codes, since nothing is near anything."""
    check_bits(bits)
    codes = rng.integers(0, 256, (size + QUERIES, bits // 8), dtype=np.uint8)
    return _split("random", codes)


def clustered_gallery(size: int, bits: int, rng: np.random.Generator) -> CodeGallery:
    """Put every code near one of 125 centres, as a model does that has learned 125 categories."""
    check_bits(bits)
    centres = rng.integers(0, 256, (CENTRES, bits // 8), dtype=np.uint8)
    codes = np.empty((size + QUERIES, bits // 8), dtype=np.uint8)
    for start in range(0, len(codes), _PIECE):
        some = codes[start : start + _PIECE]
        some[:] = with_noise(centres[rng.integers(CENTRES, size=len(some))], rng)
    return _split("clustered", codes)


def stored_gallery(path: Path, rng: np.random.Generator) -> CodeGallery:
    """Read the codes of a gallery's photos, and search for some of them with a few bits flipped."""
    start = perf_counter()
    with GalleryFile.open(path) as gallery:
        _, codes = gallery.read_codes()
    seconds = perf_counter() - start
    if not len(codes):
        raise BadArgument(f"The gallery {path} holds no photos to search. Add some with: sketchhash index")
    return CodeGallery("stored", codes, with_noise(codes[rng.integers(len(codes), size=QUERIES)], rng), seconds)


def with_noise(codes: Codes, rng: np.random.Generator) -> Codes:
    """Flip 6 % of the bits of one half of the codes, and 9 % of the other."""
    # Random bytes joined by "and" have 1/2, 1/4, 1/8 ... of their bits set, at no cost for each bit.
    first, second, third, fourth, fifth = rng.integers(0, 256, (5, *codes.shape), dtype=np.uint8)
    fifth[::2] = 0
    noisy: Codes = codes ^ (first & second & third & (fourth | fifth))
    return noisy


@dataclass(frozen=True)
class ClusteredCodes:
    """An endless sequence of clustered codes, in pieces that are the same whenever they are asked for."""

    bits: int
    seed: int = 0

    def some(self, first: int, count: int) -> Codes:
        """Return codes ``(count, bits // 8)`` from number ``first`` on, which must begin a piece of 262,144."""
        if first % _PIECE:
            raise ValueError(f"Pieces begin at multiples of {_PIECE:,}, not at {first:,}.")
        pieces = [
            self._piece(start // _PIECE, min(_PIECE, first + count - start))
            for start in range(first, first + count, _PIECE)
        ]
        return np.concatenate(pieces)

    def queries(self, count: int) -> Codes:
        """Return other codes of the same kind, ``(count, bits // 8)``."""
        return self._piece(_QUERY_PIECE, count)

    def _piece(self, number: int, count: int) -> Codes:
        centres = np.random.default_rng(self.seed).integers(0, 256, (CENTRES, self.bits // 8), dtype=np.uint8)
        rng = np.random.default_rng((self.seed, number + 1))
        return with_noise(centres[rng.integers(CENTRES, size=count)], rng)


def whole_pieces(codes: int) -> int:
    """Round a number of codes up to whole pieces of `ClusteredCodes`."""
    return -(-codes // _PIECE) * _PIECE


def _split(kind: str, codes: Codes) -> CodeGallery:
    gallery = codes[QUERIES:]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "codes.npy"
        np.save(path, gallery)
        start = perf_counter()
        np.load(path)
        seconds = perf_counter() - start
    return CodeGallery(kind, gallery, codes[:QUERIES], seconds)
