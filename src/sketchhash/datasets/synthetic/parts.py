"""What a thing is made of: outlines, named parts with materials, and the proportions of one instance.

A recipe is a function from `Proportions` to parts, back to front. Photo and sketch use the same recipe with different
proportions: a photo shows a thing as it is, a sketch as somebody remembers it.

Outlines are arrays ``(points, 2)`` in a unit box with y down. Closed outlines do not repeat their first point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from math import cos, pi, sin
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Outline = NDArray[np.float64]

Point = tuple[float, float]

Colour = tuple[float, float, float]

Choice = TypeVar("Choice")

PALETTE: dict[str, Colour] = {
    "black": (0.10, 0.10, 0.11),
    "blue": (0.14, 0.30, 0.66),
    "brown": (0.42, 0.26, 0.14),
    "cream": (0.90, 0.84, 0.68),
    "gold": (0.80, 0.62, 0.22),
    "green": (0.22, 0.50, 0.18),
    "grey": (0.52, 0.52, 0.54),
    "orange": (0.88, 0.48, 0.13),
    "pink": (0.92, 0.58, 0.64),
    "purple": (0.45, 0.24, 0.55),
    "red": (0.76, 0.13, 0.12),
    "silver": (0.74, 0.75, 0.77),
    "tan": (0.76, 0.60, 0.40),
    "teal": (0.12, 0.50, 0.52),
    "white": (0.93, 0.92, 0.90),
    "yellow": (0.94, 0.78, 0.16),
}


def polygon(*corners: Point) -> Outline:
    """Join the corners by straight lines."""
    return np.array(corners, dtype=np.float64)


def box(x: float, y: float, width: float, height: float) -> Outline:
    """Return the upright rectangle centred on ``(x, y)``."""
    left, top, right, bottom = x - width / 2, y - height / 2, x + width / 2, y + height / 2
    return polygon((left, top), (right, top), (right, bottom), (left, bottom))


def ellipse(x: float, y: float, rx: float, ry: float | None = None, tilt: float = 0.0) -> Outline:
    """Return the ellipse around ``(x, y)``, turned clockwise by ``tilt`` radians; a circle without ``ry``."""
    around = _circle() * (rx, rx if ry is None else ry)
    return np.add(turn(around, tilt) if tilt else around, (x, y))


def arc(x: float, y: float, rx: float, ry: float, start: float, stop: float) -> Outline:
    """Return the open piece of an ellipse between two angles in turns: 0 is right, 0.25 is down."""
    angles = np.linspace(2 * pi * start, 2 * pi * stop, 24)
    return np.column_stack((x + rx * np.cos(angles), y + ry * np.sin(angles)))


def blob(*knots: Point) -> Outline:
    """Return the smooth closed line through the knots (Catmull-Rom)."""
    return _through(np.array(knots[-1:] + knots + knots[:2], dtype=np.float64))


def curve(*knots: Point) -> Outline:
    """Return the smooth open line through the knots (Catmull-Rom)."""
    smooth = _through(np.array(knots[:1] + knots + knots[-1:], dtype=np.float64))
    return np.vstack((smooth, knots[-1]))


def limb(path: Outline, start: float, stop: float) -> Outline:
    """Return the tube around a path whose width runs from ``start`` to ``stop``, with rounded ends."""
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
    """Return the point at a distance and an angle in turns: 0 is right, 0.25 is down."""
    return x + radius * cos(2 * pi * turns), y + radius * sin(2 * pi * turns)


class Surface(Enum):
    """How a material breaks the light: the name of its texture."""

    PLAIN = "plain"
    FUR = "fur"
    WOOD = "wood"
    LEAVES = "leaves"
    CLOTH = "cloth"
    STONE = "stone"


@dataclass(frozen=True)
class Material:
    """What a part is made of; ``shine`` and ``roundness`` run from 0 to about 1."""

    colour: Colour
    surface: Surface = Surface.PLAIN
    shine: float = 0.25
    roundness: float = 1.0

    def shaded(self, factor: float = 0.6) -> Material:
        """Return the same material darker, or lighter with a factor above one."""
        red, green, blue = (min(channel * factor, 0.97) for channel in self.colour)
        return replace(self, colour=(red, green, blue))


DARK = Material((0.07, 0.06, 0.06), shine=0.6)

BRIGHT = Material((0.95, 0.95, 0.92), shine=0.5)

PAINTS = ("red", "blue", "teal", "yellow", "green", "white", "black", "orange", "purple", "pink")


@dataclass(frozen=True, eq=False)
class Part:
    """One piece of a thing: a filled outline, or a line with a ``width``.

    Parts of one ``group`` grow into each other: no line is drawn where they meet. A part that is not
    ``essential`` is often forgotten in a sketch. A ``clear`` part, such as a lens, hides nothing behind it.
    """

    name: str
    outline: Outline
    material: Material
    width: float = 0.0
    closed: bool = True
    group: str = ""
    essential: bool = True
    clear: bool = False


def solid(
    name: str,
    outline: Outline,
    material: Material,
    group: str = "",
    essential: bool = True,
    clear: bool = False,
) -> Part:
    """Make a filled part."""
    return Part(name, outline, material, group=group, essential=essential, clear=clear)


def line(
    name: str, points: Outline, width: float, material: Material, closed: bool = False, essential: bool = True
) -> Part:
    """Make a thin part: a wire, a whisker, a seam."""
    return Part(name, points, material, width=width, closed=closed, essential=essential)


@dataclass(frozen=True)
class Proportions:
    """Random sizes and colours of one instance of a category.

    ``spread`` is the relative error of every size; from ``memory``, characteristic parts become larger.
    """

    rng: np.random.Generator
    spread: float
    memory: bool

    def about(self, size: float, remembered: float = 1.0) -> float:
        """Vary a size; from memory it becomes ``remembered`` times as large."""
        scale = 1 + self.spread * min(2.0, max(-2.0, self.rng.normal()))
        return size * scale * (remembered if self.memory else 1.0)

    def between(self, low: float, high: float) -> float:
        """Draw a number from an interval, for a pose or a kind of thing rather than for an error."""
        return float(self.rng.uniform(low, high))

    def count(self, low: int, high: int) -> int:
        """Draw a number of things, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return bool(self.rng.random() < probability)

    def pick(self, *choices: Choice) -> Choice:
        """Choose one of several at random."""
        return choices[int(self.rng.integers(len(choices)))]

    def made_of(
        self, *colours: str, surface: Surface = Surface.PLAIN, shine: float = 0.25, roundness: float = 1.0
    ) -> Material:
        """Choose a material in one of the named colours, no two quite alike."""
        red, green, blue = PALETTE[self.pick(*colours)]
        light = self.rng.uniform(0.85, 1.12)
        tints = self.rng.normal(0, 0.02, 3)
        colour = (red * light + tints[0], green * light + tints[1], blue * light + tints[2])
        return Material(colour, surface, shine, roundness)


Recipe = Callable[[Proportions], Iterator[Part]]


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
