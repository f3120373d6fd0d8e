"""Photos, their contours and where their thing stands, and the contours redrawn as people might draw them.

People who draw after a photo leave the background out, simplify, miss parts and add others, and get proportions wrong.
So contours are kept where a classifier of ImageNet looks (its class activation map; Zhou et al., "Learning deep
features for discriminative localization", 2016), parts of them are dropped, the rest is bent, stretched, turned and
moved, and details of another photo of the same kind are put in. ``hardness`` scales all of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets.synthetic.photos import photograph
from sketchhash.errors import UnreadableImage
from sketchhash.files import replacing
from sketchhash.imaging import fit_square
from sketchhash.model.folder import default_model_folder, read_manifest
from sketchhash.model.model import read_photo_for
from sketchhash.tokens import contour_scores, detector
from sketchhash.tokens.contours import Ridges
from sketchhash.tokens.shape import photo_ridges

Floats = NDArray[np.float64]

_FEWEST = 60  # ridge pixels; with fewer there is nothing to redraw
_SIDE = 224  # of the classifier's input
_EVERY = 8  # pixels of a mask
_MARGIN = 0.05  # of a sheet, as drawings are inked


@dataclass(frozen=True, eq=False)
class Contoured:
    """A photo's category, its ridges, its proportions (height and width over the longest side), and where it looks."""

    category: str
    ridges: Ridges
    proportions: Floats
    region: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Places:
    """Which photos to take: at most ``most`` of each folder in ``folder``, but of none named in ``but``."""

    folder: Path
    most: int
    but: frozenset[str] = frozenset()

    def files(self) -> Iterator[Path]:
        """Yield the photos, always the same ones."""
        chance = random.Random(0)
        for folder in sorted(each for each in self.folder.iterdir() if each.name not in self.but):
            names = sorted(each for each in folder.iterdir() if each.is_file())
            chance.shuffle(names)
            yield from names[: self.most]


def find_contours(files: Iterator[Path], done: Callable[[int], None]) -> list[Contoured]:
    """Find the ridges of photos, and where a classifier looks; photos with hardly any contours are left out."""
    manifest, contours, look = read_manifest(default_model_folder()), detector("contour-net"), _classifier()
    found = []
    for number, file in enumerate(files):
        try:
            pixels = read_photo_for(manifest, file)
        except UnreadableImage:
            continue
        scores = contour_scores(pixels, contours)
        ridges = photo_ridges(scores)
        if len(ridges) >= _FEWEST:
            proportions = np.array(scores.shape) / max(scores.shape)
            found.append(Contoured(file.parent.name, ridges, proportions, look(pixels)))
        done(number)
    return found


