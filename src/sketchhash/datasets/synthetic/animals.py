"""Recipes of animals. They look to the left; photos and sketches may flip them."""

from __future__ import annotations

from collections.abc import Iterator

from sketchhash.datasets.synthetic.parts import (
    BRIGHT,
    DARK,
    Outline,
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
    mirror,
    polar,
    polygon,
    solid,
    turn,
)


def cat(p: Proportions) -> Iterator[Part]:
    """A sitting cat from the front: pointed ears, whiskers, a tail around the side."""
    fur = p.made_of("orange", "grey", "black", "white", "tan", "brown", surface=Surface.FUR, shine=0.05)
    pink = p.made_of("pink", roundness=0.3)
    head, tail = p.about(0.19, 1.2), p.about(0.32)
    y = 0.62 - head * 1.45
    tip = curve((0.62, 0.9), (0.84, 0.88), (0.88, 0.88 - tail * 0.5), (0.8, 0.9 - tail))
    yield solid("tail", limb(tip, 0.07, 0.05), fur, group="cat")
    hips = p.about(0.2)
    yield solid(
        "body",
        lathe((0.08, 0.42), (0.13, 0.52), (hips, 0.78), (hips * 0.9, 0.95), (0.02, 0.97)),
        fur,
        group="cat",
    )
    for x in (0.43, 0.57):
        yield line("leg", curve((x, 0.72), (x, 0.85), (x + 0.01, 0.95)), 0.012, fur.shaded(), essential=False)
    for side in (-1, 1):
        tip_x = 0.5 + side * head * 0.95
        ear = polygon(
            (0.5 + side * head * 0.22, y - head * 0.7),
            (tip_x, y - head * p.about(1.55)),
            (0.5 + side * head * 1.02, y - head * 0.2),
        )
        yield solid("ear", ear, fur, group="head")
        yield solid("inner ear", (ear - ear.mean(axis=0)) * 0.5 + ear.mean(axis=0), pink, essential=False)
    yield solid("head", ellipse(0.5, y, head * 1.12, head * 0.92), fur, group="head")
    eye_material = p.made_of("green", "yellow", "gold", shine=0.8)
    for side in (-1, 1):
        x = 0.5 + side * head * 0.45
        yield solid("eye", ellipse(x, y - head * 0.1, head * 0.2, head * 0.17), eye_material)
        yield solid("pupil", ellipse(x, y - head * 0.1, head * 0.06, head * 0.15), DARK, essential=False)
        for spread in (-0.12, 0.08, 0.25):
            start = (0.5 + side * head * 0.35, y + head * (0.4 + spread * 0.4))
            yield line(
                "whisker",
                polygon(start, (0.5 + side * head * 1.6, y + head * (0.35 + spread * 1.6))),
                0.007,
                BRIGHT,
            )
    yield solid(
        "nose",
        polygon((0.5 - head * 0.13, y + head * 0.25), (0.5 + head * 0.13, y + head * 0.25), (0.5, y + head * 0.42)),
        pink,
    )
    smile = curve(
        (0.5 - head * 0.3, y + head * 0.52),
        (0.5 - head * 0.12, y + head * 0.62),
        (0.5, y + head * 0.44),
        (0.5 + head * 0.12, y + head * 0.62),
        (0.5 + head * 0.3, y + head * 0.52),
    )
    yield line("mouth", smile, 0.01, DARK, essential=False)


def elephant(p: Proportions) -> Iterator[Part]:
    """An elephant in profile: trunk, tusk, a large ear."""
    hide = p.made_of("grey", "grey", "silver", "brown", surface=Surface.STONE, shine=0.05)
    ivory = p.made_of("cream")
    head, ear, leg = p.about(0.15, 1.1), p.about(0.14, 1.2), p.about(0.13)
    shade = hide.shaded(0.8)
    for x in (0.5, 0.76):
        yield solid("leg", limb(polygon((x, 0.6), (x, 0.86)), leg, leg * 0.95), shade)
    yield solid("tail", limb(curve((0.88, 0.45), (0.95, 0.55), (0.94, 0.68)), 0.025, 0.02), hide, essential=False)
    for x in (0.42, 0.84):
        yield solid("leg", limb(polygon((x, 0.55), (x, 0.91)), leg, leg * 0.95), hide, group="elephant")
    yield solid("body", ellipse(0.62, 0.5, p.about(0.29), p.about(0.2)), hide, group="elephant")
    swing = p.between(-0.1, 0.06)
    x, y = 0.28, 0.38
    trunk = curve(
        (x - head * 0.5, y),
        (x - head * 1.15, y + 0.14),
        (x - head * 1.1, 0.68),
        (x - head * 1.1 + swing, 0.84),
    )
    yield solid("trunk", limb(trunk, head * 0.95, 0.06), hide, group="elephant")
    yield solid("head", ellipse(x, y, head, head * 1.05), hide, group="elephant")
    yield solid(
        "tusk",
        limb(
            curve(
                (x - head * 0.6, y + head * 0.7),
                (x - head * 0.9, y + head * 1.3),
                (x - head * 1.5, y + head * 1.4),
            ),
            0.035,
            0.008,
        ),
        ivory,
        essential=False,
    )
    flap = blob(
        (x + head * 0.2, y - ear * 0.8),
        (x + ear * 1.6, y - ear * 1.0),
        (x + ear * 1.9, y + ear * 0.2),
        (x + ear, y + ear * 1.4),
        (x + head * 0.25, y + ear * 0.6),
    )
    yield solid("ear", flap, hide.shaded(0.9))
    yield solid("eye", ellipse(x - head * 0.4, y - head * 0.25, 0.018), DARK)


