"""Outlines to build things from: smooth blobs, tubes, turned profiles, in a unit box with y down.

Every function gives the points of one line, ``(points, 2)``. Closed outlines do not repeat their first point.
"""

from __future__ import annotations

from functools import cache
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

Outline = NDArray[np.float64]
Point = tuple[float, float]


def polygon(*corners: Point) -> Outline:
    """Join the corners by straight lines."""
    return np.array(corners, dtype=np.float64)


def box(x: float, y: float, width: float, height: float) -> Outline:
    """Give the upright rectangle centred on ``(x, y)``."""
    left, top, right, bottom = x - width / 2, y - height / 2, x + width / 2, y + height / 2
    return polygon((left, top), (right, top), (right, bottom), (left, bottom))


def ellipse(x: float, y: float, rx: float, ry: float | None = None, tilt: float = 0.0) -> Outline:
    """Give the ellipse around ``(x, y)``, turned clockwise by ``tilt`` radians; a circle without ``ry``."""
    around = _circle() * (rx, rx if ry is None else ry)
    return np.add(turn(around, tilt) if tilt else around, (x, y))


def arc(x: float, y: float, rx: float, ry: float, start: float, stop: float) -> Outline:
    """Give the open piece of an ellipse between two angles in turns: 0 is right, 0.25 is down."""
    angles = np.linspace(2 * pi * start, 2 * pi * stop, 24)
    return np.column_stack((x + rx * np.cos(angles), y + ry * np.sin(angles)))


def blob(*knots: Point) -> Outline:
    """Give the smooth closed line through the knots (Catmull-Rom)."""
    return _through(np.array(knots[-1:] + knots + knots[:2], dtype=np.float64))


def curve(*knots: Point) -> Outline:
    """Give the smooth open line through the knots (Catmull-Rom)."""
    smooth = _through(np.array(knots[:1] + knots + knots[-1:], dtype=np.float64))
    return np.vstack((smooth, knots[-1]))


def limb(path: Outline, start: float, stop: float) -> Outline:
    """Give the tube around a path whose width runs from ``start`` to ``stop``, with rounded ends."""
    along = np.gradient(path, axis=0)
    along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    half = np.linspace(start / 2, stop / 2, len(path))[:, None]
    across = along[:, ::-1] * (-1.0, 1.0) * half
    tip = path[-1] + along[-1] * stop * 0.35
    heel = path[0] - along[0] * start * 0.35
    return np.vstack((path + across, tip, (path - across)[::-1], heel))


def lathe(*profile: Point, x: float = 0.5, smooth: bool = True) -> Outline:
    """Turn ``(half width, y)`` pairs, top to bottom, about the upright line at ``x``."""
    half = curve(*profile) if smooth else polygon(*profile)
    right = np.add(half, (x, 0.0))
    return np.vstack((right, mirror(right[::-1], x)))


def turn(outline: Outline, angle: float, about: Point = (0.0, 0.0)) -> Outline:
    """Turn an outline clockwise by ``angle`` radians."""
    c, s = cos(angle), sin(angle)
    turned: Outline = (outline - about) @ np.array(((c, s), (-s, c))) + about
    return turned


def mirror(outline: Outline, x: float = 0.5) -> Outline:
    """Reflect an outline in the upright line at ``x``."""
    return outline * (-1.0, 1.0) + (2 * x, 0.0)


def polar(x: float, y: float, radius: float, turns: float) -> Point:
    """Give the point at a distance and an angle in turns: 0 is right, 0.25 is down."""
    return x + radius * cos(2 * pi * turns), y + radius * sin(2 * pi * turns)


@cache
def _circle() -> Outline:
    angles = np.linspace(0, 2 * pi, 40, endpoint=False)
    return np.column_stack((np.cos(angles), np.sin(angles)))


@cache
def _catmull_rom(steps: int = 8) -> NDArray[np.float64]:
    t = np.linspace(0, 1, steps, endpoint=False)
    return np.column_stack((-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, -(t**2) + t**3)) / 2


def _through(knots: Outline) -> Outline:
    spans = np.stack((knots[:-3], knots[1:-2], knots[2:-1], knots[3:]), axis=1)
    smooth: Outline = (_catmull_rom() @ spans).reshape(-1, 2)
    return smooth
