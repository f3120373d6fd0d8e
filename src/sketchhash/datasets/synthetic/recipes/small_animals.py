"""Recipes of fish, insects and the like."""

from __future__ import annotations

from collections.abc import Iterator

from sketchhash.datasets.synthetic.parts import BRIGHT, DARK, Part, Proportions, Surface, line, solid
from sketchhash.datasets.synthetic.shapes import arc, blob, curve, ellipse, limb, mirror, polar, polygon, turn


def butterfly(p: Proportions) -> Iterator[Part]:
    """Two pairs of patterned wings, seen from above."""
    wing = p.made_of("orange", "blue", "yellow", "purple", "red", "teal", surface=Surface.CLOTH, roundness=0.4)
    spot = p.made_of("white", "yellow", "black", "cream", roundness=0.2)
    reach, height, lower = p.about(0.43), p.about(0.36), p.about(0.30)
    hind = blob((0.52, 0.52), (0.52 + lower * 0.8, 0.56), (0.5 + lower, 0.74), (0.6, 0.5 + lower * 1.3), (0.53, 0.64))
    fore = blob(
        (0.52, 0.5),
        (0.58, 0.5 - height * 0.6),
        (0.5 + reach * 0.8, 0.48 - height),
        (0.5 + reach, 0.3),
        (0.78, 0.52),
    )
    for side in (fore, hind):
        yield solid("wing", side, wing)
        yield solid("wing", mirror(side), wing)
    for x, y, r in ((0.5 + reach * 0.66, 0.33, p.about(0.06)), (0.5 + lower * 0.66, 0.68, p.about(0.045))):
        yield solid("spot", ellipse(x, y, r, r * 1.2), spot, essential=False)
        yield solid("spot", ellipse(1 - x, y, r, r * 1.2), spot, essential=False)
    for x in (0.36, 0.64):
        yield line("antenna", curve((0.5, 0.36), ((0.5 + x) / 2, 0.22), (x, 0.12)), 0.012, DARK)
    yield solid("body", ellipse(0.5, 0.54, p.about(0.035), 0.2), DARK)


def fish(p: Proportions) -> Iterator[Part]:
    """Swims to the left: round body, forked tail."""
    scales = p.made_of("orange", "silver", "blue", "red", "teal", "yellow", surface=Surface.STONE, shine=0.7)
    fin = scales.shaded(p.pick(0.75, 1.2))
    length, height, tail = p.about(0.34), p.about(0.2), p.about(0.17)
    x = 0.42
    end = x + length * 0.9
    fork = polygon(
        (end - 0.02, 0.5), (end + 0.2, 0.5 - tail), (end + p.between(0.1, 0.16), 0.5), (end + 0.2, 0.5 + tail)
    )
    yield solid("tail", fork, fin)
    top = blob((x - 0.1, 0.52 - height), (x + 0.04, 0.42 - height), (x + 0.2, 0.56 - height), (x + 0.1, 0.6 - height))
    yield solid("back fin", top, fin, essential=False)
    yield solid("belly fin", turn(top, 3.14, (x + 0.03, 0.5)), fin, essential=False)
    body = blob(
        (x - length, 0.5),
        (x - length * 0.5, 0.5 - height * 0.85),
        (x + 0.05, 0.5 - height),
        (x + length, 0.47),
        (x + length, 0.53),
        (x + 0.05, 0.5 + height),
        (x - length * 0.5, 0.5 + height * 0.85),
    )
    yield solid("body", body, scales)
    yield line("gill", arc(x - length * 0.62, 0.5, 0.1, height * 0.75, -0.15, 0.15), 0.012, fin)
    yield solid("side fin", blob((x, 0.52), (x + 0.15, 0.5), (x + 0.12, 0.6), (x + 0.02, 0.57)), fin, essential=False)
    eye = p.about(0.034, 1.3)
    yield solid("eye", ellipse(x - length * 0.68, 0.46, eye), BRIGHT)
    yield solid("pupil", ellipse(x - length * 0.7, 0.46, eye * 0.5), DARK, essential=False)
    yield line(
        "mouth",
        curve((x - length, 0.54), (x - length * 0.9, 0.56), (x - length * 0.8, 0.55)),
        0.01,
        DARK,
        essential=False,
    )


def snail(p: Proportions) -> Iterator[Part]:
    """Creeps to the left under its coiled shell."""
    flesh = p.made_of("tan", "grey", "gold", shine=0.6)
    shell = p.made_of("brown", "orange", "cream", "tan", surface=Surface.STONE, shine=0.5)
    r = p.about(0.25)
    foot = blob(
        (0.1, 0.74),
        (0.14, 0.6),
        (0.24, 0.56),
        (0.32, 0.74),
        (0.6, 0.76),
        (0.94, 0.85),
        (0.6, 0.88),
        (0.2, 0.88),
    )
    for x, lean in ((0.16, -0.06), (0.22, 0.01)):
        tip = (x + lean, p.about(0.4))
        yield solid("feeler", limb(polygon((x, 0.63), tip), 0.03, 0.02), flesh, group="snail")
        yield solid("eye", ellipse(tip[0], tip[1] - 0.005, 0.022), DARK)
    yield solid("foot", foot, flesh, group="snail")
    yield solid("shell", ellipse(0.58, 0.8 - r, r * 1.05, r), shell)
    turns = p.between(2.2, 2.9)
    spiral = [polar(0.58, 0.8 - r, r * (0.98 - 0.95 * t), 0.3 - t * turns) for t in (i / 20 for i in range(21))]
    yield line("coil", curve(*spiral), 0.016, shell.shaded(0.55))
    yield line("mouth", curve((0.11, 0.77), (0.15, 0.79), (0.19, 0.77)), 0.01, DARK, essential=False)


def spider(p: Proportions) -> Iterator[Part]:
    """Eight bent legs around two round parts, seen from above."""
    hair = p.made_of("black", "brown", "grey", surface=Surface.FUR, shine=0.2)
    knee, reach, r = p.about(0.27), p.about(0.43), p.about(0.16)
    for turns, tip in ((-0.16, -0.19), (-0.06, -0.08), (0.04, 0.07), (0.12, 0.17)):
        joint = polar(0.5, 0.46, knee, turns - 0.03)
        leg = limb(curve((0.52, 0.46), joint, polar(0.5, 0.48, reach, tip)), p.about(0.035), 0.012)
        yield solid("leg", leg, hair)
        yield solid("leg", mirror(leg), hair)
    yield solid("abdomen", ellipse(0.5, 0.46 + r, r * 0.95, r * 1.1), hair)
    yield solid("head", ellipse(0.5, 0.38, r * 0.62), hair)
    for x in (0.46, 0.54):
        yield solid("eye", ellipse(x, 0.34, p.about(0.022, 1.2)), BRIGHT)
        yield line("fang", curve((x, 0.3), (x, 0.27), (0.5 + (x - 0.5) * 0.4, 0.25)), 0.015, hair, essential=False)
