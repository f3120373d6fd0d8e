"""Places to take a photo in: sky, ground and clutter, out of focus behind the thing itself, and textures.

A place is painted at half the photo's size, which blurs it as distance does, and costs a quarter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from sketchhash.datasets.synthetic.parts import (
    PALETTE,
    Colour,
    Outline,
    Surface,
    box,
    ellipse,
    lathe,
    limb,
    polygon,
    turn,
)

Grain = NDArray[np.float32]

TILE = 512

# Spectrum of each surface: how fast the noise falls with frequency, how much it is drawn out downwards and
# sideways, and how strongly it shows.
_SPECTRA: dict[Surface, tuple[float, float, float, float]] = {
    Surface.PLAIN: (1.4, 1.0, 1.0, 0.03),
    Surface.FUR: (0.9, 2.4, 1.0, 0.12),
    Surface.WOOD: (1.3, 14.0, 1.0, 0.13),
    Surface.LEAVES: (0.9, 1.0, 1.2, 0.26),
    Surface.CLOTH: (0.8, 1.0, 1.0, 0.06),
    Surface.STONE: (1.2, 1.0, 1.0, 0.10),
}

Picture = NDArray[np.float32]


def grain(surface: Surface, rng: np.random.Generator, height: int, width: int) -> Grain:
    """Cut a random patch ``(height, width)`` to multiply a colour with: its mean is one."""
    contrast = _SPECTRA[surface][3]
    return 1 + contrast * noise(surface, rng, height, width)


def noise(surface: Surface, rng: np.random.Generator, height: int, width: int) -> Grain:
    """Cut a random patch ``(height, width)`` of mean zero and deviation one."""
    rows, columns = rng.integers(TILE, size=2)
    return (
        tile(surface)
        .take(range(rows, rows + height), 0, mode="wrap")
        .take(range(columns, columns + width), 1, mode="wrap")
    )


@cache
def tile(surface: Surface) -> Grain:
    """Return the whole repeating tile ``(TILE, TILE)`` of mean zero and deviation one."""
    fall, down, sideways, _ = _SPECTRA[surface]
    white = np.random.default_rng(list(Surface).index(surface)).standard_normal((TILE, TILE))
    frequency = np.fft.fftfreq(TILE)
    distance = np.hypot(frequency[:, None] * down, frequency[None, :] * sideways)
    distance[0, 0] = np.inf
    coloured = np.fft.ifft2(np.fft.fft2(white) / distance**fall).real
    normal: Grain = ((coloured - coloured.mean()) / coloured.std()).astype(np.float32)
    return normal


class Canvas:
    """The picture of one place; all lengths and places are shares of its side."""

    def __init__(self, rng: np.random.Generator, size: int, horizon: float) -> None:
        """Begin with a black picture of ``size`` pixels a side."""
        self.rng = rng
        self.size = size
        self.horizon = horizon
        self._row = min(max(int(horizon * size), 1), size - 1)
        self._image = Image.new("RGB", (size, size))

    def image(self) -> Image.Image:
        """Return what has been painted so far."""
        return self._image

    def backdrop(self, top: Colour, bottom: Colour, clouds: float, kind: Surface = Surface.STONE) -> None:
        """Fill everything with a gradient that turns white (or dark, if negative) where clouds are."""
        run = np.linspace(0, 1, self.size, dtype=np.float32)[:, None, None]
        colour = self._vary(top) * (1 - run) + self._vary(bottom) * run
        mist = np.maximum(noise(kind, self.rng, self.size, self.size), -0.3 if clouds > 0 else -2)
        self._show(colour + np.float32(clouds) * mist[..., None])

    def ground(self, colour: Colour, kind: Surface, contrast: float) -> None:
        """Lay a floor from the horizon down, its grain larger as it comes nearer."""
        near = (np.arange(self._row, self.size, dtype=np.float32)[:, None] - self._row) / self.size + 0.12
        across = (np.arange(self.size, dtype=np.float32)[None, :] - self.size / 2) / near * 0.5
        shift = self.rng.integers(TILE, size=2)
        rows = (24 / near + shift[0]).astype(np.intp) % TILE
        columns = (across + shift[1]).astype(np.intp) % TILE
        pattern = tile(kind)[rows, columns]
        light = (0.85 + 0.35 * near + contrast * pattern)[..., None]
        floor = self._vary(colour) * light
        picture = np.asarray(self._image, dtype=np.float32) / np.float32(255)
        self._show(np.vstack((picture[: self._row], floor)))

    def lump(self, outline: Outline, colour: Colour) -> None:
        """Draw a piece of clutter with a lit and a dark side."""
        draw = ImageDraw.Draw(self._image)
        centre = outline.mean(axis=0)
        for shrink, light in ((1.0, 0.7), (0.88, 0.9), (0.6, 1.1)):
            lit = (outline - centre) * shrink + centre - (1 - shrink) * 0.06
            draw.polygon([(x, y) for x, y in (lit * self.size).tolist()], fill=_byte(colour, light))

    def sheet(self, outline: Outline, colour: Colour) -> None:
        """Draw a flat piece of clutter."""
        points = [(x, y) for x, y in (outline * self.size).tolist()]
        ImageDraw.Draw(self._image).polygon(points, fill=_byte(colour, 1.0))

    def any_colour(self) -> Colour:
        """Choose a colour for clutter, duller than a thing's."""
        names = tuple(PALETTE)
        red, green, blue = PALETTE[names[int(self.rng.integers(len(names)))]]
        grey = (red + green + blue) / 3
        return (0.5 * (red + grey), 0.5 * (green + grey), 0.5 * (blue + grey))

    def spots(self, low: int, high: int) -> list[tuple[float, float, float]]:
        """Draw a few triples ``(x, y, size)`` from 0 to 1, to scatter clutter by."""
        count = int(self.rng.integers(low, high + 1))
        return [(x, y, size) for x, y, size in self.rng.random((count, 3)).tolist()]

    def _vary(self, colour: Colour) -> NDArray[np.float32]:
        varied = np.array(colour) * self.rng.uniform(0.85, 1.1) + self.rng.normal(0, 0.025, 3)
        return varied.astype(np.float32)

    def _show(self, picture: Picture) -> None:
        self._image = Image.fromarray((np.clip(picture, 0, 1) * 255).astype(np.uint8))


