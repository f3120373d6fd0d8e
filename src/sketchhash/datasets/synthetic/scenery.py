"""Places to take a photo in: sky, ground and clutter, out of focus behind the thing itself.

A place is painted at half the photo's size, which blurs it as distance does, and costs a quarter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from PIL import Image, ImageFilter

from sketchhash.datasets.synthetic.painter import Painter, Picture
from sketchhash.datasets.synthetic.parts import PALETTE, Colour, Surface
from sketchhash.datasets.synthetic.shapes import box, ellipse, lathe, limb, polygon, turn


class Footing(Enum):
    """How a thing is held in its place, which decides where it is and how its shadow falls."""

    STANDING = "standing"
    LYING = "lying"
    FLOATING = "floating"


@dataclass(frozen=True)
class Place:
    """Somewhere to take photos: how things rest there, and how it is painted."""

    footing: Footing
    paint: Callable[[Painter], None]


def paint(place: Place, rng: np.random.Generator, size: int, horizon: float) -> Picture:
    """Paint a place, ``(size, size, 3)`` from 0 to 1, with the horizon at a share of the height."""
    painter = Painter(rng, (size + 1) // 2, horizon)
    place.paint(painter)
    blurred = painter.image().filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 1.6) * size / 224))
    scaled = blurred.resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(scaled, dtype=np.float32) / np.float32(255)


def _sky(p: Painter) -> None:
    p.backdrop((0.30, 0.50, 0.80), (0.74, 0.84, 0.92), clouds=p.rng.uniform(0.02, 0.16))


def _bushes(p: Painter, low: int, high: int) -> None:
    for x, y, size in p.spots(low, high):
        green = (0.16 + 0.12 * size, 0.30 + 0.14 * y, 0.12)
        for dx, dy, r in p.spots(4, 7):
            at = (x * 1.2 - 0.1 + (dx - 0.5) * 0.2, p.horizon - 0.03 - dy * (0.08 + 0.22 * size))
            p.lump(ellipse(*at, 0.04 + 0.07 * r, 0.04 + 0.05 * r), green)


def _meadow(p: Painter) -> None:
    _sky(p)
    p.ground((0.36, 0.50, 0.20), Surface.FUR, 0.16)
    _bushes(p, 2, 6)
    for x, y, size in p.spots(1, 5):
        at = p.horizon + 0.03 + y * (1 - p.horizon)
        p.lump(ellipse(x, at, 0.02 + 0.05 * size, 0.012 + 0.03 * size), p.any_colour())


def _street(p: Painter) -> None:
    _sky(p)
    left = -0.1
    while left < 1.0:
        width, height = p.rng.uniform(0.14, 0.34), p.rng.uniform(0.2, 0.75)
        middle, top = left + width / 2, p.horizon - height
        p.lump(box(middle, p.horizon - height / 2, width, height), p.any_colour())
        pane = p.any_colour()
        for row in np.arange(top + 0.05, p.horizon - 0.06, 0.09):
            for x in (middle - width * 0.28, middle, middle + width * 0.28):
                p.sheet(box(x, row, width * 0.14, 0.05), pane)
        left += width * p.rng.uniform(0.8, 1.3)
    p.ground((0.42, 0.42, 0.43), Surface.STONE, 0.06)
    _bushes(p, 0, 2)
    for x, y, size in p.spots(0, 3):
        p.lump(box(x, p.horizon - 0.1, 0.015, 0.5 * size + 0.2), (0.25, 0.25, 0.27))
        p.lump(ellipse(1 - x, p.horizon + 0.02, 0.05 + 0.05 * y, 0.05), p.any_colour())


def _desert(p: Painter) -> None:
    _sky(p)
    for x, _, size in p.spots(2, 4):
        p.lump(ellipse(x, p.horizon, 0.2 + 0.2 * size, 0.05 + 0.16 * size), (0.55, 0.42, 0.34))
    p.ground((0.80, 0.66, 0.46), Surface.STONE, 0.08)
    for x, y, size in p.spots(2, 6):
        p.lump(ellipse(x, p.horizon + y * (1 - p.horizon), 0.02 + 0.05 * size, 0.03), (0.5, 0.42, 0.34))


def _snow(p: Painter) -> None:
    p.backdrop((0.45, 0.58, 0.74), (0.72, 0.78, 0.84), clouds=0.1)
    for x, _, size in p.spots(3, 8):
        height = 0.15 + 0.4 * size
        dark = (0.16, 0.26 + 0.1 * size, 0.22)
        p.lump(
            polygon((x - height * 0.25, p.horizon), (x, p.horizon - height), (x + height * 0.25, p.horizon)),
            dark,
        )
    p.ground((0.80, 0.84, 0.90), Surface.STONE, 0.05)
    _bushes(p, 0, 2)


def _sea(p: Painter) -> None:
    _sky(p)
    for x, _, size in p.spots(0, 3):
        p.lump(ellipse(x, p.horizon, 0.15 + 0.25 * size, 0.03 + 0.12 * size), (0.32, 0.42, 0.42))
    p.ground((0.16, 0.38, 0.50), Surface.CLOTH, 0.22)


def _deep(p: Painter) -> None:
    p.backdrop((0.22, 0.62, 0.70), (0.03, 0.20, 0.32), clouds=0.09)
    for x, y, size in p.spots(3, 7):
        weed = (0.10 + 0.25 * y, 0.28, 0.16 + 0.2 * size)
        stem = polygon((x, 1.0), (x + 0.05 * (y - 0.5), 0.9), (x + 0.3 * (y - 0.5), 0.95 - 0.4 * size))
        p.lump(limb(stem, 0.06, 0.03), weed)
        p.lump(ellipse(1 - x, 1.0, 0.06 + 0.12 * y, 0.04 + 0.1 * size), (0.3, 0.3, 0.28))
    for x, y, size in p.spots(4, 14):
        p.lump(ellipse(x, y, 0.004 + 0.012 * size), (0.7, 0.85, 0.88))


def _heaven(p: Painter) -> None:
    p.backdrop((0.24, 0.46, 0.80), (0.78, 0.86, 0.94), clouds=p.rng.uniform(0.05, 0.22))
    for x, y, size in p.spots(0, 4):
        for dx, dy, r in p.spots(4, 8):
            p.lump(
                ellipse(x + (dx - 0.5) * 0.3, y + (dy - 0.5) * 0.08, 0.03 + 0.06 * r * size),
                (0.88, 0.9, 0.93),
            )
    if p.rng.random() < 0.5:
        for x, _, size in p.spots(2, 4):
            p.lump(ellipse(x, 1.0, 0.2 + 0.3 * size, 0.06 + 0.14 * size), (0.30, 0.40, 0.36))


def _room(p: Painter) -> None:
    wall = p.any_colour()
    p.backdrop(_pale(wall), _pale(wall), clouds=-0.03, kind=Surface.STONE)
    for x, y, size in p.spots(2, 5):
        high = y * p.horizon * 0.8
        p.lump(box(x, high, 0.14 + 0.16 * size, 0.18 + 0.14 * y), p.any_colour())
        p.sheet(box(x, high, 0.1 + 0.11 * size, 0.13 + 0.1 * y), p.any_colour())
    left = p.rng.uniform(-0.1, 0.7)
    for i in range(int(p.rng.integers(0, 9))):
        tall = p.rng.uniform(0.1, 0.2)
        p.lump(box(left + 0.04 * i, p.horizon - tall / 2, 0.036, tall), p.any_colour())
    p.ground(PALETTE["brown" if p.rng.random() < 0.6 else "cream"], Surface.WOOD, 0.1)
    for x, y, size in p.spots(2, 5):
        at = p.horizon + 0.12 * y
        tall = 0.1 + 0.2 * size
        if y < 0.35:
            p.lump(
                lathe((0.02, at - tall), (0.02, at - tall * 0.7), (0.05, at - tall * 0.4), (0.05, at), x=x),
                p.any_colour(),
            )
        elif y < 0.7:
            p.lump(box(x, at - tall / 3, tall, tall * 0.7), p.any_colour())
        else:
            p.lump(ellipse(x, at - tall / 4, tall / 3), p.any_colour())


def _tabletop(p: Painter) -> None:
    top, kind = (
        (PALETTE["tan"], Surface.WOOD),
        (p.any_colour(), Surface.CLOTH),
        (PALETTE["grey"], Surface.STONE),
    )[int(p.rng.integers(3))]
    p.backdrop(top, top, clouds=-0.05, kind=kind)
    for x, y, size in p.spots(3, 8):
        # Clutter lies around the middle, where the thing itself is.
        x, y = 0.5 + 1.1 * (x - 0.5), 0.5 + (0.62 if y > 0.5 else -0.62) * (0.6 + 0.4 * size)
        angle = float(p.rng.uniform(0, 6.3))
        if size < 0.3:
            p.sheet(turn(box(x, y, 0.34, 0.26), angle, (x, y)), (0.86, 0.86, 0.83))
        elif size < 0.6:
            p.lump(
                limb(turn(polygon((x - 0.2, y), (x, y), (x + 0.2, y)), angle, (x, y)), 0.03, 0.02),
                p.any_colour(),
            )
        else:
            p.lump(ellipse(x, y, 0.05 + 0.1 * size), p.any_colour())


def _pale(colour: Colour) -> Colour:
    red, green, blue = (0.45 + 0.5 * channel for channel in colour)
    return (red, green, blue)


MEADOW = Place(Footing.STANDING, _meadow)
STREET = Place(Footing.STANDING, _street)
DESERT = Place(Footing.STANDING, _desert)
SNOW = Place(Footing.STANDING, _snow)
ROOM = Place(Footing.STANDING, _room)
SEA = Place(Footing.STANDING, _sea)
DEEP = Place(Footing.FLOATING, _deep)
HEAVEN = Place(Footing.FLOATING, _heaven)
TABLETOP = Place(Footing.LYING, _tabletop)
