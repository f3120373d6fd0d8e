"""Clustered codes without end, in pieces that are the same whenever they are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.search_speed.galleries import CENTRES, with_noise

_PIECE = 1 << 18
_QUERIES = 1 << 40  # far from the numbers of pieces


@dataclass(frozen=True)
class ClusteredCodes:
    """Codes near one of 125 centres, as a model that has learned as many categories gives them."""

    bits: int
    seed: int = 0

    def some(self, first: int, count: int) -> NDArray[np.uint8]:
        """Give codes ``(count, bits // 8)`` from number ``first`` on, which begins a piece of 262,144."""
        if first % _PIECE:
            raise ValueError(f"Pieces begin at multiples of {_PIECE:,}, not at {first:,}.")
        pieces = [
            self._piece(start // _PIECE, min(_PIECE, first + count - start))
            for start in range(first, first + count, _PIECE)
        ]
        return np.concatenate(pieces)

    def queries(self, count: int) -> NDArray[np.uint8]:
        """Give other codes of the same kind, ``(count, bits // 8)``."""
        return self._piece(_QUERIES, count)

    def _piece(self, number: int, count: int) -> NDArray[np.uint8]:
        centres = np.random.default_rng(self.seed).integers(0, 256, (CENTRES, self.bits // 8), dtype=np.uint8)
        rng = np.random.default_rng((self.seed, number + 1))
        return with_noise(centres[rng.integers(CENTRES, size=count)], rng)


def whole_pieces(codes: int) -> int:
    """Round a number of codes up to whole pieces."""
    return -(-codes // _PIECE) * _PIECE
