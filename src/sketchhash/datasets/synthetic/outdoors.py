"""Recipes of what stands outdoors: plants, a house, a snowman."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np

from sketchhash.datasets.synthetic.parts import (
    BRIGHT,
    DARK,
    Material,
    Outline,
    Part,
    Proportions,
    Surface,
    arc,
    blob,
    box,
    curve,
    ellipse,
    lathe,
    limb,
    line,
    mirror,
    polar,
    polygon,
    solid,
    turn,
)


def cactus(p: Proportions) -> Iterator[Part]:
    """A ribbed column with raised arms."""
    skin = p.made_of("green", "teal", "green", surface=Surface.STONE, shine=0.15)
    thick, top = p.about(0.17), p.about(0.1)
    low, high = p.between(0.5, 0.62), p.between(0.38, 0.5)
    for side, y, tip in ((False, low, 0.24), (True, high, 0.2)):
        arm = curve((0.5, y), (0.33, y + 0.02), (0.24, y - 0.04), (0.23, y - tip))
        yield solid("arm", limb(mirror(arm) if side else arm, thick * 0.7, thick * 0.6), skin, group="cactus")
    yield solid(
        "column",
        limb(polygon((0.5, 0.95), (0.5, 0.5), (0.5, top + 0.05)), thick, thick),
        skin,
        group="cactus",
    )
    for shift in (-0.28, 0.0, 0.28):
        x = 0.5 + shift * thick
        yield line("rib", polygon((x, top + 0.06), (x, 0.93)), 0.01, skin.shaded(0.65), essential=False)
    spine = p.made_of("cream")
    for i in range(10):
        x, y = 0.5 + (-1) ** i * thick * 0.5, top + 0.08 + 0.085 * i
        yield line("spine", polygon((x, y), (x + (-1) ** i * 0.035, y - 0.015)), 0.007, spine, essential=i % 3 == 0)
    yield solid("flower", ellipse(0.5, top - 0.02, 0.05, 0.035), p.made_of("pink", "red", "yellow"), essential=False)


def flower_with_stem(p: Proportions) -> Iterator[Part]:
    """Petals around a centre, on a stem with leaves."""
    petal = p.made_of("red", "yellow", "pink", "white", "purple", "orange", "blue", surface=Surface.CLOTH)
    green = p.made_of("green", surface=Surface.LEAVES)
    heart, reach = p.about(0.08, 1.15), p.about(0.14)
    x, y, count = 0.5, 0.3, p.count(5, 9)
    yield solid("stem", limb(curve((x, y), (x + p.between(-0.04, 0.04), 0.65), (0.5, 0.97)), 0.025, 0.03), green)
    for side in (False, True):
        leaf = blob((0.5, 0.86), (0.38, 0.74), (0.22, p.about(0.7)), (0.33, 0.83))
        yield solid("leaf", mirror(leaf) if side else leaf, green, essential=side)
    width = pi * (heart + reach * 0.5) / count
    for i in range(count):
        shape = ellipse(x, y - heart - reach * 0.45, width, reach * 0.7)
        yield solid("petal", turn(shape, 2 * pi * i / count, (x, y)), petal)
    yield solid("centre", ellipse(x, y, heart), p.made_of("yellow", "brown", "orange", surface=Surface.STONE))


def house(p: Proportions) -> Iterator[Part]:
    """Four walls, a pitched roof, a door, windows and a chimney."""
    wall = p.made_of("white", "cream", "red", "yellow", "teal", "tan", surface=Surface.STONE, roundness=0.1, shine=0.05)
    roof = p.made_of("red", "brown", "grey", "black", "orange", surface=Surface.WOOD, roundness=0.1)
    pane = Material((0.32, 0.42, 0.5), shine=0.8, roundness=0.1)
    eaves, ridge, half = p.about(0.45), p.about(0.13), p.about(0.34)
    chimney = 0.5 + half * 0.55
    yield solid(
        "chimney",
        box(chimney, (ridge + eaves) / 2 - 0.05, 0.09, eaves - ridge),
        p.made_of("brown", "red", surface=Surface.STONE),
        essential=p.chance(0.6),
    )
    yield solid(
        "wall",
        polygon((0.5 - half, eaves), (0.5 + half, eaves), (0.5 + half, 0.93), (0.5 - half, 0.93)),
        wall,
    )
    yield solid("roof", polygon((0.42 - half, eaves + 0.02), (0.5, ridge), (0.58 + half, eaves + 0.02)), roof)
    yield solid("attic window", ellipse(0.5, (ridge + eaves) / 2 + 0.05, 0.045), pane, essential=False)
    door = p.pick(0.5, 0.5, 0.4)
    wood = p.made_of("brown", "red", "blue", "green", surface=Surface.WOOD, roundness=0.2)
    yield solid(
        "door",
        polygon((door - 0.07, 0.93), (door - 0.07, 0.66), (door + 0.07, 0.66), (door + 0.07, 0.93)),
        wood,
    )
    yield solid("knob", ellipse(door + 0.045, 0.8, 0.012), p.made_of("gold"), essential=False)
    for x in (0.5 - half * 0.62, 0.5 + half * 0.62):
        if abs(x - door) > 0.13:
            size = p.about(0.13)
            yield solid("frame", box(x, 0.62, size + 0.03, size + 0.03), BRIGHT, essential=False)
            yield solid("window", box(x, 0.62, size, size), pane)
            yield line("bar", polygon((x, 0.62 - size / 2), (x, 0.62 + size / 2)), 0.012, BRIGHT)
            yield line("bar", polygon((x - size / 2, 0.62), (x + size / 2, 0.62)), 0.012, BRIGHT)


def mushroom(p: Proportions) -> Iterator[Part]:
    """A spotted cap on a pale stalk."""
    cap = p.made_of("red", "brown", "orange", "tan", shine=0.5)
    pale = p.made_of("cream", "white", surface=Surface.STONE)
    wide, height, stalk = p.about(0.4), p.about(0.42), p.about(0.1)
    brim = 0.56
    yield solid(
        "stalk",
        lathe((stalk * 0.8, brim - 0.06), (stalk * 0.9, 0.75), (stalk * 1.3, 0.92), (stalk * 0.5, 0.96)),
        pale,
    )
    yield solid(
        "ring",
        lathe((stalk * 1.0, 0.65), (stalk * 1.5, 0.7), (stalk * 0.8, 0.71)),
        pale.shaded(0.95),
        essential=False,
    )
    dome = np.vstack((arc(0.5, brim, wide, height, 0.5, 1.0), arc(0.5, brim, wide, 0.07, 0.0, 0.5)))
    yield solid("cap", dome, cap)
    for x, y, r in (
        (-0.45, 0.35, 0.13),
        (0.1, 0.65, 0.15),
        (0.5, 0.3, 0.12),
        (-0.1, 0.22, 0.09),
        (-0.3, 0.7, 0.08),
    ):
        spot = ellipse(0.5 + x * wide, brim - y * height, p.about(r) * wide, r * wide * 0.8)
        yield solid("spot", spot, pale, essential=abs(x) > 0.2)


def palm_tree(p: Proportions) -> Iterator[Part]:
    """A bent trunk under drooping fronds."""
    bark = p.made_of("brown", "tan", "grey", surface=Surface.WOOD)
    frond = p.made_of("green", surface=Surface.LEAVES)
    lean = p.between(-0.16, 0.1)
    x, y = 0.5 + lean * 0.3, p.about(0.33)
    trunk = curve((0.48 - lean, 0.96), (0.45 - lean * 0.3, 0.65), (x, y))
    yield solid("trunk", limb(trunk, p.about(0.1), 0.055), bark)
    for at in np.linspace(0.2, 0.85, 5):
        cx, cy = trunk[int(at * (len(trunk) - 1))]
        yield line(
            "ring",
            curve((cx - 0.03, cy - 0.01), (cx, cy + 0.01), (cx + 0.03, cy - 0.01)),
            0.01,
            bark.shaded(0.6),
            essential=False,
        )
    reach = p.about(0.4)
    for dx, dy in (
        (-1.0, 0.35),
        (1.0, 0.3),
        (-0.95, -0.15),
        (0.95, -0.2),
        (-0.5, -0.6),
        (0.5, -0.62),
        (-0.6, 0.75),
        (0.65, 0.72),
    ):
        yield solid(
            "frond",
            _frond(x, y, dx * reach, dy * reach * p.about(0.8)),
            frond.shaded(p.between(0.75, 1.15)),
            essential=abs(dy) < 0.62,
        )
    for shift in (-0.025, 0.03):
        yield solid("coconut", ellipse(x + shift, y + 0.035, 0.03), p.made_of("brown"), essential=False)


def snowman(p: Proportions) -> Iterator[Part]:
    """Balls of snow with a hat, a carrot nose and twigs for arms."""
    snow = p.made_of("white", surface=Surface.STONE, shine=0.1)
    twig = p.made_of("brown")
    head, chest, base = p.about(0.115, 1.1), p.about(0.155), p.about(0.21)
    feet = 0.97 - base
    middle = feet - base * 0.75 - chest * 0.65
    top = middle - chest * 0.75 - head * 0.7
    for side in (-1, 1):
        hand = (0.5 + side * 0.4, middle - p.between(0.0, 0.16))
        yield line("arm", polygon((0.5 + side * chest * 0.8, middle), hand), 0.018, twig)
        yield line(
            "finger",
            polygon((hand[0] - side * 0.06, hand[1] + 0.02), (hand[0] - side * 0.01, hand[1] - 0.06)),
            0.012,
            twig,
            essential=False,
        )
    for y, r in ((feet, base), (middle, chest), (top, head)):
        yield solid("ball", ellipse(0.5, y, r * 1.05, r), snow)
    for y in (middle - chest * 0.35, middle + chest * 0.05, middle + chest * 0.45):
        yield solid("button", ellipse(0.5, y, 0.017), DARK)
    for x in (0.5 - head * 0.35, 0.5 + head * 0.35):
        yield solid("eye", ellipse(x, top - head * 0.15, 0.015), DARK)
    yield solid(
        "nose",
        polygon((0.5, top + head * 0.02), (0.5 - head * 1.1, top + head * 0.25), (0.5, top + head * 0.3)),
        p.made_of("orange"),
    )
    yield line("mouth", arc(0.5, top + head * 0.2, head * 0.5, head * 0.4, 0.08, 0.42), 0.012, DARK, essential=False)
    felt = p.made_of("black", "red", "blue", "brown", surface=Surface.CLOTH)
    brim, tall = top - head * 0.75, p.about(0.13)
    yield solid(
        "hat",
        polygon(
            (0.5 - head * 0.65, brim),
            (0.5 - head * 0.6, brim - tall),
            (0.5 + head * 0.6, brim - tall),
            (0.5 + head * 0.65, brim),
        ),
        felt,
    )
    yield solid("brim", limb(polygon((0.5 - head * 1.15, brim), (0.5 + head * 1.15, brim)), 0.03, 0.03), felt)


def tree(p: Proportions) -> Iterator[Part]:
    """A trunk under a cloud of leaves."""
    bark = p.made_of("brown", "grey", surface=Surface.WOOD)
    leaves = p.made_of("green", "green", "green", "orange", "gold", surface=Surface.LEAVES, shine=0.0)
    trunk, wide, tall = p.about(0.1), p.about(0.36), p.about(0.3)
    yield solid(
        "trunk",
        polygon(
            (0.5 - trunk * 0.45, 0.5),
            (0.5 + trunk * 0.45, 0.5),
            (0.5 + trunk * 0.55, 0.88),
            (0.5 + trunk, 0.97),
            (0.5 - trunk, 0.97),
            (0.5 - trunk * 0.55, 0.88),
        ),
        bark,
    )
    count = p.count(7, 10)
    for i in range(count):
        x, y = polar(0.5, 0.37, 1.0, i / count)
        r = p.about(0.14)
        yield solid(
            "bough",
            ellipse(0.5 + (x - 0.5) * wide * 0.7, 0.37 + (y - 0.37) * tall * 0.65, r, r * 0.9),
            leaves,
            group="crown",
        )
    yield solid("crown", ellipse(0.5, 0.37, wide * 0.75, tall * 0.75), leaves, group="crown")
    for side in (-1, 1):
        yield line(
            "branch",
            curve((0.5, 0.66), (0.5 + side * 0.04, 0.58), (0.5 + side * 0.12, 0.52)),
            0.02,
            bark.shaded(0.8),
            essential=False,
        )


def _frond(x: float, y: float, dx: float, dy: float) -> Outline:
    """Return a leaf that rises from ``(x, y)`` and droops to its tip, with a toothed lower edge."""
    lift = abs(dx) * 0.35
    upper = curve((x, y), (x + dx * 0.5, y + dy * 0.5 - lift), (x + dx, y + dy))
    teeth = upper[::-2] * 1.0
    teeth[1:-1:2] += (0.0, 0.07)
    teeth[2:-1:2] += (0.0, 0.025)
    return np.vstack((upper, teeth[1:]))