class Footing(Enum):
    """How a thing rests in its place, which decides where it is and how its shadow falls."""

    STANDING = "standing"
    LYING = "lying"
    FLOATING = "floating"


@dataclass(frozen=True)
class Place:
    """Somewhere to take photos: how things rest there, and how it is painted."""

    footing: Footing
    paint: Callable[[Canvas], None]


def paint(place: Place, rng: np.random.Generator, size: int, horizon: float) -> Picture:
    """Paint a place, ``(size, size, 3)`` from 0 to 1, with the horizon at a share of the height."""
    canvas = Canvas(rng, (size + 1) // 2, horizon)
    place.paint(canvas)
    blurred = canvas.image().filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 1.6) * size / 224))
    scaled = blurred.resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(scaled, dtype=np.float32) / np.float32(255)


def _byte(colour: Colour, light: float) -> tuple[int, int, int]:
    red, green, blue = (min(max(int(channel * light * 255), 0), 255) for channel in colour)
    return (red, green, blue)


def _sky(p: Canvas) -> None:
    p.backdrop((0.30, 0.50, 0.80), (0.74, 0.84, 0.92), clouds=p.rng.uniform(0.02, 0.16))


def _bushes(p: Canvas, low: int, high: int) -> None:
    for x, y, size in p.spots(low, high):
        green = (0.16 + 0.12 * size, 0.30 + 0.14 * y, 0.12)
        for dx, dy, r in p.spots(4, 7):
            at = (x * 1.2 - 0.1 + (dx - 0.5) * 0.2, p.horizon - 0.03 - dy * (0.08 + 0.22 * size))
            p.lump(ellipse(*at, 0.04 + 0.07 * r, 0.04 + 0.05 * r), green)


