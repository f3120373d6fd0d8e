"""Recipes of things in a home: what stands on a table or a floor, and what is eaten."""

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
    curve,
    ellipse,
    lathe,
    limb,
    line,
    polar,
    polygon,
    solid,
    turn,
)


def alarm_clock(p: Proportions) -> Iterator[Part]:
    """A round face with hands, two bells on top and two feet."""
    shell = p.made_of(*PAINTS, shine=0.6)
    metal = p.made_of("silver", "gold", shine=0.9)
    r = p.about(0.3)
    for side in (-1, 1):
        yield solid(
            "foot",
            limb(
                polygon((0.5 + side * r * 0.6, 0.56 + r * 0.7), (0.5 + side * r * 0.85, 0.58 + r * 1.15)),
                0.06,
                0.04,
            ),
            metal,
        )
        x, y = 0.5 + side * r * 0.62, 0.56 - r * 0.92
        dome = np.vstack((arc(x, y, 0.13, 0.12, 0.5, 1.0), polygon((x + 0.13, y + 0.02), (x - 0.13, y + 0.02))))
        bell = turn(dome, side * 0.6, (x, y))
        yield solid("bell", bell, metal)
    yield line("hammer", polygon((0.5, 0.58 - r), (0.5, 0.45 - r)), 0.03, metal, essential=False)
    yield solid("shell", ellipse(0.5, 0.56, r), shell)
    yield solid("face", ellipse(0.5, 0.56, r * 0.8), Material(BRIGHT.colour, shine=0.2, roundness=0.1))
    for i in range(12):
        outer, inner = polar(0.5, 0.56, r * 0.74, i / 12), polar(0.5, 0.56, r * 0.62, i / 12)
        yield line("mark", polygon(outer, inner), 0.012, DARK, essential=i % 3 == 0)
    hour = p.between(0, 1)
    yield line("hour hand", polygon((0.5, 0.56), polar(0.5, 0.56, r * 0.4, hour)), 0.026, DARK)
    yield line(
        "minute hand",
        polygon((0.5, 0.56), polar(0.5, 0.56, r * 0.62, hour + p.between(0.2, 0.8))),
        0.018,
        DARK,
    )


def candle(p: Proportions) -> Iterator[Part]:
    """A burning candle in a holder with a ring."""
    wax = p.made_of("white", "cream", "red", "pink", "yellow", shine=0.3)
    brass = p.made_of("gold", "silver", "brown", shine=0.8)
    half, top = p.about(0.075), p.about(0.36)
    yield line("ring", ellipse(0.77, 0.84, 0.08, 0.07), 0.03, brass, closed=True, essential=p.chance(0.5))
    yield solid("dish", blob((0.2, 0.82), (0.5, 0.86), (0.8, 0.82), (0.68, 0.94), (0.32, 0.94)), brass)
    yield solid("wax", polygon((0.5 - half, top), (0.5 + half, top), (0.5 + half, 0.85), (0.5 - half, 0.85)), wax)
    drip = limb(polygon((0.5 + half * 0.7, top), (0.5 + half * 0.75, top + p.about(0.16))), 0.04, 0.05)
    yield solid("drip", drip, wax, essential=False)
    yield line("wick", polygon((0.5, top), (0.5, top - 0.05)), 0.014, DARK)
    tall = p.about(0.22, 1.15)
    glow = Material((0.99, 0.68, 0.2), shine=0.0, roundness=0.0)
    core = Material((1.0, 0.93, 0.65), shine=0.0, roundness=0.0)
    for name, scale, material in (("flame", 1.0, glow), ("core", 0.55, core)):
        foot = top - 0.03
        shape = lathe(
            (0.002, foot - tall * scale),
            (0.035 * scale, foot - tall * 0.6 * scale),
            (0.055 * scale, foot - tall * 0.25 * scale),
            (0.0, foot),
        )
        yield solid(name, shape, material, essential=name == "flame")


