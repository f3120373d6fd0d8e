"""Recipes of things people carry, wear, work and play with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sketchhash.datasets.synthetic.parts import (
    BRIGHT,
    DARK,
    PAINTS,
    Material,
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


def envelope(p: Proportions) -> Iterator[Part]:
    """A closed letter with a stamp."""
    paper = p.made_of("white", "cream", "tan", "pink", roundness=0.1, shine=0.05)
    tall = p.about(0.5)
    top, bottom = 0.5 - tall / 2, 0.5 + tall / 2
    yield solid("letter", box(0.5, 0.5, 0.86, tall), paper)
    fold = paper.shaded(0.7)
    apex = 0.5 + p.between(-0.02, 0.08)
    yield line("fold", polygon((0.07, bottom), (0.4, apex - 0.06)), 0.012, fold, essential=False)
    yield line("fold", polygon((0.93, bottom), (0.6, apex - 0.06)), 0.012, fold, essential=False)
    yield solid("flap", polygon((0.07, top), (0.93, top), (0.5, apex)), paper.shaded(0.9))
    yield solid(
        "seal",
        ellipse(0.5, apex - 0.02, p.about(0.05)),
        p.made_of("red", "gold", shine=0.6),
        essential=p.chance(0.5),
    )


def eyeglasses(p: Proportions) -> Iterator[Part]:
    """Two lenses, a bridge and folded-out temples."""
    frame = p.made_of("black", "brown", "red", "gold", "blue", "silver", shine=0.6)
    lens = Material((0.62, 0.7, 0.74), shine=0.9, roundness=0.2)
    rx, ry = p.about(0.19), p.about(0.15)
    square = p.chance(0.4)
    for side in (-1, 1):
        x = 0.5 + side * 0.24
        temple = curve((x + side * rx * 0.9, 0.53), (x + side * (rx + 0.07), 0.4), (x + side * (rx + 0.02), 0.24))
        yield line("temple", temple, 0.028, frame)
        rim = ellipse(x, 0.6, rx, ry)
        if square:
            rim = blob(
                (x - rx, 0.6 - ry * 0.8),
                (x, 0.6 - ry),
                (x + rx, 0.6 - ry * 0.8),
                (x + rx * 0.95, 0.6 + ry * 0.6),
                (x, 0.6 + ry),
                (x - rx * 0.95, 0.6 + ry * 0.6),
            )
        yield solid("lens", rim, lens, clear=True)
        yield line("rim", rim, 0.032, frame, closed=True)
        yield line(
            "glint",
            polygon((x - rx * 0.4, 0.6 + ry * 0.3), (x + rx * 0.1, 0.6 - ry * 0.4)),
            0.01,
            BRIGHT,
            essential=False,
        )
    yield line("bridge", curve((0.26 + rx, 0.58), (0.5, 0.54), (0.74 - rx, 0.58)), 0.03, frame)


def guitar(p: Proportions) -> Iterator[Part]:
    """A waisted body with a sound hole, a fretted neck, a head with pegs."""
    wood = p.made_of("tan", "orange", "brown", "red", "gold", surface=Surface.WOOD, shine=0.6, roundness=0.4)
    dark = p.made_of("brown", "black", surface=Surface.WOOD)
    upper, lower = p.about(0.14), p.about(0.2)
    for y in (0.06, 0.1, 0.14):
        yield line("peg", polygon((0.43, y), (0.57, y)), 0.018, p.made_of("silver"), essential=y == 0.1)
    yield solid(
        "body",
        lathe((0.03, 0.47), (upper, 0.53), (upper * 0.8, 0.65), (lower, 0.8), (lower * 0.7, 0.94), (0.02, 0.96)),
        wood,
    )
    yield solid("hole", ellipse(0.5, 0.66, p.about(0.06)), DARK)
    yield solid("neck", polygon((0.475, 0.16), (0.525, 0.16), (0.53, 0.6), (0.47, 0.6)), dark)
    yield solid("head", polygon((0.455, 0.03), (0.545, 0.03), (0.53, 0.17), (0.47, 0.17)), dark)
    for y in np.linspace(0.2, 0.46, 5):
        yield line("fret", polygon((0.475, y), (0.525, y)), 0.007, BRIGHT, essential=False)
    yield solid("bridge", box(0.5, 0.82, 0.14, 0.03), dark)
    for x in (0.488, 0.512):
        yield line("string", polygon((x, 0.1), (x, 0.82)), 0.005, BRIGHT, essential=False)


def hammer(p: Proportions) -> Iterator[Part]:
    """A handle through a steel head with a face and a claw."""
    wood = p.made_of("tan", "brown", "gold", "red", surface=Surface.WOOD)
    steel = p.made_of("grey", "silver", "black", shine=0.8)
    thick, head = p.about(0.075), p.about(0.07, 1.1)
    yield solid("handle", limb(polygon((0.5, 0.22), (0.5, 0.6), (0.5, 0.93)), thick * 0.8, thick * 1.15), wood)
    claw = blob(
        (0.5, 0.2 - head),
        (0.68, 0.19 - head),
        (0.8, 0.24),
        (0.87, 0.36),
        (0.78, 0.3),
        (0.66, 0.2 + head * 0.7),
        (0.5, 0.2 + head),
    )
    yield solid("claw", claw, steel, group="head")
    yield solid("block", box(0.42, 0.2, 0.2, head * 2), steel, group="head")
    yield solid("face", box(0.25, 0.2, p.about(0.14), head * 2.7), steel, group="face")


def key(p: Proportions) -> Iterator[Part]:
    """A ring, a shaft and two or three teeth."""
    metal = p.made_of("gold", "silver", "brown", "grey", shine=0.9)
    r, thick = p.about(0.15), p.about(0.055)
    lobes = p.chance(0.4)
    start = 0.22 if lobes else 0.2 + r
    yield solid("shaft", box((start + 0.93) / 2, 0.5, 0.93 - start, thick), metal, group="key")
    for i in range(p.count(2, 3)):
        yield solid("tooth", box(0.9 - 0.085 * i, 0.56, 0.05, p.between(0.14, 0.2)), metal, group="key")
    if lobes:
        for turns in (0.25, 0.5, 0.75):
            x, y = polar(0.22, 0.5, r * 0.62, turns)
            yield line("bow", ellipse(x, y, r * 0.5), 0.05, metal, closed=True)
    else:
        yield line("bow", ellipse(0.2, 0.5, r, r * 1.1), 0.065, metal, closed=True)
    yield solid("collar", box(0.4, 0.5, 0.03, thick * 1.7), metal, essential=False)


def scissors(p: Proportions) -> Iterator[Part]:
    """Two crossed blades with finger rings."""
    steel = p.made_of("silver", "grey", shine=0.9, roundness=0.5)
    plastic = p.made_of("red", "blue", "black", "orange", "green", shine=0.4)
    opening, r = p.between(0.18, 0.5), p.about(0.1)
    pivot = (0.5, 0.5)
    for side in (-1, 1):
        blade = polygon(
            (0.5, 0.56),
            (0.5 + side * 0.045, 0.5),
            (0.5 + side * 0.035, 0.28),
            (0.5, 0.06),
            (0.485, 0.3),
            (0.475, 0.5),
        )
        yield solid("blade", turn(blade, side * opening / 2, pivot), steel)
        shank = polygon((0.5, 0.5), (0.5 - side * 0.03, 0.72))
        yield line("shank", turn(shank, side * opening / 2, pivot), 0.05, plastic)
        ring = ellipse(0.5 - side * 0.06, 0.71 + r, r * 0.85, r * 1.2)
        yield line("ring", turn(ring, side * opening * 0.6, pivot), 0.045, plastic, closed=True)
    yield solid("screw", ellipse(0.5, 0.5, 0.026), steel.shaded(0.7))


def t_shirt(p: Proportions) -> Iterator[Part]:
    """A body, two short sleeves and a round neck."""
    cloth = p.made_of(*PAINTS, "grey", surface=Surface.CLOTH, shine=0.05, roundness=0.35)
    half, sleeve = p.about(0.24), p.about(0.19)
    right = polygon(
        (0.6, 0.12),
        (0.5 + half, 0.17),
        (0.52 + half + sleeve, 0.4),
        (0.5 + half + sleeve * 0.45, 0.47),
        (0.5 + half, 0.37),
        (0.5 + half, 0.92),
    )
    neck = arc(0.5, 0.12, 0.1, 0.08, 0.5, 0.0)
    yield solid("shirt", np.vstack((right, mirror(right)[::-1], neck)), cloth)
    for side in (False, True):
        seam = curve((0.5 + half - 0.01, 0.18), (0.5 + half - 0.035, 0.28), (0.5 + half, 0.38))
        yield line("seam", mirror(seam) if side else seam, 0.01, cloth.shaded(0.7), essential=False)
    yield line("collar", arc(0.5, 0.125, 0.115, 0.1, 0.5, 0.0), 0.02, cloth.shaded(0.8))
    for y in (0.5, 0.62):
        if p.chance(0.35):
            yield solid(
                "stripe",
                box(0.5, y, half * 1.97, 0.06),
                p.made_of(*PAINTS, surface=Surface.CLOTH, roundness=0.05),
                essential=False,
            )


def umbrella(p: Proportions) -> Iterator[Part]:
    """An open canopy with a scalloped edge and a hooked handle."""
    bright = ("red", "blue", "yellow", "purple", "green", "black", "teal", "pink")
    cloth = p.made_of(*bright, surface=Surface.CLOTH, shine=0.2)
    other = p.made_of(*bright, "white", surface=Surface.CLOTH) if p.chance(0.4) else cloth.shaded(0.88)
    wide, tall, edge = p.about(0.44), p.about(0.36), 0.5
    hook = np.vstack((polygon((0.5, 0.2), (0.5, 0.85)), arc(0.56, 0.85, 0.06, 0.075, 0.5, 0.0)))
    yield line("handle", hook, 0.028, p.made_of("brown", "black", "silver"))
    yield line("tip", polygon((0.5, edge - tall - 0.06), (0.5, edge - tall + 0.02)), 0.022, DARK)
    scallops = [arc(0.5 + wide * (0.75 - 0.5 * i), edge, wide * 0.25, 0.055, 0.0, -0.5) for i in range(4)]
    yield solid("canopy", np.vstack((arc(0.5, edge, wide, tall, 0.5, 1.0), *scallops)), cloth)
    ribs = [
        curve((0.5, edge - tall), (0.5 + wide * s * 0.72, edge - tall * 0.62), (0.5 + wide * s, edge))
        for s in (-0.5, 0.5)
    ]
    inner = [arc(0.5 + wide * s, edge, wide * 0.25, 0.055, 0.0, -0.5) for s in (0.25, -0.25)]
    yield solid("gore", np.vstack((ribs[0][::-1], ribs[1], *inner)), other)
    yield line("rib", polygon((0.5, edge - tall), (0.5, edge)), 0.008, cloth.shaded(0.7))