def giraffe(p: Proportions) -> Iterator[Part]:
    """A giraffe in profile: long neck, long legs, brown patches."""
    coat = p.made_of("tan", "gold", "cream", surface=Surface.FUR, shine=0.05)
    patch = p.made_of("brown", roundness=0.1, surface=Surface.FUR, shine=0.0)
    neck, leg = p.about(0.085, 1.15), p.about(0.055)
    lean = p.between(-0.05, 0.05)
    head: tuple[float, float] = (0.24 + lean, p.about(0.12))
    for x, bend in ((0.49, 0.02), (0.71, -0.01)):
        yield solid("leg", limb(curve((x, 0.58), (x + bend, 0.78), (x, 0.93)), leg, leg * 0.6), coat.shaded(0.75))
    yield line("tail", curve((0.8, 0.52), (0.87, 0.58), (0.87, 0.7)), 0.015, patch, essential=False)
    for x, bend in ((0.44, -0.02), (0.77, 0.02)):
        yield solid(
            "leg",
            limb(curve((x, 0.56), (x + bend, 0.76), (x, 0.95)), leg * 1.2, leg * 0.7),
            coat,
            group="giraffe",
        )
    yield solid("neck", limb(polygon(head, (0.46, 0.54)), neck * 0.75, neck * 1.7), coat, group="giraffe")
    yield solid(
        "body",
        blob((0.4, 0.5), (0.52, 0.45), (0.78, 0.49), (0.82, 0.58), (0.72, 0.64), (0.46, 0.65), (0.4, 0.6)),
        coat,
        group="giraffe",
    )
    for shift in (-0.012, 0.025):
        x, y = head[0] + shift, head[1] - 0.02
        yield solid("horn", limb(polygon((x, y), (x + 0.01, y - 0.075)), 0.016, 0.026), patch)
    yield solid("ear", ellipse(head[0] + 0.075, head[1] - 0.012, 0.042, 0.017, -0.3), coat)
    muzzle = limb(polygon((head[0] + 0.015, head[1]), (head[0] - 0.11, head[1] + 0.05)), 0.085, 0.05)
    yield solid("head", muzzle, coat, group="giraffe")
    yield solid("eye", ellipse(head[0] - 0.012, head[1] - 0.005, 0.013), DARK)
    for step in range(5):
        at, r = 0.16 + 0.16 * step, 0.018 + 0.004 * step
        x, y = head[0] + (0.46 - head[0]) * at, head[1] + (0.54 - head[1]) * at
        yield solid("patch", _patch(p, x + p.between(-0.01, 0.012), y, r), patch, essential=step % 2 == 0)
    for x, y in ((0.5, 0.52), (0.6, 0.51), (0.7, 0.53), (0.55, 0.6), (0.66, 0.595), (0.76, 0.59)):
        yield solid("patch", _patch(p, x, y, 0.034), patch, essential=x < 0.62)


def rabbit(p: Proportions) -> Iterator[Part]:
    """A sitting rabbit from the front: two long ears."""
    fur = p.made_of("white", "grey", "tan", "brown", "cream", surface=Surface.FUR, shine=0.05)
    pink = p.made_of("pink", roundness=0.3)
    head, ear = p.about(0.15, 1.15), p.about(0.3, 1.1)
    y = 0.6 - head * 0.9
    yield solid("body", lathe((0.1, 0.56), (0.17, 0.66), (p.about(0.22), 0.85), (0.1, 0.97)), fur)
    for x in (0.38, 0.62):
        yield solid("foot", ellipse(x, 0.95, 0.1, 0.04), fur)
    for side, tilt in ((-1, p.between(-0.3, 0.0)), (1, p.between(0.0, 0.6))):
        root = (0.5 + side * head * 0.5, y - head * 0.55)
        for name, scale, material in (("ear", 1.0, fur), ("inner ear", 0.62, pink)):
            flap = ellipse(root[0], root[1] - ear * 0.45, ear * 0.2 * scale, ear * 0.55 * scale)
            yield solid(name, turn(flap, tilt, root), material, essential=name == "ear")
    yield solid("head", ellipse(0.5, y, head * 1.05, head), fur)
    for side in (-1, 1):
        yield solid("eye", ellipse(0.5 + side * head * 0.45, y - head * 0.15, head * 0.14, head * 0.18), DARK)
        for spread in (-0.1, 0.15):
            whisker = polygon(
                (0.5 + side * head * 0.4, y + head * 0.4),
                (0.5 + side * head * 1.35, y + head * (0.4 + spread * 2)),
            )
            yield line("whisker", whisker, 0.006, BRIGHT, essential=False)
    yield solid("nose", ellipse(0.5, y + head * 0.25, head * 0.14, head * 0.1), pink)
    yield line("mouth", polygon((0.5, y + head * 0.3), (0.5, y + head * 0.55)), 0.01, DARK)
    for x in (0.5 - head * 0.1, 0.5 + head * 0.1):
        tooth = polygon(
            (x - head * 0.1, y + head * 0.55),
            (x + head * 0.1, y + head * 0.55),
            (x + head * 0.1, y + head * 0.82),
            (x - head * 0.1, y + head * 0.82),
        )
        yield solid("tooth", tooth, BRIGHT, essential=False)


def duck(p: Proportions) -> Iterator[Part]:
    """A swimming duck with its tail up."""
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
    """An owl on a branch: two enormous eyes, tufts, folded wings."""
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
    """An upright penguin: black back, white belly, orange feet."""
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
    """A fish from the side: round body, forked tail."""
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
    """A snail under its coiled shell."""
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


def _patch(p: Proportions, x: float, y: float, radius: float) -> Outline:
    corners = [polar(x, y, radius * p.between(0.8, 1.2), i / 6) for i in range(6)]
    return polygon(*corners)