def chair(p: Proportions) -> Iterator[Part]:
    """Four legs, a seat and a back, seen from a corner."""
    wood = p.made_of("brown", "tan", "white", "black", "red", surface=Surface.WOOD, roundness=0.4)
    leg, top = p.about(0.045), p.about(0.08)
    yield solid("back leg", limb(polygon((0.74, 0.55), (0.76, 0.84)), leg, leg), wood.shaded(0.7))
    yield solid("back leg", limb(polygon((0.4, 0.55), (0.41, 0.84)), leg, leg), wood.shaded(0.7))
    for x in (0.36, 0.73):
        yield solid("post", limb(polygon((x, 0.55), (x + 0.02, top)), leg, leg), wood)
    if p.chance(0.5):
        for y in (top + 0.06, top + 0.19, top + 0.32):
            yield solid("rail", polygon((0.37, y), (0.75, y), (0.75, y + 0.05), (0.37, y + 0.05)), wood.shaded(0.9))
    else:
        yield solid(
            "rail",
            polygon((0.37, top + 0.01), (0.75, top + 0.01), (0.75, top + 0.09), (0.37, top + 0.09)),
            wood.shaded(0.9),
        )
        for x in (0.46, 0.56, 0.66):
            yield solid("slat", limb(polygon((x, top + 0.1), (x - 0.01, 0.54)), 0.03, 0.03), wood.shaded(0.9))
    yield solid("front leg", limb(polygon((0.26, 0.64), (0.25, 0.95)), leg, leg), wood)
    yield solid("front leg", limb(polygon((0.65, 0.64), (0.65, 0.95)), leg, leg), wood)
    yield solid("apron", polygon((0.22, 0.65), (0.68, 0.65), (0.68, 0.7), (0.22, 0.7)), wood.shaded(0.85))
    yield solid("seat", polygon((0.37, 0.53), (0.79, 0.53), (0.69, 0.66), (0.21, 0.66)), wood.shaded(1.15))


def lightbulb(p: Proportions) -> Iterator[Part]:
    """A glass pear on a threaded cap."""
    glass = Material((0.93, 0.9, 0.74) if p.chance(0.6) else (0.8, 0.86, 0.88), shine=1.0, roundness=0.9)
    cap = p.made_of("silver", "gold", "grey", shine=0.8)
    wire = p.made_of("gold", "grey", "brown")
    r, neck = p.about(0.26), p.about(0.1)
    yield solid(
        "glass",
        lathe(
            (0.02, 0.37 - r * 1.05),
            (r * 0.75, 0.37 - r * 0.75),
            (r, 0.37),
            (r * 0.72, 0.53),
            (neck, 0.7),
            (neck, 0.74),
        ),
        glass,
    )
    for x in (-0.05, 0.05):
        yield line("support", curve((0.5 + x * 0.5, 0.72), (0.5 + x * 0.6, 0.55), (0.5 + x * 1.6, 0.4)), 0.01, wire)
    yield line(
        "filament",
        curve((0.42, 0.4), (0.455, 0.34), (0.485, 0.42), (0.515, 0.34), (0.545, 0.42), (0.58, 0.4)),
        0.014,
        wire.shaded(0.8),
    )
    yield solid(
        "cap",
        polygon((0.5 - neck * 1.05, 0.73), (0.5 + neck * 1.05, 0.73), (0.5 + neck, 0.9), (0.5 - neck, 0.9)),
        cap,
    )
    for y in (0.77, 0.815, 0.86):
        yield line(
            "thread",
            polygon((0.5 - neck * 1.1, y - 0.01), (0.5 + neck * 1.1, y + 0.01)),
            0.018,
            cap.shaded(0.65),
        )
    yield solid("contact", lathe((neck * 0.6, 0.9), (neck * 0.4, 0.95), (0.005, 0.965)), DARK)


def mug(p: Proportions) -> Iterator[Part]:
    """A straight cup with one handle."""
    glaze = p.made_of(*PAINTS, shine=0.8, surface=Surface.PLAIN)
    half, top = p.about(0.24), p.about(0.24)
    x = 0.42
    handle = curve(
        (x + half * 0.9, 0.36),
        (x + half + 0.17, 0.38),
        (x + half + p.about(0.2), 0.56),
        (x + half + 0.12, 0.72),
        (x + half * 0.9, 0.74),
    )
    yield solid("handle", limb(handle, 0.065, 0.06), glaze)
    wall = np.vstack(
        (
            polygon((x - half, top), (x + half, top)),
            polygon((x + half * 0.93, 0.84)),
            arc(x, 0.84, half * 0.93, 0.05, 0.0, 0.5),
        )
    )
    yield solid("wall", wall, glaze)
    yield solid("rim", ellipse(x, top, half, p.about(0.05)), glaze.shaded(1.15))
    yield solid(
        "drink",
        ellipse(x, top + 0.008, half * 0.86, 0.036),
        p.made_of("brown", "black", "cream"),
        essential=False,
    )
    if p.chance(0.4):
        yield line(
            "band",
            arc(x, top + 0.22, half * 0.98, 0.05, 0.02, 0.48),
            0.05,
            p.made_of(*PAINTS),
            essential=False,
        )


