"""Noise that repeats without seams, and the patches of it that give surfaces their grain."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.synthetic.parts import Surface

Grain = NDArray[np.float32]

TILE = 512

# Spectrum of each surface: how fast the noise falls with frequency, how much it is drawn out downwards and
# sideways, and how strongly it shows.
_SPECTRA: dict[Surface, tuple[float, float, float, float]] = {
    Surface.PLAIN: (1.4, 1.0, 1.0, 0.03),
    Surface.FUR: (0.9, 2.4, 1.0, 0.12),
    Surface.WOOD: (1.3, 14.0, 1.0, 0.13),
    Surface.LEAVES: (0.9, 1.0, 1.2, 0.26),
    Surface.CLOTH: (0.8, 1.0, 1.0, 0.06),
    Surface.STONE: (1.2, 1.0, 1.0, 0.10),
}


def grain(surface: Surface, rng: np.random.Generator, height: int, width: int) -> Grain:
    """Cut a random patch ``(height, width)`` to multiply a colour with: its mean is one."""
    contrast = _SPECTRA[surface][3]
    return 1 + contrast * noise(surface, rng, height, width)


def noise(surface: Surface, rng: np.random.Generator, height: int, width: int) -> Grain:
    """Cut a random patch ``(height, width)`` of mean zero and deviation one."""
    rows, columns = rng.integers(TILE, size=2)
    return (
        tile(surface)
        .take(range(rows, rows + height), 0, mode="wrap")
        .take(range(columns, columns + width), 1, mode="wrap")
    )


@cache
def tile(surface: Surface) -> Grain:
    """Give the whole repeating tile ``(TILE, TILE)`` of mean zero and deviation one."""
    fall, down, sideways, _ = _SPECTRA[surface]
    white = np.random.default_rng(list(Surface).index(surface)).standard_normal((TILE, TILE))
    frequency = np.fft.fftfreq(TILE)
    distance = np.hypot(frequency[:, None] * down, frequency[None, :] * sideways)
    distance[0, 0] = np.inf
    coloured = np.fft.ifft2(np.fft.fft2(white) / distance**fall).real
    normal: Grain = ((coloured - coloured.mean()) / coloured.std()).astype(np.float32)
    return normal
