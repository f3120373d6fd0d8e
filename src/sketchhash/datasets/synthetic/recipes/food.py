"""Recipes of things to eat."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sketchhash.datasets.synthetic.parts import DARK, Part, Proportions, Surface, line, solid
from sketchhash.datasets.synthetic.shapes import arc, blob, curve, ellipse, lathe, limb, polygon


def apple(p: Proportions) -> Iterator[Part]:
    """Round, with a dip, a stalk and a leaf."""
    skin = p.made_of("red", "green", "yellow", "red", shine=0.8, surface=Surface.STONE)
    wide, dip, low = p.about(0.33), p.about(0.3), p.about(0.9)
    yield line("stalk", curve((0.5, dip + 0.03), (0.51, dip - 0.08), (0.55, dip - 0.15)), 0.03, p.made_of("brown"))
    body = lathe(
        (0.0, dip),
        (0.09, dip - 0.04),
        (wide * 0.75, dip - 0.04),
        (wide, dip + 0.2),
        (wide * 0.75, low - 0.12),
        (0.12, low),
        (0.0, low - 0.03),
    )
    yield solid("body", body, skin)
    yield line("dip", arc(0.5, dip - 0.02, 0.08, 0.035, 0.02, 0.48), 0.014, skin.shaded(0.6), essential=False)
    leaf = blob((0.53, dip - 0.08), (0.62, dip - 0.18), (0.76, dip - 0.18), (0.68, dip - 0.07))
    yield solid("leaf", leaf, p.made_of("green", surface=Surface.LEAVES), essential=p.chance(0.7))


def banana(p: Proportions) -> Iterator[Part]:
    """A ridged crescent."""
    peel = p.made_of("yellow", "yellow", "gold", surface=Surface.STONE, shine=0.4)
    bend, thick = p.about(0.3), p.about(0.2)
    outer = curve((0.12, 0.3), (0.2, 0.32 + bend), (0.45, 0.45 + bend), (0.72, 0.38 + bend), (0.92, 0.26 + bend * 0.3))
    inner = curve(
        (0.9, 0.22 + bend * 0.25),
        (0.68, 0.38 + bend - thick),
        (0.46, 0.44 + bend - thick),
        (0.3, 0.34 + bend - thick * 0.9),
        (0.18, 0.28),
    )
    ridge = curve(
        (0.16, 0.32),
        (0.28, 0.3 + bend - thick * 0.2),
        (0.46, 0.43 + bend - thick * 0.4),
        (0.7, 0.37 + bend - thick * 0.4),
        (0.9, 0.25 + bend * 0.25),
    )
    yield solid("stalk", polygon((0.11, 0.31), (0.1, 0.19), (0.16, 0.18), (0.19, 0.29)), peel.shaded(0.75))
    yield solid("peel", np.vstack((outer, inner)), peel)
    yield line("ridge", ridge, 0.012, peel.shaded(0.7))
    yield solid("tip", ellipse(0.915, 0.24 + bend * 0.27, 0.022), DARK, essential=False)


def carrot(p: Proportions) -> Iterator[Part]:
    """An orange taper with feathery leaves."""
    root = p.made_of("orange", surface=Surface.STONE, shine=0.3)
    green = p.made_of("green", surface=Surface.LEAVES)
    wide, top = p.about(0.13), p.about(0.36)
    for lean in (-0.2, -0.08, 0.05, 0.18):
        frond = limb(
            curve((0.5, top + 0.02), (0.5 + lean * 0.5, top - 0.16), (0.5 + lean, p.about(0.07))),
            0.03,
            p.about(0.07),
        )
        yield solid("leaf", frond, green, essential=abs(lean) > 0.06)
    yield solid(
        "root",
        lathe((0.04, top - 0.01), (wide, top + 0.05), (wide * 0.8, top + 0.22), (wide * 0.4, 0.8), (0.006, 0.97)),
        root,
    )
    for i in range(5):
        y = top + 0.08 + i * 0.1
        side = (-1) ** i
        edge = 0.5 + side * wide * (0.93 - 0.17 * i)
        yield line(
            "groove",
            curve((edge, y), (edge - side * 0.04, y + 0.014), (edge - side * 0.08, y + 0.01)),
            0.01,
            root.shaded(0.6),
            essential=i < 3,
        )


def ice_cream_cone(p: Proportions) -> Iterator[Part]:
    """Scoops on a waffle cone."""
    waffle = p.made_of("tan", "gold", surface=Surface.STONE, roundness=0.6)
    flavours = ("pink", "cream", "brown", "white", "green", "yellow")
    half, rim = p.about(0.17), 0.48
    r = half * 1.1
    if p.chance(0.55):
        for shift in (-0.55, 0.55):
            yield solid(
                "scoop",
                ellipse(0.5 + shift * r, rim - r * 0.45, r * 0.85),
                p.made_of(*flavours, surface=Surface.STONE),
            )
        yield solid("scoop", ellipse(0.5, rim - r * 1.45, r * 0.9), p.made_of(*flavours, surface=Surface.STONE))
    else:
        yield solid("scoop", ellipse(0.5, rim - r * 0.6, r * 1.1, r), p.made_of(*flavours, surface=Surface.STONE))
    yield solid("cone", polygon((0.5 - half, rim), (0.5 + half, rim), (0.5, 0.97)), waffle)
    for i in (0.25, 0.5, 0.75):
        for side in (-1, 1):
            start = (0.5 + side * half * (1 - 2 * i), rim)
            stop = (0.5 + side * half * (1 - i), rim + 0.49 * i)
            yield line("waffle", polygon(start, stop), 0.012, waffle.shaded(0.65))
    yield solid(
        "rim",
        limb(polygon((0.5 - half, rim), (0.5 + half, rim)), 0.05, 0.05),
        waffle.shaded(0.9),
        essential=False,
    )


def pineapple(p: Proportions) -> Iterator[Part]:
    """A cross-hatched oval with a crown of leaves."""
    rind = p.made_of("gold", "orange", "tan", surface=Surface.STONE, shine=0.3)
    green = p.made_of("green", "teal", surface=Surface.LEAVES)
    wide, top = p.about(0.2), 0.4
    for tip in (-0.22, 0.22, -0.15, 0.15, -0.07, 0.07, 0.0):
        height = p.about(0.34 - abs(tip) * 0.7)
        leaf = blob(
            (0.5 + tip * 0.3 - 0.045, top + 0.02),
            (0.5 + tip * 0.7 - 0.025, top - height * 0.6),
            (0.5 + tip, top - height),
            (0.5 + tip * 0.7 + 0.03, top - height * 0.5),
            (0.5 + tip * 0.3 + 0.045, top + 0.02),
        )
        yield solid("leaf", leaf, green.shaded(p.between(0.8, 1.15)), essential=abs(tip) != 0.07)
    yield solid("fruit", ellipse(0.5, 0.67, wide, 0.3), rind)
    for offset in (-0.5, -0.17, 0.17, 0.5):
        for side in (-1, 1):
            y = 0.67 + offset * 0.6
            ends = polygon((0.5 - wide * 0.86, y - side * 0.1), (0.5 + wide * 0.86, y + side * 0.1))
            inside = np.clip((ends - (0.5, 0.67)) / (wide, 0.3), -0.92, 0.92)
            inside[:, 0] = np.sign(inside[:, 0]) * np.sqrt(np.maximum(0.94 - inside[:, 1] ** 2, 0.02))
            yield line("hatch", inside * (wide, 0.3) + (0.5, 0.67), 0.012, rind.shaded(0.55))