def _meadow(p: Canvas) -> None:
    _sky(p)
    p.ground((0.36, 0.50, 0.20), Surface.FUR, 0.16)
    _bushes(p, 2, 6)
    for x, y, size in p.spots(1, 5):
        at = p.horizon + 0.03 + y * (1 - p.horizon)
        p.lump(ellipse(x, at, 0.02 + 0.05 * size, 0.012 + 0.03 * size), p.any_colour())


def _street(p: Canvas) -> None:
    _sky(p)
    left = -0.1
    while left < 1.0:
        width, height = p.rng.uniform(0.14, 0.34), p.rng.uniform(0.2, 0.75)
        middle, top = left + width / 2, p.horizon - height
        p.lump(box(middle, p.horizon - height / 2, width, height), p.any_colour())
        pane = p.any_colour()
        for row in np.arange(top + 0.05, p.horizon - 0.06, 0.09):
            for x in (middle - width * 0.28, middle, middle + width * 0.28):
                p.sheet(box(x, row, width * 0.14, 0.05), pane)
        left += width * p.rng.uniform(0.8, 1.3)
    p.ground((0.42, 0.42, 0.43), Surface.STONE, 0.06)
    _bushes(p, 0, 2)
    for x, y, size in p.spots(0, 3):
        p.lump(box(x, p.horizon - 0.1, 0.015, 0.5 * size + 0.2), (0.25, 0.25, 0.27))
        p.lump(ellipse(1 - x, p.horizon + 0.02, 0.05 + 0.05 * y, 0.05), p.any_colour())


def _desert(p: Canvas) -> None:
    _sky(p)
    for x, _, size in p.spots(2, 4):
        p.lump(ellipse(x, p.horizon, 0.2 + 0.2 * size, 0.05 + 0.16 * size), (0.55, 0.42, 0.34))
    p.ground((0.80, 0.66, 0.46), Surface.STONE, 0.08)
    for x, y, size in p.spots(2, 6):
        p.lump(ellipse(x, p.horizon + y * (1 - p.horizon), 0.02 + 0.05 * size, 0.03), (0.5, 0.42, 0.34))


def _snow(p: Canvas) -> None:
    p.backdrop((0.45, 0.58, 0.74), (0.72, 0.78, 0.84), clouds=0.1)
    for x, _, size in p.spots(3, 8):
        height = 0.15 + 0.4 * size
        dark = (0.16, 0.26 + 0.1 * size, 0.22)
        p.lump(
            polygon((x - height * 0.25, p.horizon), (x, p.horizon - height), (x + height * 0.25, p.horizon)),
            dark,
        )
    p.ground((0.80, 0.84, 0.90), Surface.STONE, 0.05)
    _bushes(p, 0, 2)


def _sea(p: Canvas) -> None:
    _sky(p)
    for x, _, size in p.spots(0, 3):
        p.lump(ellipse(x, p.horizon, 0.15 + 0.25 * size, 0.03 + 0.12 * size), (0.32, 0.42, 0.42))
    p.ground((0.16, 0.38, 0.50), Surface.CLOTH, 0.22)


def _deep(p: Canvas) -> None:
    p.backdrop((0.22, 0.62, 0.70), (0.03, 0.20, 0.32), clouds=0.09)
    for x, y, size in p.spots(3, 7):
        weed = (0.10 + 0.25 * y, 0.28, 0.16 + 0.2 * size)
        stem = polygon((x, 1.0), (x + 0.05 * (y - 0.5), 0.9), (x + 0.3 * (y - 0.5), 0.95 - 0.4 * size))
        p.lump(limb(stem, 0.06, 0.03), weed)
        p.lump(ellipse(1 - x, 1.0, 0.06 + 0.12 * y, 0.04 + 0.1 * size), (0.3, 0.3, 0.28))
    for x, y, size in p.spots(4, 14):
        p.lump(ellipse(x, y, 0.004 + 0.012 * size), (0.7, 0.85, 0.88))


