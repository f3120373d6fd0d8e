"""The photo of a thing: its parts filled and lit, in a cluttered place, through a camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from sketchhash.datasets.synthetic import scenery
from sketchhash.datasets.synthetic.catalogue import find
from sketchhash.datasets.synthetic.parts import Material, Outline, Part, Proportions
from sketchhash.datasets.synthetic.scenery import Footing, Picture, grain

Mask = NDArray[np.float32]

_SPREAD = 0.08  # things of one kind differ by less than people's memories of them
_MISSING = 0.06  # a car without a tail lamp is rare
_SUPERSAMPLING = 2


@dataclass(frozen=True, eq=False)
class Photo:
    """Pixels ``(size, size, 3)``, and how much of each pixel is the thing, ``(size, size)`` from 0 to 1."""

    pixels: NDArray[np.uint8]
    mask: Mask


def render_photo(category: str, rng: np.random.Generator, size: int = 224) -> NDArray[np.uint8]:
    """Render a photo of a new instance of a category: ``(size, size, 3)``."""
    return photograph(category, rng, size).pixels


def photograph(category: str, rng: np.random.Generator, size: int) -> Photo:
    """Render a photo, with a mask of the pixels that show the thing."""
    kind = find(category)
    made = kind.recipe(Proportions(rng, _SPREAD, memory=False))
    parts = [part for part in made if part.essential or rng.random() > _MISSING]
    place = kind.places[int(rng.integers(len(kind.places)))]
    view = _View.of(parts, place.footing, rng, size)
    layers = [_Layer.of(run, view, size) for run in _runs(parts)]

    mask = np.zeros((size, size), np.float32)
    for layer in layers:
        np.maximum(mask[layer.window], layer.coverage, out=mask[layer.window])

    light = _Light.of(rng)
    horizon = min(max(view.base - rng.uniform(0.05, 0.3), 0.3), 0.92)
    picture = scenery.paint(place, rng, size, horizon)
    picture *= 1 - _cast_shadow(mask, place.footing, light, view.base)[..., None]
    _paint_layers(picture, layers, light, rng)
    return Photo(_develop(picture, rng), mask)


@dataclass(frozen=True, eq=False)
class _View:
    """Where the camera stands: a homography from the unit box to pixels."""

    matrix: NDArray[np.float64]
    scale: float
    base: float

    @classmethod
    def of(cls, parts: Sequence[Part], footing: Footing, rng: np.random.Generator, size: int) -> _View:
        """Choose a viewpoint, then fit what is seen into the frame."""
        lean = {Footing.STANDING: 0.05, Footing.FLOATING: 0.15, Footing.LYING: 0.45}[footing]
        angle = rng.normal(0, lean)
        flip = rng.choice((-1.0, 1.0))
        c, s = np.cos(angle), np.sin(angle)
        turned = np.array(((c, -s), (s, c))) @ np.array(((1.0, rng.normal(0, 0.05)), (0.0, 1.0)))
        linear = turned @ np.diag((flip * rng.uniform(0.82, 1.08), rng.uniform(0.92, 1.08)))
        matrix = np.eye(3)
        matrix[:2, :2] = linear
        matrix[:2, 2] = -linear @ (0.5, 0.5)
        matrix[2, :2] = rng.normal(0, 0.14, 2)
        matrix[2, 2] = 1 - matrix[2, :2] @ (0.5, 0.5)

        seen = _project(matrix, np.vstack([part.outline for part in parts]))
        low, high = seen.min(axis=0), seen.max(axis=0)
        extent = high - low
        scale = rng.uniform(0.62, 0.92) * size / max(extent.max(), 1.15 * extent.min())
        slack = size - extent * scale
        corner = slack * (
            rng.uniform(0.1, 0.9),
            rng.uniform(0.45, 0.95) if footing is Footing.STANDING else rng.uniform(0.1, 0.9),
        )
        fit = np.diag((scale, scale, 1.0))
        fit[:2, 2] = corner - low * scale
        return cls(fit @ matrix, scale, (corner[1] + extent[1] * scale) / size)

    def project(self, outline: Outline) -> Outline:
        return _project(self.matrix, outline)


def _project(matrix: NDArray[np.float64], points: Outline) -> Outline:
    moved = points @ matrix[:, :2].T + matrix[:, 2]
    flat: Outline = moved[:, :2] / moved[:, 2:]
    return flat


def _runs(parts: Sequence[Part]) -> list[list[Part]]:
    """Put neighbouring parts of one group and material together: they are lit as one body."""
    keyed = groupby(enumerate(parts), key=lambda pair: (pair[1].group or pair[0], pair[1].material))
    return [[part for _, part in run] for _, run in keyed]


@dataclass(frozen=True, eq=False)
class _Layer:
    """Parts that are lit together, as seen: how much they cover inside a window of the picture."""

    material: Material
    window: tuple[slice, slice]
    coverage: Mask
    opacity: float

    @classmethod
    def of(cls, parts: Sequence[Part], view: _View, size: int) -> _Layer:
        outlines = [view.project(part.outline) for part in parts]
        reach = max(2.0, max(part.width for part in parts) * view.scale)
        every = np.vstack(outlines)
        left, top = np.clip(np.floor(every.min(axis=0) - reach).astype(int), 0, size - 1).tolist()
        right, bottom = np.clip(np.ceil(every.max(axis=0) + reach).astype(int), (left + 1, top + 1), size).tolist()

        fine = _SUPERSAMPLING
        canvas = Image.new("L", ((right - left) * fine, (bottom - top) * fine))
        draw = ImageDraw.Draw(canvas)
        for part, outline in zip(parts, outlines, strict=True):
            points = [(x, y) for x, y in ((outline - (left, top)) * fine).tolist()]
            if part.width:
                width = max(1, round(part.width * view.scale * fine))
                draw.line(points + points[:2] if part.closed else points, fill=255, width=width, joint="curve")
            else:
                draw.polygon(points, fill=255)
        coverage = np.asarray(canvas.reduce(fine), dtype=np.float32) / np.float32(255)
        window = (slice(top, bottom), slice(left, right))
        return cls(parts[0].material, window, coverage, 0.55 if parts[0].clear else 1.0)


@dataclass(frozen=True)
class _Light:
    """A lamp or the sun: where it is (z to the camera), and how much light comes from elsewhere."""

    x: float
    y: float
    z: float
    ambient: float

    @classmethod
    def of(cls, rng: np.random.Generator) -> _Light:
        x, y, z = rng.uniform(-0.75, 0.75), rng.uniform(-0.9, -0.35), rng.uniform(0.55, 0.9)
        norm = (x * x + y * y + z * z) ** 0.5
        return cls(x / norm, y / norm, z / norm, rng.uniform(0.3, 0.55))


def _paint_layers(picture: Picture, layers: Sequence[_Layer], light: _Light, rng: np.random.Generator) -> None:
    """Paint back to front; every layer also dims what it touches of the thing behind it."""
    size = len(picture)
    painted = np.zeros((size, size), np.float32)
    for layer in layers:
        rows, columns = layer.window
        there = picture[rows, columns]
        behind = painted[rows, columns]
        if behind.any():
            there *= (1 - 0.3 * _blurred(layer.coverage, size / 60) * behind)[..., None]
        coverage = (layer.coverage * layer.opacity)[..., None]
        there += coverage * (_lit(layer, light, rng, size) - there)
        np.maximum(behind, layer.coverage, out=behind)


def _lit(layer: _Layer, light: _Light, rng: np.random.Generator, size: int) -> Picture:
    """Return the colours of a layer: swell its mask into a relief, and light that."""
    material = layer.material
    height, width = layer.coverage.shape
    radius = min(max(min(height, width) / 5, 1.2), size / 12)
    relief = _blurred(layer.coverage, radius) * 1.4 + _blurred(layer.coverage, radius / 3) * 0.4
    steep = material.roundness * radius * 1.6
    slope_y, slope_x = np.zeros_like(relief), np.zeros_like(relief)
    slope_y[1:-1] = (relief[2:] - relief[:-2]) * (steep / 2)
    slope_x[:, 1:-1] = (relief[:, 2:] - relief[:, :-2]) * (steep / 2)
    length = np.sqrt(slope_x * slope_x + slope_y * slope_y + 1)

    facing = np.maximum((light.z - light.x * slope_x - light.y * slope_y) / length, 0)
    halfway = np.array((light.x, light.y, light.z + 1))
    halfway /= np.linalg.norm(halfway)
    glancing = np.maximum((halfway[2] - halfway[0] * slope_x - halfway[1] * slope_y) / length, 0)
    # Even a flat face is brighter towards the light.
    across = np.linspace(0.5, -0.5, width, dtype=np.float32) * -light.x
    down = np.linspace(0.5, -0.5, height, dtype=np.float32)[:, None] * -light.y
    shade = light.ambient + (1.15 - light.ambient) * facing + 0.22 * (across + down)
    shade *= grain(material.surface, rng, height, width)
    gleam = material.shine * 0.7 * glancing**28
    lit: Picture = shade[..., None] * np.array(material.colour, np.float32) + gleam[..., None]
    return lit


def _cast_shadow(mask: Mask, footing: Footing, light: _Light, base: float) -> Mask:
    """Return how much the thing darkens its place: along the ground, beside it, or not at all in the air."""
    size = len(mask)
    if footing is Footing.FLOATING:
        return np.zeros_like(mask)
    image = Image.fromarray((mask * 255).astype(np.uint8))
    if footing is Footing.LYING:
        offset = size / 28
        coefficients = (1.0, 0.0, light.x * offset, 0.0, 1.0, light.y * offset)
    else:
        # The ground shows the thing upside up, flattened to its foot and leaning away from the light.
        foot, flat = base * size, 0.22
        lean = light.x * 0.7 / flat
        coefficients = (1.0, -lean, lean * foot, 0.0, 1 / flat, foot - foot / flat)
    fallen = image.transform(image.size, Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR)
    soft = fallen.filter(ImageFilter.GaussianBlur(size / 70))
    return np.asarray(soft, dtype=np.float32) * np.float32(0.55 * (1.1 - light.ambient) / 255)


def _develop(picture: Picture, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Expose the picture: white balance, contrast, vignette, focus and sensor noise."""
    size = len(picture)
    contrast = rng.uniform(0.85, 1.15)
    gain = rng.normal(1, 0.035, 3) * rng.uniform(0.85, 1.15) * contrast * 255
    radius = np.linspace(-1, 1, size, dtype=np.float32) ** 2
    vignette = 1 - rng.uniform(0.05, 0.2) * (radius[:, None] + radius[None, :])
    picture *= vignette[..., None]
    picture *= gain.astype(np.float32)
    picture += np.float32(0.45 * 255 * (1 - contrast))
    focused = Image.fromarray(np.clip(picture, 0, 255, out=picture).astype(np.uint8))
    focused = focused.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.75) * size / 224))
    noisy = np.array(focused, dtype=np.float32)
    noisy += rng.standard_normal((size, size, 1), np.float32) * np.float32(rng.uniform(1.5, 5))
    return np.clip(noisy, 0, 255, out=noisy).astype(np.uint8)


def _blurred(mask: Mask, radius: float) -> Mask:
    image = Image.fromarray((mask * 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(radius))
    return np.asarray(image, dtype=np.float32) / np.float32(255)
