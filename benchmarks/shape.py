"""How well the shape of a drawing finds its own photo among photos of its kind, and what that costs.

    python benchmarks/shape.py --photos DIR --further DIR --sketches DIR --gallery FILE --out results/shape.json

Photos lie in folders named after what they show. Forty categories of ``--photos`` are kept back, twenty to choose
settings (validation) and twenty to report (test); the metric is learned from all others, if ``--learn`` says where to
write it. Drawings are contours redrawn (see `redrawing`), so hard that the plain grid does about as badly as it was
found to do on drawings by people. Each is compared with its own photo and 24 others of its category: 0 is the best
relative rank, 0.5 that of chance.

The plain grid counts the strongest contours, 8 × 8 cells by 8 orientations, over the photo squeezed to a square.
Sketches by people, which belong to no photo, check that the metric has not just learned the redrawing: how often it
prefers a photo of the sketch's category to one of another. The gallery is any that holds labelled photos of the
sketches' categories: it gives mean average precision with and without shapes, and the time of ordering the nearest
thousand, in processor time: set ``OMP_NUM_THREADS=1``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

import redrawing
from redrawing import Contoured, Hand, Places
from sketchhash.codes import unpack
from sketchhash.datasets.synthetic.catalogue import CATEGORIES
from sketchhash.errors import BadArgument
from sketchhash.evaluation.metrics import average_precisions, bootstrap_interval
from sketchhash.evaluation.ties import TieGroups
from sketchhash.gallery import GalleryFile
from sketchhash.imaging import read_sketch
from sketchhash.index import rerank
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from sketchhash.tokens.contours import Ridges
from sketchhash.tokens.shape import (
    CELLS,
    GRID,
    ORIENTATIONS,
    SHAPE_BYTES,
    ShapeMetric,
    ShapeQuery,
    describe_ridges,
    ink_grid,
    orientation_grid,
    photo_grids,
)
from timing import RecordFile, finish, run, say

Grids = NDArray[np.float32]
Scorer = Callable[[int, NDArray[np.intp]], NDArray[np.floating]]

HARDNESS = 2.2
_LEARNED_FROM = (1.2, 2.8)  # hardness of the drawings to learn from
_KEPT_BACK = 20  # categories for validation, and as many for the test
_CANDIDATES = 25
_STRONGEST = 0.6  # of the highest score: the contours of a token map
_SKETCHES = 4  # of each category, by people
_DRAWN_TWICE = 2
_SYNTHETIC = 8  # categories of the synthetic world, or a few more


@dataclass(frozen=True)
class Settings:
    """How the metric is learned: by Adam, towards unequal odds of the own photo, held near its start by ``decay``."""

    epochs: int = 12
    rate: float = 0.003
    decay: float = 3e-4
    sharpness: float = 6.0
    categories_a_step: int = 8


@dataclass(frozen=True, eq=False)
class Pairs:
    """Photos and drawings of them: grids of photos ``(n, 2 * GRID)`` and of drawings ``(n, drawings, GRID)``."""

    categories: NDArray[np.str_]
    photos: Grids
    shapes: NDArray[np.uint8]
    plain: Grids
    drawings: Grids

    def of(self, names: Sequence[str]) -> Pairs:
        """Return the pairs of some categories."""
        chosen = np.isin(self.categories, names)
        return Pairs(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


def make_pairs(photos: Sequence[Contoured], hardness: Callable[[str], tuple[float, float]], seed: int) -> Pairs:
    """Describe photos, and draw each of them twice."""
    rng = np.random.default_rng(seed)
    before: dict[str, Ridges] = {}
    drawings = np.zeros((len(photos), _DRAWN_TWICE, GRID), dtype=np.float32)
    for number in range(_DRAWN_TWICE):
        for row in rng.permutation(len(photos)).tolist():
            photo = photos[row]
            drawn = Hand.of(*hardness(photo.category), rng).redraw(photo, before.get(photo.category))
            drawings[row, number] = orientation_grid(drawn)
            before[photo.category] = drawn
    packed = b"".join(describe_ridges(photo.ridges) for photo in photos)
    return Pairs(
        np.array([photo.category for photo in photos]),
        np.stack([np.concatenate(photo_grids(photo.ridges)) for photo in photos]),
        np.frombuffer(packed, dtype=np.uint8).reshape(-1, SHAPE_BYTES),
        np.stack([_plain(photo) for photo in photos]),
        drawings,
    )


def _plain(photo: Contoured) -> Grids:
    is_strong = photo.ridges.strengths >= _STRONGEST * photo.ridges.strengths.max()
    squeezed = (photo.ridges.places[is_strong] - 0.5) / photo.proportions + 0.5
    return orientation_grid(Ridges(squeezed, np.ones(len(squeezed)), photo.ridges.angles[is_strong]))


def learn(pairs: Pairs, settings: Settings, seed: int = 1) -> ShapeMetric:
    """Learn the metric: the own photo of a drawing should score highest among photos of its category.

    The loss is the cross-entropy of the own photo (softmax over at most 25 photos). Half of the steps are mirrored.
    """
    rng = np.random.default_rng(seed)
    start = settings.sharpness * np.concatenate([np.eye(GRID), np.eye(GRID)], axis=1).astype(np.float32)
    weights, mean, square, step = start.copy(), np.zeros_like(start), np.zeros_like(start), 0
    kinds = [np.flatnonzero(pairs.categories == name) for name in np.unique(pairs.categories)]
    kinds = [rows for rows in kinds if len(rows) >= 5]
    for _ in range(settings.epochs):
        order = rng.permutation(len(kinds))
        for first in range(0, len(order), settings.categories_a_step):
            some = order[first : first + settings.categories_a_step]
            slope = sum(_slope(weights, pairs, kinds[kind], rng) for kind in some) / len(some)
            slope = slope + settings.decay * (weights - start)
            step += 1
            mean = 0.9 * mean + 0.1 * slope
            square = 0.99 * square + 0.01 * slope * slope
            weights -= settings.rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return ShapeMetric(weights)


def _slope(weights: Grids, pairs: Pairs, rows: NDArray[np.intp], rng: np.random.Generator) -> Grids:
    rows = rng.permutation(rows)[:_CANDIDATES]
    photos, drawings = pairs.photos[rows], pairs.drawings[rows, rng.integers(pairs.drawings.shape[1])]
    if rng.random() < 0.5:
        photos, drawings = mirrored(photos), mirrored(drawings)
    scores = drawings @ (weights @ photos.T)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    slope: Grids = drawings.T @ ((odds - np.eye(len(rows), dtype=np.float32)) @ photos) / len(rows)
    return slope


def mirrored(grids: Grids) -> Grids:
    """Return grids ``(..., grids * GRID)`` of the mirror images."""
    apart = grids.reshape(-1, CELLS, CELLS, ORIENTATIONS)[:, :, ::-1, -np.arange(ORIENTATIONS) % ORIENTATIONS]
    return apart.reshape(grids.shape)


def ranks(pairs: Pairs, scorer: Scorer, seed: int = 0) -> dict[str, object]:
    """Return the mean relative rank of the own photo, and how often it is first, with intervals of 95 %."""
    rng = np.random.default_rng(seed)
    relative, first = [], []
    for row, name in enumerate(pairs.categories):
        others = np.flatnonzero((pairs.categories == name) & (np.arange(len(pairs.categories)) != row))
        others = rng.permutation(others)[: _CANDIDATES - 1]
        own, *rest = scorer(row, np.concatenate([[row], others])).tolist()
        better = sum(score > own for score in rest) + sum(score == own for score in rest) / 2
        relative.append(better / len(rest))
        first.append(better == 0)
    measured: dict[str, object] = {"drawings": len(relative)}
    for measure, values in (("rank", relative), ("first", first)):
        numbers = np.array(values, dtype=np.float64)
        interval = bootstrap_interval(numbers, rng)
        measured |= {measure: round(float(numbers.mean()), 4), f"{measure}_interval": _rounded(asdict(interval))}
    return measured


def scorers(pairs: Pairs, metric: ShapeMetric) -> dict[str, Scorer]:
    """Return ways to compare drawings with photos: the plain grid, both grids as they are, and the metric."""
    wanted = pairs.drawings[:, 0] @ metric.weights
    return {
        "plain grid": lambda row, among: pairs.plain[among] @ pairs.drawings[row, 0],
        "both grids, nothing learned": lambda row, among: pairs.photos[among] @ np.tile(pairs.drawings[row, 0], 2),
        "shape": lambda row, among: ShapeQuery(wanted[row]).scores(pairs.shapes[among]),
    }


def preference(pairs: Pairs, grids: Grids, labels: Sequence[str], metric: ShapeMetric) -> dict[str, float]:
    """Return how often sketches by people ``(n, GRID)`` prefer a photo of their category to one of another."""
    ways = {"plain grid": grids @ pairs.plain.T, "both grids, nothing learned": grids @ _summed(pairs.photos).T}
    ways["shape"] = np.stack([ShapeQuery(row).scores(pairs.shapes) for row in grids @ metric.weights])
    found = {}
    for way, scores in ways.items():
        areas = []
        for row, label in zip(scores, labels, strict=True):
            is_own = pairs.categories == label
            places = row.argsort().argsort()[is_own]
            areas.append((places.mean() - (is_own.sum() - 1) / 2) / (~is_own).sum())
        found[way] = round(float(np.mean(areas)), 4)
    return found


def _summed(photos: Grids) -> Grids:
    return photos[:, :GRID] + photos[:, GRID:]


def read_sketches(folder: Path, names: Sequence[str], size: int, seed: int = 3) -> tuple[NDArray[np.uint8], list[str]]:
    """Read a few sketches of each category: ink ``(n, size, size)`` and labels."""
    rng, ink, labels = np.random.default_rng(seed), [], []
    for name in names:
        for file in rng.permutation(np.array(sorted((folder / name).glob("*.png")), dtype=object))[:_SKETCHES]:
            ink.append(read_sketch(file, size))
            labels.append(name)
    if not ink:
        raise BadArgument(f"There are no sketches in {folder} of these categories.")
    return np.stack(ink), labels


def with_and_without(gallery: Path, sketches: Path, metric: ShapeMetric) -> dict[str, object]:
    """Return mean average precision of categories in a gallery with and without shapes, and the time for a thousand."""
    model = Model.load(default_model_folder())
    with GalleryFile.open(gallery, model) as opened:
        ids, codes = opened.read_codes()
        about = {photo.id: photo.label for photo in opened.photos()}
        labels = np.array([about[photo] for photo in ids.tolist()])
        known = sorted({label for label in labels.tolist() if label and (sketches / label).is_dir()})
        ink, wanted = read_sketches(sketches, known, model.manifest.ink.size)
        shapes = opened.shapes_of(ids.tolist())
        values = model.encode_sketches(ink)
        precision: dict[str, list[float]] = {"without": [], "with": []}
        for query, page, label in zip(values, ink, wanted, strict=True):
            plain = rerank(ids, codes, query)
            is_own = dict(zip(ids.tolist(), (labels == label).tolist(), strict=True))
            fits = ShapeQuery.of_ink(page, metric).fits(shapes, ids.tolist())
            best = rerank(ids, codes, query, fits)
            precision["without"].append(_precision([is_own[each] for each in plain.ids.tolist()], plain.weighed))
            places = np.arange(len(ids))
            precision["with"].append(_precision([is_own[each] for each in best.ids.tolist()], places))
        change = np.array(precision["with"]) - np.array(precision["without"])
        return {
            "photos": len(ids),
            "codes": len(np.unique(codes, axis=0)),
            "sketches": len(wanted),
            "map_without": round(float(np.mean(precision["without"])), 4),
            "map_with": round(float(np.mean(precision["with"])), 4),
            "change_interval": _rounded(asdict(bootstrap_interval(change, np.random.default_rng(0)))),
            "milliseconds": _times(opened, ids[:1000], codes[:1000], values, ink),
        }


def _precision(is_own: Sequence[bool], distances: NDArray[np.integer]) -> float:
    """Return the average precision of one ranking, in expectation over ties."""
    starts = np.flatnonzero(np.diff(distances.astype(np.int64), prepend=-1))
    relevant = np.add.reduceat(np.array(is_own, dtype=np.int64), starts)
    sizes = np.diff(starts, append=len(distances))
    groups = TieGroups(sizes, relevant, np.array([0, len(sizes)]), np.zeros(1, dtype=np.int64))
    return float(average_precisions(groups)[0])


def _times(
    gallery: GalleryFile, ids: NDArray[np.int64], codes: NDArray[np.uint8], values: Grids, ink: NDArray[np.uint8]
) -> dict[str, float]:
    """Time a thousand hits on one core, in milliseconds of processor time: the median of all sketches."""
    listed = ids.tolist()
    plain = np.random.default_rng(0).random((len(ids), GRID), dtype=np.float32)
    grid = ink_grid(ink[0])
    shapes = gallery.shapes_of(listed)
    queries = [ShapeQuery.of_ink(page) for page in ink]
    fits = [query.fits(shapes, listed) for query in queries]

    def order(row: int, with_fits: bool) -> object:
        return rerank(ids, codes, values[row], fits[row] if with_fits else None)

    work: Mapping[str, Callable[[int], object]] = {
        "describe the drawing": lambda row: ShapeQuery.of_ink(ink[row]),
        "read shapes": lambda _: gallery.shapes_of(listed),
        "compare shapes": lambda row: queries[row].fits(shapes, listed),
        "order without shapes": lambda row: order(row, False),
        "order with shapes": lambda row: order(row, True),
        "compare plain grids of four times the bytes": lambda _: plain @ grid,
        "unpack codes, for scale": lambda _: unpack(codes),
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    for row in range(len(ink)):
        for name, call in work.items():
            start = process_time()
            call(row)
            times[name].append(1000 * (process_time() - start))
    return {name: round(float(np.median(some)), 3) for name, some in times.items()}


def _rounded(interval: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in interval.items()}


def tables(measured: Mapping[str, dict[str, dict[str, object]]], people: Mapping[str, float]) -> str:
    """Return what was measured as Markdown."""
    rows = [
        [split, way, str(each["drawings"]), f"{each['rank']}", f"{each['first']}"]
        for split, ways in measured.items()
        for way, each in ways.items()
    ]
    parts = markdown_table(("photos", "compared by", "drawings", "relative rank", "first"), rows)
    return (
        parts + "\n\n" + markdown_table(("compared by", "people's sketches"), [[k, str(v)] for k, v in people.items()])
    )


def main(
    photos: Annotated[Path, typer.Option(metavar="DIR", help="Photos, in folders by category.")],
    further: Annotated[Path, typer.Option(metavar="DIR", help="More of them, only to learn from.")],
    sketches: Annotated[Path, typer.Option(metavar="DIR", help="Sketches by people, in folders by category.")],
    gallery: Annotated[Path, typer.Option(metavar="FILE", help="A gallery of labelled photos.")],
    kept: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the contours here, or read them.")] = None,
    learned: Annotated[
        Path | None, typer.Option("--learn", metavar="FILE", help="Learn the metric, and write it here.")
    ] = None,
    out: RecordFile = None,
) -> None:
    """Measure how well shapes find the photo that was drawn, and what they cost."""
    contoured = _contours(photos, further, kept)
    first = sorted({each.name for each in photos.iterdir()})
    shuffled = np.random.default_rng(5).permutation(first).tolist()
    validation, test = shuffled[:_KEPT_BACK], shuffled[_KEPT_BACK : 2 * _KEPT_BACK]
    back = {*validation, *test}
    pairs = make_pairs(contoured, lambda name: (HARDNESS, HARDNESS) if name in back else _LEARNED_FROM, seed=0)
    others = sorted({*pairs.categories.tolist()} - back)
    settings = Settings()
    if learned is not None:
        say(f"Learning from {len(pairs.of(others).categories):,} photos ...")
        learn(pairs.of(others), settings).save(learned)
    metric = ShapeMetric.shipped() if learned is None else ShapeMetric.load(learned)
    measured = {
        name: {way: ranks(some, scorer) for way, scorer in scorers(some, metric).items()}
        for name, some in (("validation", pairs.of(validation)), ("test", pairs.of(test)), ("synthetic", _synthetic()))
    }
    ink, labels = read_sketches(sketches, [name for name in test if (sketches / name).is_dir()], 128)
    people = preference(pairs.of(test), np.stack([ink_grid(page) for page in ink]), labels, metric)
    record = {
        "settings": asdict(settings),
        "hardness": HARDNESS,
        "learned_from": {"photos": len(pairs.of(others).categories), "categories": len(others)},
        "own_photo": measured,
        "people": {"sketches": len(labels), "prefer_their_category": people},
        "gallery": with_and_without(gallery, sketches, metric),
    }
    finish(tables(measured, people) + f"\n\n{record['gallery']}", record, out)


def _synthetic() -> Pairs:
    names = CATEGORIES[:: len(CATEGORIES) // _SYNTHETIC]
    return make_pairs(redrawing.synthetic(names, _CANDIDATES), lambda _: (HARDNESS, HARDNESS), seed=1)


def _contours(photos: Path, further: Path, kept: Path | None) -> list[Contoured]:
    if kept is not None and kept.exists():
        return redrawing.load(kept)
    names = frozenset(each.name for each in photos.iterdir())
    files = chain(Places(photos, 50).files(), Places(further, 16, names).files())
    found = redrawing.find_contours(files, lambda number: None if number % 100 else say(f"{number:,} photos ..."))
    if kept is not None:
        redrawing.save(kept, found)
        return redrawing.load(kept)
    return found


if __name__ == "__main__":
    run(main)
