"""What a thing is made of: named parts with materials, and the proportions of one instance.

A recipe is a function from `Proportions` to parts, back to front. The camera and the person who draws use
the same recipe with different proportions: the camera sees a thing as it is, a person remembers it wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

import numpy as np

from sketchhash.datasets.synthetic.shapes import Outline

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
        """Give the same material darker, or lighter with a factor above one."""
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
    """Where one instance of a category gets its sizes and colours from.

    ``spread`` is the relative error of every size; who draws from ``memory`` makes the telling parts larger.
    """

    rng: np.random.Generator
    spread: float
    memory: bool

    def about(self, size: float, remembered: float = 1.0) -> float:
        """Vary a size; a person who draws from memory makes it ``remembered`` times as large."""
        scale = 1 + self.spread * min(2.0, max(-2.0, self.rng.normal()))
        return size * scale * (remembered if self.memory else 1.0)

    def between(self, low: float, high: float) -> float:
        """Draw a number from an interval, for a pose or a kind of thing rather than for an error."""
        return float(self.rng.uniform(low, high))

    def count(self, low: int, high: int) -> int:
        """Draw a number of things, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        """Decide something."""
        return bool(self.rng.random() < probability)

    def pick(self, *choices: Choice) -> Choice:
        """Choose one of several."""
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
