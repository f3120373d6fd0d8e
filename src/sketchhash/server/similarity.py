"""How near is near: a hit's distance, held against what chance would give.

A distance of 12 bits means little by itself: much in a code of 16 bits, little in one of 128, and the nearest of a
million photos is nearer than the nearest of a hundred, even to a scribble. So each query is compared with a sample
of the gallery. Distances to photos that have nothing to do with it lie around a middle, about normally; from that
follows how many of them would be as near as a hit by chance alone:

    expected(d) = photos · Φ((d + ½ − middle) / spread)

The similarity of a hit is exp(−expected): the chance that no unrelated photo of this gallery would come as near.
It falls as the distance grows, and means the same for all code lengths and sizes of galleries.

Where a gallery shows one kind of thing only, nothing stands out in it, and nothing is called close.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming

Confidence = Literal["close", "some", "none"]

# The nearest of unrelated photos passes for "close" once in a thousand queries, for "some" once in ten.
_CLOSE, _SOME = 0.001, 0.1

# Fewer distances say little about their spread; then codes are taken to be tosses of a fair coin.
_FEWEST = 50
_LEAST_SPREAD = 0.5


@dataclass(frozen=True)
class Chance:
    """The distances, in bits, at which ``photos`` that are unrelated to a query lie."""

    photos: int
    middle: float
    spread: float

    @classmethod
    def estimate(cls, code: NDArray[np.uint8], sample: NDArray[np.uint8], photos: int) -> Self:
        """Learn from a ``sample`` of the gallery's codes; all codes are packed, ``(codes, bits // 8)``.

        Photos of what was drawn are in the sample too, and would widen the spread. They lie below the middle:
        it is taken from those above, and the other side is as wide.
        """
        bits = 8 * code.shape[1]
        if len(sample) < _FEWEST:
            return cls(photos, bits / 2, math.sqrt(bits) / 2)
        distances = hamming(code, sample)[0].astype(np.float64)
        middle = float(np.median(distances))
        upper_half = float(np.mean(np.maximum(distances - middle, 0) ** 2))
        return cls(photos, middle, max(math.sqrt(2 * upper_half), _LEAST_SPREAD))

    def expected(self, distance: int) -> float:
        """Give how many unrelated photos would be as near as this."""
        return self.photos * 0.5 * math.erfc((self.middle - distance - 0.5) / (self.spread * math.sqrt(2)))

    def similarity(self, distance: int) -> float:
        """Give the chance, 0 to 1, that no unrelated photo would be as near as this.

        >>> [round(Chance(1000, middle=32, spread=4).similarity(distance), 2) for distance in (10, 20, 30)]
        [1.0, 0.13, 0.0]
        """
        return math.exp(-self.expected(distance))

    def confidence(self, nearest: int | None) -> Confidence:
        """Say whether the ``nearest`` hit, if there is one, is nearer than chance would have it."""
        if nearest is None or (expected := self.expected(nearest)) >= _SOME:
            return "none"
        return "close" if expected < _CLOSE else "some"