def synthetic(categories: Sequence[str], each: int) -> list[Contoured]:
    """Render photos of the synthetic world, whose masks tell exactly where the thing is."""
    contours = detector("contour-net")
    found: list[Contoured] = []
    for name in categories:
        for number in range(each):
            photo = photograph(name, np.random.default_rng([number, len(found)]), _SIDE)
            ridges = photo_ridges(contour_scores(photo.pixels, contours))
            if len(ridges) >= _FEWEST:
                region = photo.mask[_EVERY // 2 :: _EVERY, _EVERY // 2 :: _EVERY]
                found.append(Contoured(name, ridges, np.ones(2), region))
    return found


def save(path: Path, photos: list[Contoured]) -> None:
    """Keep photos, rounded to a byte a number."""
    rows = [
        np.column_stack(
            [each.ridges.places * 255, each.ridges.strengths * 255, np.floor(each.ridges.angles / np.pi * 256) % 256]
        )
        for each in photos
    ]
    with replacing(path) as file:
        np.savez_compressed(
            file,
            categories=np.array([each.category for each in photos]),
            counts=np.array([len(each.ridges) for each in photos]),
            ridges=np.rint(np.concatenate(rows)).astype(np.uint8),
            proportions=np.stack([each.proportions for each in photos]),
            regions=np.stack([each.region for each in photos]),
        )


def load(path: Path) -> list[Contoured]:
    """Read what `save` kept."""
    with np.load(path, allow_pickle=False) as kept:
        rows = kept["ridges"].astype(np.float64)
        parts = np.split(rows, np.cumsum(kept["counts"])[:-1])
        about = zip(kept["categories"].tolist(), parts, kept["proportions"], kept["regions"], strict=True)
        return [
            Contoured(category, Ridges(part[:, :2] / 255, part[:, 2] / 255, part[:, 3] / 256 * np.pi), shape, region)
            for category, part, shape, region in about
        ]


@dataclass(frozen=True, eq=False)
class Hand:
    """Someone who draws: ``hardness`` says how unlike the photo."""

    hardness: float
    rng: np.random.Generator

    @classmethod
    def of(cls, low: float, high: float, rng: np.random.Generator) -> Self:
        """Choose anyone between two kinds of people."""
        return cls(rng.uniform(low, high), rng)

    def redraw(self, photo: Contoured, other: Ridges | None = None) -> Ridges:
        """Return the ridges of a drawing of the photo's thing, with details of ``other``, on a sheet with margins."""
        kept = self._chosen(photo)
        directions = kept.angles + np.pi / 2  # along the line
        bend = self._bend(kept.places)
        places = bend(kept.places)
        ahead = bend(kept.places + 0.01 * np.column_stack([np.sin(directions), np.cos(directions)])) - places
        turned = np.arctan2(ahead[:, 0], ahead[:, 1]) + self.rng.normal(0, 0.12 * self.hardness, len(places))
        if other is not None:
            more = self._details(other, len(places))
            middle = (places.min(axis=0) + places.max(axis=0)) / 2
            size = 0.9 * float(np.ptp(places, axis=0).max())
            places = np.concatenate([places, (more.places - 0.5) * size + middle])
            turned = np.concatenate([turned, more.angles + np.pi / 2])
        low, high = places.min(axis=0), places.max(axis=0)
        size = max(float((high - low).max()), 1e-6) / (1 - 2 * _MARGIN)
        sheet = (places - (low + high) / 2) / size + 0.5
        return Ridges(sheet, np.ones(len(sheet)), (turned - np.pi / 2) % np.pi)

    def _chosen(self, photo: Contoured) -> Ridges:
        """Keep strong contours of the thing, but for some patches."""
        ridges, rng = photo.ridges, self.rng
        looked = sample(photo.region[np.newaxis], (ridges.places - 0.5) / photo.proportions + 0.5)[:, 0]
        is_kept = looked >= rng.uniform(0.08, 0.4) * float(photo.region.max())
        is_kept &= ridges.strengths >= rng.uniform(0.15, 0.5) * ridges.strengths.max()
        patch = np.clip((ridges.places * 6).astype(np.intp), 0, 5)
        is_kept &= rng.normal(0, 1, (6, 6))[patch[:, 0], patch[:, 1]] > -1.6 + 0.35 * self.hardness
        if np.count_nonzero(is_kept) < _FEWEST * 2 / 3:
            is_kept = ridges.strengths >= 0.2 * ridges.strengths.max()
        return Ridges(ridges.places[is_kept], ridges.strengths[is_kept], ridges.angles[is_kept])

    def _bend(self, places: Floats) -> Callable[[Floats], Floats]:
        """Return a map of the sheet that gets proportions wrong: as a whole, coarsely and finely."""
        rng, hardness = self.rng, self.hardness
        middle, size = places.mean(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-3)
        stretch, slant, angle = np.exp(rng.normal(0, 0.13 * hardness, 2)), *rng.normal(0, 0.08 * hardness, 2)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        affine = turn @ np.array([[stretch[0], 0], [slant, stretch[1]]])
        coarse, fine = rng.normal(0, 0.035 * hardness, (2, 4, 4)), rng.normal(0, 0.02 * hardness, (2, 8, 8))

        def bent(points: Floats) -> Floats:
            own = (points - middle) / (1.3 * size) + 0.5
            moved: Floats = (points - middle + size * (sample(coarse, own) + sample(fine, own))) @ affine.T
            return moved

        return bent

    def _details(self, other: Ridges, count: int) -> Ridges:
        patch = np.clip((other.places * 5).astype(np.intp), 0, 4)
        chosen = np.flatnonzero(self.rng.normal(0, 1, (5, 5))[patch[:, 0], patch[:, 1]] > 0.3)
        chosen = chosen[: int(count * min(0.8, self.rng.uniform(0, 0.25 * self.hardness)))]
        return Ridges(other.places[chosen], other.strengths[chosen], other.angles[chosen])


def sample(maps: NDArray[np.floating], places: Floats) -> Floats:
    """Read maps ``(maps, n, n)`` at places in the unit square, smoothly between their points: ``(places, maps)``."""
    last = maps.shape[1] - 1
    scaled = np.clip(places, 0, 1) * last
    first = np.minimum(scaled.astype(np.intp), last - 1)
    down, right = ((scaled - first) ** 2 * (3 - 2 * (scaled - first))).T
    y, x = first.T
    read: Floats = (
        maps[:, y, x] * (1 - down) * (1 - right)
        + maps[:, y + 1, x] * down * (1 - right)
        + maps[:, y, x + 1] * (1 - down) * right
        + maps[:, y + 1, x + 1] * down * right
    ).T
    return read


def _classifier() -> Callable[[NDArray[np.uint8]], NDArray[np.float32]]:
    """Return a function from a photo to the class activation map of its three likeliest classes, ``(7, 7)``."""
    import torch

    from sketchhash.dsh.backbones import efficientnet_lite, imagenet_classifier

    torch.set_num_threads(1)
    network = efficientnet_lite("lite0", 3, pretrained=True).eval()
    weights, biases = imagenet_classifier("lite0")

    @torch.no_grad()
    def look(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        square = torch.from_numpy(np.ascontiguousarray(fit_square(pixels, _SIDE)))
        batch = (square.permute(2, 0, 1)[None].float() - 127) / 128
        features = network.head(network.blocks(network.stem(batch)))
        values = (features.mean((2, 3)) @ weights.T + biases)[0]
        likely = values.topk(3).indices
        chances = torch.softmax(values[likely], 0)
        region: NDArray[np.float32] = torch.einsum("k,kc,chw->hw", chances, weights[likely], features[0]).numpy()
        return region

    return look