def _heaven(p: Canvas) -> None:
    p.backdrop((0.24, 0.46, 0.80), (0.78, 0.86, 0.94), clouds=p.rng.uniform(0.05, 0.22))
    for x, y, size in p.spots(0, 4):
        for dx, dy, r in p.spots(4, 8):
            p.lump(
                ellipse(x + (dx - 0.5) * 0.3, y + (dy - 0.5) * 0.08, 0.03 + 0.06 * r * size),
                (0.88, 0.9, 0.93),
            )
    if p.rng.random() < 0.5:
        for x, _, size in p.spots(2, 4):
            p.lump(ellipse(x, 1.0, 0.2 + 0.3 * size, 0.06 + 0.14 * size), (0.30, 0.40, 0.36))


def _room(p: Canvas) -> None:
    wall = p.any_colour()
    p.backdrop(_pale(wall), _pale(wall), clouds=-0.03, kind=Surface.STONE)
    for x, y, size in p.spots(2, 5):
        high = y * p.horizon * 0.8
        p.lump(box(x, high, 0.14 + 0.16 * size, 0.18 + 0.14 * y), p.any_colour())
        p.sheet(box(x, high, 0.1 + 0.11 * size, 0.13 + 0.1 * y), p.any_colour())
    left = p.rng.uniform(-0.1, 0.7)
    for i in range(int(p.rng.integers(0, 9))):
        tall = p.rng.uniform(0.1, 0.2)
        p.lump(box(left + 0.04 * i, p.horizon - tall / 2, 0.036, tall), p.any_colour())
    p.ground(PALETTE["brown" if p.rng.random() < 0.6 else "cream"], Surface.WOOD, 0.1)
    for x, y, size in p.spots(2, 5):
        at = p.horizon + 0.12 * y
        tall = 0.1 + 0.2 * size
        if y < 0.35:
            p.lump(
                lathe((0.02, at - tall), (0.02, at - tall * 0.7), (0.05, at - tall * 0.4), (0.05, at), x=x),
                p.any_colour(),
            )
        elif y < 0.7:
            p.lump(box(x, at - tall / 3, tall, tall * 0.7), p.any_colour())
        else:
            p.lump(ellipse(x, at - tall / 4, tall / 3), p.any_colour())


def _tabletop(p: Canvas) -> None:
    top, kind = (
        (PALETTE["tan"], Surface.WOOD),
        (p.any_colour(), Surface.CLOTH),
        (PALETTE["grey"], Surface.STONE),
    )[int(p.rng.integers(3))]
    p.backdrop(top, top, clouds=-0.05, kind=kind)
    for x, y, size in p.spots(3, 8):
        # Clutter lies around the middle, where the thing itself is.
        x, y = 0.5 + 1.1 * (x - 0.5), 0.5 + (0.62 if y > 0.5 else -0.62) * (0.6 + 0.4 * size)
        angle = float(p.rng.uniform(0, 6.3))
        if size < 0.3:
            p.sheet(turn(box(x, y, 0.34, 0.26), angle, (x, y)), (0.86, 0.86, 0.83))
        elif size < 0.6:
            p.lump(
                limb(turn(polygon((x - 0.2, y), (x, y), (x + 0.2, y)), angle, (x, y)), 0.03, 0.02),
                p.any_colour(),
            )
        else:
            p.lump(ellipse(x, y, 0.05 + 0.1 * size), p.any_colour())


def _pale(colour: Colour) -> Colour:
    red, green, blue = (0.45 + 0.5 * channel for channel in colour)
    return (red, green, blue)


MEADOW = Place(Footing.STANDING, _meadow)
STREET = Place(Footing.STANDING, _street)
DESERT = Place(Footing.STANDING, _desert)
SNOW = Place(Footing.STANDING, _snow)
ROOM = Place(Footing.STANDING, _room)
SEA = Place(Footing.STANDING, _sea)
DEEP = Place(Footing.FLOATING, _deep)
HEAVEN = Place(Footing.FLOATING, _heaven)
TABLETOP = Place(Footing.LYING, _tabletop)