def tablelamp(p: Proportions) -> Iterator[Part]:
    """A shade like a cut cone over a turned foot."""
    shade = p.made_of("cream", "yellow", "white", "red", "orange", "teal", surface=Surface.CLOTH, roundness=0.5)
    foot = p.made_of("brown", "gold", "blue", "silver", "white", "green", shine=0.8)
    top, bottom, low = p.about(0.14), p.about(0.32), p.about(0.46)
    yield solid("stem", lathe((0.025, 0.4), (0.03, 0.56), (p.about(0.09), 0.68), (0.035, 0.8), (0.04, 0.88)), foot)
    yield solid("base", blob((0.34, 0.93), (0.4, 0.87), (0.6, 0.87), (0.66, 0.93), (0.5, 0.96)), foot)
    yield line("cord", curve((0.58, low), (0.585, 0.52), (0.58, 0.58)), 0.008, DARK, essential=False)
    yield solid(
        "shade",
        polygon((0.5 - top, 0.06), (0.5 + top, 0.06), (0.5 + bottom, low), (0.5 - bottom, low)),
        shade,
    )


def teapot(p: Proportions) -> Iterator[Part]:
    """A round belly with a spout, a handle and a lid."""
    glaze = p.made_of(*PAINTS, "silver", "brown", shine=0.9)
    half, high = p.about(0.26), p.about(0.21)
    x, y = 0.5, 0.6
    handle = curve(
        (x + half * 0.75, y - high * 0.7),
        (x + half + 0.15, y - high * 0.75),
        (x + half + 0.16, y + 0.05),
        (x + half * 0.8, y + high * 0.55),
    )
    yield line("handle", handle, 0.05, glaze.shaded(0.85))
    spout = curve(
        (x - half * 0.7, y + high * 0.5),
        (x - half - 0.07, y + high * 0.15),
        (x - half - 0.09, y - high * 0.5),
        (x - half - 0.17, y - high * 0.85),
    )
    yield solid("spout", limb(spout, 0.16, 0.05), glaze, group="teapot")
    yield solid("belly", ellipse(x, y, half, high), glaze, group="teapot")
    yield solid(
        "foot",
        polygon(
            (x - half * 0.5, y + high * 0.9),
            (x + half * 0.5, y + high * 0.9),
            (x + half * 0.55, y + high * 1.08),
            (x - half * 0.55, y + high * 1.08),
        ),
        glaze,
        essential=False,
    )
    lid = y - high * 0.85
    yield solid(
        "lid",
        np.vstack((arc(x, lid, half * 0.58, p.about(0.09), 0.5, 1.0), arc(x, lid, half * 0.58, 0.02, 0.0, 0.5))),
        glaze.shaded(1.1),
    )
    yield solid("knob", ellipse(x, lid - 0.11, p.about(0.035)), glaze.shaded(0.8))


def wineglass(p: Proportions) -> Iterator[Part]:
    """A bowl with wine, on a thin stem and a flat foot."""
    glass = Material((0.78, 0.83, 0.84), shine=1.0, roundness=0.6)
    wine = p.made_of("red", "purple", "gold", "yellow", shine=0.7)
    half, rim, level = p.about(0.2), p.about(0.08), p.about(0.27)
    foot = p.about(0.18)
    yield solid("foot", ellipse(0.5, 0.92, foot, 0.035), glass)
    yield solid("stem", lathe((0.02, 0.5), (0.014, 0.7), (0.016, 0.86), (0.05, 0.91)), glass)
    yield solid("bowl", lathe((half * 0.85, rim), (half, 0.26), (half * 0.8, 0.42), (0.025, 0.53)), glass)
    yield solid("wine", lathe((half * 0.96, level), (half * 0.9, 0.36), (half * 0.68, 0.44), (0.02, 0.515)), wine)
    yield line("surface", arc(0.5, level, half * 0.94, 0.03, 0.0, 0.5), 0.01, wine.shaded(0.7), essential=False)
    yield solid("rim", ellipse(0.5, rim, half * 0.85, 0.03), glass.shaded(1.15))


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
