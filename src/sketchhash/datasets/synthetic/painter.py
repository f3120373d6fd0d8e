"""A canvas with a horizon, and the few gestures every place is painted with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from sketchhash.datasets.synthetic.parts import PALETTE, Colour, Surface
from sketchhash.datasets.synthetic.shapes import Outline
from sketchhash.datasets.synthetic.textures import TILE, noise, tile

Picture = NDArray[np.float32]


class Painter:
    """Paints one place; all lengths and places are shares of the canvas."""

    def __init__(self, rng: np.random.Generator, size: int, horizon: float) -> None:
        """Begin with an empty canvas of ``size`` pixels a side."""
        self.rng = rng
        self.size = size
        self.horizon = horizon
        self._row = min(max(int(horizon * size), 1), size - 1)
        self._image = Image.new("RGB", (size, size))

    def image(self) -> Image.Image:
        """Give what has been painted so far."""
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


def _byte(colour: Colour, light: float) -> tuple[int, int, int]:
    red, green, blue = (min(max(int(channel * light * 255), 0), 255) for channel in colour)
    return (red, green, blue)
