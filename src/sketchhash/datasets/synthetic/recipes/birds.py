"""Recipes of birds."""

from __future__ import annotations

from collections.abc import Iterator

from sketchhash.datasets.synthetic.parts import BRIGHT, DARK, Part, Proportions, Surface, line, solid
from sketchhash.datasets.synthetic.shapes import arc, blob, curve, ellipse, lathe, limb, mirror, polygon


def duck(p: Proportions) -> Iterator[Part]:
    """Swims to the left with its tail up."""
    feathers = p.made_of("yellow", "white", "brown", "tan", surface=Surface.FUR, shine=0.1)
    bill = p.made_of("orange", roundness=0.7)
    head, tail = p.about(0.13, 1.15), p.about(0.14)
    x, y = 0.3, 0.5 - head * 1.6
    yield solid(
        "bill",
        blob(
            (x - head * 0.8, y - head * 0.15),
            (x - head * 1.9, y + head * 0.25),
            (x - head * 1.7, y + head * 0.45),
            (x - head * 0.7, y + head * 0.5),
        ),
        bill,
    )
    yield solid(
        "neck",
        limb(curve((x + 0.02, y), (x + 0.06, 0.45), (x + 0.08, 0.62)), head * 1.2, head * 2.0),
        feathers,
        group="duck",
    )
    body = blob((0.22, 0.6), (0.45, 0.53), (0.7, 0.52), (0.93, 0.52 - tail), (0.88, 0.72), (0.62, 0.86), (0.36, 0.84))
    yield solid("body", body, feathers, group="duck")
    yield solid("head", ellipse(x, y, head), feathers, group="duck")
    wing = blob((0.44, 0.62), (0.62, 0.57), (0.84, 0.58), (0.72, 0.72), (0.54, 0.75))
    yield solid("wing", wing, feathers.shaded(0.85), essential=False)
    yield solid("eye", ellipse(x - head * 0.3, y - head * 0.25, head * 0.17), DARK)


def owl(p: Proportions) -> Iterator[Part]:
    """Sits on a branch: two enormous eyes, tufts, folded wings."""
    down = p.made_of("brown", "grey", "tan", "white", surface=Surface.FUR, shine=0.05)
    wing = down.shaded(0.7)
    bark = p.made_of("brown", surface=Surface.WOOD)
    eye, wide = p.about(0.1, 1.15), p.about(0.25)
    yield solid("branch", limb(curve((0.1, 0.93), (0.5, 0.9), (0.9, 0.92)), 0.06, 0.05), bark, essential=False)
    body = lathe((0.1, 0.12), (wide * 0.95, 0.22), (wide, 0.45), (wide * 0.95, 0.7), (0.03, 0.9))
    for side in (False, True):
        tuft = polygon((0.5 - wide * 0.98, 0.26), (0.5 - wide * 0.95, 0.03), (0.5 - wide * 0.3, 0.13))
        yield solid("tuft", mirror(tuft) if side else tuft, down, group="owl")
    yield solid("body", body, down, group="owl")
    yield solid("belly", ellipse(0.5, 0.63, wide * 0.62, 0.2), down.shaded(1.3), essential=False)
    for y in (0.56, 0.65, 0.74):
        for x in (0.44, 0.5, 0.56):
            yield line("feather", arc(x, y, 0.025, 0.03, 0.02, 0.48), 0.008, wing, essential=False)
    for side in (False, True):
        fold = blob((0.5 - wide, 0.42), (0.5 - wide * 0.6, 0.55), (0.5 - wide * 0.55, 0.78), (0.5 - wide * 1.1, 0.68))
        yield solid("wing", mirror(fold) if side else fold, wing)
    iris = p.made_of("yellow", "orange", "gold", shine=0.7)
    for x in (0.5 - eye * 1.08, 0.5 + eye * 1.08):
        yield solid("eye", ellipse(x, 0.29, eye), iris)
        yield solid("pupil", ellipse(x, 0.29, eye * 0.5), DARK)
        for toe in (-0.03, 0.0, 0.03):
            yield line("toe", polygon((x + toe, 0.85), (x + toe, 0.92)), 0.02, iris, essential=False)
    yield solid("beak", polygon((0.46, 0.35), (0.54, 0.35), (0.5, 0.45)), p.made_of("gold", "orange"))


def penguin(p: Proportions) -> Iterator[Part]:
    """Stands upright: black back, white belly, orange feet."""
    coat = p.made_of("black", "black", "blue", surface=Surface.FUR, shine=0.2)
    belly = p.made_of("white", surface=Surface.FUR, shine=0.1)
    orange = p.made_of("orange", "yellow")
    wide, flap = p.about(0.2), p.between(0.02, 0.14)
    for x in (0.4, 0.6):
        yield solid("foot", ellipse(x, 0.94, p.about(0.09), 0.035), orange)
    for side in (False, True):
        flipper = limb(
            curve((0.5 - wide * 0.75, 0.4), (0.5 - wide * 1.05 - flap * 0.5, 0.55), (0.48 - wide - flap, 0.7)),
            0.1,
            0.045,
        )
        yield solid("flipper", mirror(flipper) if side else flipper, coat, group="penguin")
    yield solid(
        "body",
        lathe(
            (0.05, 0.05),
            (wide * 0.66, 0.13),
            (wide * 0.7, 0.26),
            (wide * 1.1, 0.5),
            (wide * 1.1, 0.78),
            (0.05, 0.93),
        ),
        coat,
        group="penguin",
    )
    yield solid(
        "belly",
        lathe((0.02, 0.3), (wide * 0.55, 0.36), (wide * 0.82, 0.6), (wide * 0.75, 0.8), (0.03, 0.91)),
        belly,
    )
    for x in (0.5 - wide * 0.3, 0.5 + wide * 0.3):
        yield solid("eye", ellipse(x, 0.16, p.about(0.032, 1.2)), BRIGHT)
        yield solid("pupil", ellipse(x, 0.165, 0.015), DARK, essential=False)
    yield solid("beak", polygon((0.44, 0.21), (0.56, 0.21), (0.5, 0.21 + p.about(0.08))), orange)
