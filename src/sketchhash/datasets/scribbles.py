"""Scribbles: strokes that mean nothing, as people make them before they draw, between two drawings or for fun.

They are what a search should never be sure of, so a model's sureness is calibrated and measured with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from sketchhash.imaging import Drawing

Curve = NDArray[np.float64]


def scribble(rng: np.random.Generator) -> Drawing:
    """Return a scribble of any kind: one kind, or two of them over each other in one of four."""
    kinds = list(SCRIBBLES.values())
    count = 2 if rng.random() < 0.25 else 1
    curves = [curve for _ in range(count) for curve in kinds[rng.integers(len(kinds))](rng)]
    return Drawing(tuple(_shaken(curve, rng).astype(np.float32) for curve in curves))


def _hook(rng: np.random.Generator) -> list[Curve]:
    """Bend a line once or twice."""
    return [_smooth(rng.uniform(0, 1, (int(rng.integers(3, 5)), 2)), 40)]


def _walk(rng: np.random.Generator) -> list[Curve]:
    """Wander about without lifting the pen."""
    return [_smooth(rng.uniform(0, 1, (int(rng.integers(6, 25)), 2)), 200)]


def _tangle(rng: np.random.Generator) -> list[Curve]:
    """Draw some curves across each other."""
    return [_smooth(rng.uniform(0, 1, (int(rng.integers(3, 7)), 2)), 60) for _ in range(rng.integers(2, 8))]


def _zigzag(rng: np.random.Generator) -> list[Curve]:
    """Go up and down while going to the side."""
    corners = int(rng.integers(5, 30))
    x = np.linspace(0, rng.uniform(0.5, 2), corners)
    y = np.where(np.arange(corners) % 2 == 0, 0.0, 1.0) * rng.uniform(0.3, 1, corners)
    return [_turned(np.stack([x, y], axis=1), rng.uniform(0, 2 * np.pi))]


def _loops(rng: np.random.Generator) -> list[Curve]:
    """Go round and round while going to the side, as when trying a pen."""
    turns = rng.uniform(2, 9)
    angle = np.linspace(0, 2 * np.pi * turns, int(30 * turns))
    x = np.cos(angle) * rng.uniform(0.2, 1) + angle * rng.uniform(0, 0.15)
    return [_turned(np.stack([x, np.sin(angle)], axis=1), rng.uniform(0, 2 * np.pi))]


def _spiral(rng: np.random.Generator) -> list[Curve]:
    """Go round and out."""
    angle = np.linspace(0, 2 * np.pi * rng.uniform(1.5, 6), 200)
    radius = np.linspace(rng.uniform(0, 0.2), 1, 200)
    return [np.stack([radius * np.cos(angle), radius * np.sin(angle) * rng.uniform(0.5, 1)], axis=1)]


def _lines(rng: np.random.Generator) -> list[Curve]:
    """Draw straight lines anywhere."""
    return [_dense(rng.uniform(0, 1, (2, 2))) for _ in range(rng.integers(1, 12))]


def _hatching(rng: np.random.Generator) -> list[Curve]:
    """Fill an area with strokes beside each other."""
    turn, count = rng.uniform(0, 2 * np.pi), int(rng.integers(4, 20))
    ends = rng.uniform(0.7, 1, (count, 2)) * [-0.5, 0.5]
    lines = zip(np.linspace(0, rng.uniform(0.5, 1.5), count), ends, strict=True)
    return [_turned(_dense(np.array([[x, low], [x, high]])), turn) for x, (low, high) in lines]


def _blobs(rng: np.random.Generator) -> list[Curve]:
    """Close uneven curves, small and large."""
    return [_blob(rng) for _ in range(rng.integers(1, 7))]


def _dots(rng: np.random.Generator) -> list[Curve]:
    """Tap the paper."""
    places = rng.uniform(0, 1, (int(rng.integers(2, 20)), 2))
    return [place + rng.normal(0, 0.01, (3, 2)) for place in places]


def _corners(rng: np.random.Generator) -> list[Curve]:
    """Join corners anywhere by straight lines, without lifting the pen."""
    return [_dense(rng.uniform(0, 1, (int(rng.integers(3, 12)), 2)))]


SCRIBBLES: Mapping[str, Callable[[np.random.Generator], list[Curve]]] = {
    "hook": _hook,
    "walk": _walk,
    "tangle": _tangle,
    "zigzag": _zigzag,
    "loops": _loops,
    "spiral": _spiral,
    "lines": _lines,
    "hatching": _hatching,
    "blobs": _blobs,
    "dots": _dots,
    "corners": _corners,
}
"""The kinds of scribbles, by name."""


def _blob(rng: np.random.Generator) -> Curve:
    angle = np.linspace(0, 2 * np.pi, 80)
    radius = rng.uniform(0.05, 0.4) * np.ones(80)
    for waves in range(2, 6):
        radius *= 1 + rng.uniform(0, 0.25) * np.sin(waves * angle + rng.uniform(0, 2 * np.pi))
    return rng.uniform(0, 1, 2) + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _smooth(knots: Curve, points: int) -> Curve:
    """Run a curve through knots (Catmull-Rom)."""
    padded = np.concatenate([knots[:1], knots, knots[-1:]])
    place = np.linspace(0, len(knots) - 1 - 1e-9, points)
    piece = place.astype(int)
    t = (place - piece)[:, None]
    before, start, end, after = (padded[piece + step] for step in range(4))
    curve: Curve = 0.5 * (
        2 * start
        + (end - before) * t
        + (2 * before - 5 * start + 4 * end - after) * t**2
        + (3 * start - before - 3 * end + after) * t**3
    )
    return curve


def _dense(corners: Curve) -> Curve:
    """Put points on straight lines between corners, so that a shaking hand shows."""
    place = np.linspace(0, len(corners) - 1, 20 * (len(corners) - 1) + 1)
    axis = np.arange(len(corners))
    return np.stack([np.interp(place, axis, corners[:, 0]), np.interp(place, axis, corners[:, 1])], axis=1)


def _turned(curve: Curve, angle: float) -> Curve:
    cosine, sine = np.cos(angle), np.sin(angle)
    turned: Curve = curve @ np.array([[cosine, sine], [-sine, cosine]])
    return turned


def _shaken(curve: Curve, rng: np.random.Generator) -> Curve:
    return curve + rng.normal(0, 0.004, curve.shape)
