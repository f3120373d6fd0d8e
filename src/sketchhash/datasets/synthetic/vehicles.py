"""Recipes of vehicles. They drive, sail and fly to the left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sketchhash.datasets.synthetic.parts import (
    BRIGHT,
    DARK,
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
    polar,
    polygon,
    solid,
)

GLASS = Material((0.45, 0.56, 0.62), shine=0.9, roundness=0.2)
RUBBER = Material((0.09, 0.09, 0.10), shine=0.1)


def airplane(p: Proportions) -> Iterator[Part]:
    """An airliner in flight, from the side: a wing towards us, a fin, a row of windows."""
    metal = p.made_of("white", "silver", "white", "blue", "red", shine=0.6)
    trim = p.made_of("blue", "red", "teal", "orange", "grey", roundness=0.4)
    thick, fin = p.about(0.075), p.about(0.2)
    sweep = p.about(0.26)
    yield solid(
        "far wing",
        polygon((0.44, 0.46), (0.56, 0.46), (0.72, 0.47 - sweep * 0.8), (0.66, 0.47 - sweep * 0.8)),
        metal.shaded(0.8),
    )
    yield solid("fin", polygon((0.78, 0.46), (0.88, 0.48 - fin), (0.96, 0.48 - fin), (0.93, 0.5)), trim)
    hull = blob(
        (0.03, 0.53),
        (0.1, 0.5 - thick * 0.7),
        (0.25, 0.5 - thick),
        (0.6, 0.5 - thick),
        (0.95, 0.46),
        (0.95, 0.5),
        (0.65, 0.5 + thick),
        (0.2, 0.5 + thick),
        (0.07, 0.5 + thick * 0.9),
    )
    yield solid("hull", hull, metal)
    yield solid("tailplane", polygon((0.82, 0.49), (0.9, 0.49), (0.99, 0.57), (0.93, 0.57)), metal.shaded(0.85))
    yield solid("engine", limb(polygon((0.4, 0.64), (0.5, 0.64)), 0.075, 0.055), trim.shaded(0.8), essential=False)
    near = polygon((0.38, 0.52), (0.55, 0.52), (0.74, 0.52 + sweep), (0.66, 0.52 + sweep))
    yield solid("near wing", near, metal.shaded(0.9))
    for x in np.linspace(0.2, 0.76, p.count(6, 9)):
        yield solid("window", ellipse(x, 0.475, 0.014, 0.017), GLASS.shaded(0.5), essential=x < 0.5)
    yield solid("cockpit", polygon((0.08, 0.47), (0.14, 0.455), (0.14, 0.49), (0.07, 0.495)), GLASS.shaded(0.4))


def bicycle(p: Proportions) -> Iterator[Part]:
    """Two spoked wheels and a diamond frame."""
    paint = p.made_of("red", "blue", "black", "teal", "green", "orange", "white", shine=0.6)
    steel = p.made_of("silver", "grey", shine=0.5)
    r = p.about(0.19)
    y, front, back = 0.68, 0.24, 0.76
    spokes = p.count(5, 8)
    for x in (front, back):
        for i in range(spokes):
            yield line("spoke", polygon((x, y), polar(x, y, r, i / spokes)), 0.007, steel, essential=i % 2 == 0)
        yield line("tyre", ellipse(x, y, r), 0.032, RUBBER, closed=True)
    seat, head, crank = (0.6, p.about(0.4)), (0.34, 0.36), (0.49, 0.69)
    for start, stop in (
        (head, crank),
        (crank, seat),
        ((0.585, 0.45), (0.345, 0.43)),
        (crank, (back, y)),
        ((0.585, 0.45), (back, y)),
        (head, (front, y)),
    ):
        yield line("frame", polygon(start, stop), 0.026, paint)
    bars = curve((0.25, 0.28), (0.3, 0.24), (0.36, 0.26), (head[0], head[1]))
    yield line("handlebar", bars, 0.024, steel.shaded(0.5))
    yield line("post", polygon(seat, (0.61, seat[1] - 0.08)), 0.022, steel)
    yield solid(
        "saddle",
        blob((0.52, seat[1] - 0.09), (0.66, seat[1] - 0.12), (0.7, seat[1] - 0.08), (0.62, seat[1] - 0.06)),
        DARK,
    )
    yield line("chainwheel", ellipse(*crank, p.about(0.05)), 0.016, steel.shaded(0.6), closed=True)
    yield line("pedal", polygon((0.45, 0.78), crank, (0.53, 0.6)), 0.016, DARK, essential=False)


def bus(p: Proportions) -> Iterator[Part]:
    """A long box with a row of windows."""
    paint = p.made_of("yellow", "red", "white", "blue", "green", "orange", shine=0.5, roundness=0.25)
    top, sill = p.about(0.27), 0.76
    pane = 0.5 + p.between(-0.02, 0.03)
    body = polygon((0.04, top + 0.06), (0.07, top), (0.96, top), (0.97, sill), (0.04, sill))
    yield solid("body", body, paint)
    yield solid(
        "windscreen",
        polygon((0.05, top + 0.07), (0.12, top + 0.06), (0.12, pane + 0.06), (0.05, pane + 0.06)),
        GLASS,
    )
    yield solid(
        "door",
        box(0.19, (top + sill) / 2 + 0.03, 0.085, sill - top - 0.1),
        GLASS.shaded(0.7),
        essential=False,
    )
    count = p.count(4, 6)
    step = 0.68 / count
    for i in range(count):
        yield solid(
            "window",
            box(0.28 + step * (i + 0.5), (top + 0.07 + pane) / 2, step * 0.8, pane - top - 0.07),
            GLASS,
        )
    yield line("stripe", polygon((0.26, pane + 0.08), (0.96, pane + 0.08)), 0.022, paint.shaded(0.5), essential=False)
    yield solid("lamp", ellipse(0.065, 0.69, 0.022, 0.028), BRIGHT, essential=False)
    r = p.about(0.085)
    for x in (0.25, 0.77):
        yield solid("tyre", ellipse(x, sill, r), RUBBER)
        yield solid("hub", ellipse(x, sill, r * 0.5), p.made_of("silver"))


def car(p: Proportions) -> Iterator[Part]:
    """A sedan from the side: cabin between bonnet and boot."""
    paint = p.made_of("red", "blue", "silver", "white", "black", "teal", "orange", "green", shine=0.7, roundness=0.7)
    roof, r = p.about(0.32, 0.9), p.about(0.085, 1.1)
    front, back = p.about(0.34), p.about(0.76)
    cabin = polygon((front - 0.07, 0.52), (front + 0.05, roof), (back - 0.08, roof), (back + 0.06, 0.52))
    yield solid("cabin", cabin, paint, group="car")
    body = blob(
        (0.03, 0.6),
        (0.1, 0.52),
        (0.3, 0.5),
        (0.75, 0.49),
        (0.93, 0.52),
        (0.97, 0.62),
        (0.95, 0.69),
        (0.5, 0.7),
        (0.06, 0.69),
    )
    yield solid("body", body, paint, group="car")
    middle = (front + back) / 2
    yield solid(
        "front window",
        polygon(
            (front - 0.02, 0.5),
            (front + 0.065, roof + 0.03),
            (middle - 0.015, roof + 0.03),
            (middle - 0.015, 0.5),
        ),
        GLASS,
    )
    yield solid(
        "rear window",
        polygon((middle + 0.015, 0.5), (middle + 0.015, roof + 0.03), (back - 0.09, roof + 0.03), (back, 0.5)),
        GLASS,
    )
    yield line("door", polygon((middle, 0.5), (middle, 0.67)), 0.007, paint.shaded(0.4))
    yield line(
        "handle",
        polygon((middle + 0.04, 0.545), (middle + 0.09, 0.545)),
        0.012,
        paint.shaded(0.4),
        essential=False,
    )
    yield solid("head lamp", ellipse(0.065, 0.58, 0.028, 0.024), BRIGHT, essential=False)
    yield solid("tail lamp", ellipse(0.95, 0.575, 0.018, 0.026), p.made_of("red"), essential=False)
    for x in (0.22, 0.77):
        yield solid("tyre", ellipse(x, 0.69, r), RUBBER)
        yield solid("hub", ellipse(x, 0.69, r * 0.55), p.made_of("silver", shine=0.8))


def helicopter(p: Proportions) -> Iterator[Part]:
    """A glass nose, a thin tail, a rotor above and skids below."""
    paint = p.made_of("red", "blue", "white", "yellow", "green", "orange", shine=0.5)
    steel = p.made_of("grey", "black")
    r = p.about(0.18)
    yield solid("boom", limb(polygon((0.4, 0.5), (0.9, 0.45)), 0.13, 0.035), paint, group="helicopter")
    yield solid("tail fin", polygon((0.86, 0.46), (0.92, 0.3), (0.97, 0.3), (0.95, 0.47)), paint)
    yield line("tail rotor", polygon((0.86, 0.36), (0.99, 0.52)), 0.014, steel, essential=False)
    for x in (0.27, 0.45):
        yield line("strut", polygon((x, 0.66), (x - 0.02, 0.8)), 0.018, steel)
    yield line("skid", curve((0.12, 0.76), (0.16, 0.8), (0.58, 0.8)), 0.022, steel)
    yield solid("cabin", ellipse(0.36, 0.54, r * 1.25, r * 0.95), paint, group="helicopter")
    glass = blob((0.36 - r * 1.15, 0.56), (0.36 - r * 0.8, 0.46), (0.34, 0.42), (0.35, 0.56), (0.25, 0.6))
    yield solid("glass", glass, GLASS)
    yield solid("door", box(0.43, 0.53, 0.09, 0.14), GLASS, essential=False)
    yield line("mast", polygon((0.38, 0.4), (0.38, 0.28)), 0.03, steel)
    reach = p.about(0.4)
    yield solid("rotor", limb(polygon((0.38 - reach, 0.29), (0.38, 0.275), (0.38 + reach, 0.26)), 0.022, 0.022), steel)


def hot_air_balloon(p: Proportions) -> Iterator[Part]:
    """A striped envelope with a basket on ropes."""
    bright = ("red", "yellow", "blue", "orange", "green", "purple", "white", "teal")
    cloth = p.made_of(*bright, surface=Surface.CLOTH)
    stripe = p.made_of(*bright, surface=Surface.CLOTH, roundness=0.5)
    wicker = p.made_of("brown", "tan", surface=Surface.WOOD)
    wide, neck = p.about(0.34), p.about(0.08)
    for side in (-1, 1):
        yield line("rope", polygon((0.5 + side * neck, 0.66), (0.5 + side * 0.06, 0.85)), 0.008, DARK)
    yield solid("basket", polygon((0.43, 0.85), (0.57, 0.85), (0.555, 0.96), (0.445, 0.96)), wicker)
    profile = ((0.02, 0.03), (wide * 0.7, 0.11), (wide, 0.31), (wide * 0.7, 0.52), (neck, 0.67))
    yield solid("envelope", lathe(*profile), cloth)
    middle = tuple((half * 0.3, y) for half, y in profile)
    yield solid("gore", lathe(*middle), stripe)
    for side in (-1, 1):
        seam = curve(*((0.5 + side * half * 0.7, y) for half, y in profile))
        yield line("seam", seam, 0.04, stripe)


def sailboat(p: Proportions) -> Iterator[Part]:
    """A hull, a mast and two triangular sails."""
    wood = p.made_of("brown", "white", "red", "blue", "black", surface=Surface.WOOD, roundness=0.5)
    canvas = p.made_of("white", "cream", "white", "red", "yellow", surface=Surface.CLOTH, roundness=0.7)
    mast, top, deck = 0.48, p.about(0.07), 0.74
    yield line("mast", polygon((mast, top - 0.02), (mast, deck + 0.02)), 0.02, p.made_of("brown", "silver"))
    belly, clew = p.between(0.0, 0.06), p.about(0.34)
    yield solid(
        "mainsail",
        np.vstack(
            (
                curve((mast + 0.02, top), (mast + 0.2 + belly, 0.42), (mast + 0.02 + clew, 0.67)),
                polygon((mast + 0.02, 0.67)),
            )
        ),
        canvas,
    )
    yield solid(
        "jib",
        np.vstack(
            (
                curve((mast - 0.02, top + 0.1), (mast - 0.14 - belly, 0.45), (mast - p.about(0.3), 0.66)),
                polygon((mast - 0.02, 0.66)),
            )
        ),
        canvas,
    )
    keel = p.about(0.14)
    hull = np.vstack(
        (
            polygon((0.1, deck), (0.9, deck)),
            curve((0.87, deck + keel * 0.5), (0.75, deck + keel), (0.3, deck + keel), (0.18, deck + keel * 0.6)),
        )
    )
    yield solid("hull", hull, wood)
    yield line("stripe", polygon((0.17, deck + 0.04), (0.87, deck + 0.04)), 0.018, wood.shaded(0.5), essential=False)
    yield solid(
        "flag",
        polygon((mast, top - 0.03), (mast + 0.1, top), (mast, top + 0.03)),
        p.made_of("red", "blue"),
        essential=False,
    )


def truck(p: Proportions) -> Iterator[Part]:
    """A cab in front of a tall cargo box."""
    paint = p.made_of("red", "blue", "green", "white", "orange", "teal", shine=0.5, roundness=0.3)
    cargo = p.made_of("white", "silver", "grey", "cream", "yellow", roundness=0.15)
    top, cab, r = p.about(0.24), p.about(0.4), p.about(0.085)
    yield solid("chassis", box(0.52, 0.75, 0.88, 0.05), DARK)
    yield solid("cargo", polygon((0.37, top), (0.96, top), (0.96, 0.73), (0.37, 0.73)), cargo)
    for x in (0.52, 0.67, 0.82):
        yield line("rib", polygon((x, top + 0.01), (x, 0.72)), 0.01, cargo.shaded(0.75), essential=False)
    yield solid(
        "cab",
        polygon((0.05, 0.75), (0.05, 0.57), (0.12, 0.55), (0.17, cab), (0.35, cab), (0.35, 0.75)),
        paint,
    )
    yield solid("window", polygon((0.15, 0.55), (0.19, cab + 0.04), (0.31, cab + 0.04), (0.31, 0.55)), GLASS)
    yield line("door", polygon((0.155, 0.56), (0.155, 0.72)), 0.008, paint.shaded(0.5), essential=False)
    yield solid("lamp", ellipse(0.065, 0.64, 0.02, 0.026), BRIGHT, essential=False)
    for x in (0.2, 0.68, 0.86):
        yield solid("tyre", ellipse(x, 0.78, r), RUBBER)
        yield solid("hub", ellipse(x, 0.78, r * 0.45), p.made_of("silver"))
    yield line("arch", arc(0.2, 0.78, r * 1.2, r * 1.2, 0.53, 0.97), 0.014, paint.shaded(0.6), essential=False)
