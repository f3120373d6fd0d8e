"""What a calibration is fitted on and measured with: sketches, parts of them, scribbles, and galleries to search.

Sketches and photos that the model was not trained on search galleries that are drawn at random: few or many categories,
few or many photos of each, with what was drawn or without it. Beside them search drawings of things that the model was
never taught, parts of drawings, and scribbles. Half of all this (sketches and photos by item, untaught things by
category) is fitted on, the other half is measured on.

| kind       | the drawing is                                            | first hits can be right |
|------------|-----------------------------------------------------------|-------------------------|
| `present`  | of a taught category that the gallery has photos of       | yes                     |
| `part`     | the same, but most of it is missing                       | yes                     |
| `absent`   | of a taught category that the gallery has no photo of     | no                      |
| `untaught` | of a category that the model was never taught             | if there are photos     |
| `scribble` | nothing                                                   | no                      |

The first hits are *right* if at least half of the first five show what was drawn; of fewer, if the gallery has fewer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import pack
from sketchhash.datasets import Dataset, Item, Split, join
from sketchhash.datasets.names import meaning
from sketchhash.datasets.scribbles import scribble
from sketchhash.evaluation.encodings import Encodings, Medium, ink_picture
from sketchhash.evaluation.models import Progress, silent
from sketchhash.imaging import InkStyle, normalise_ink, rasterise, share_of_ink
from sketchhash.model import Model, QueryKind
from sketchhash.model.calibration import FIRST_HITS, JUDGED_HITS, Floats

MOST = 10
"""Sketches and photos of a category that are used, in each role."""

HALVES = ("fit", "measure")
ROLES = ("vectors", *HALVES)
"""What items are for: the vectors of the categories, and the two halves that search."""

_SCRIBBLES = _PARTS = 400
_FEWEST_SCRIBBLES = 50
_GALLERIES = 2
_FEWEST_CATEGORIES = 8
_NOTHING = -1


class Kind(StrEnum):
    """What a drawing is to the model and the gallery that it searches."""

    PRESENT = "present"
    PART = "part"
    ABSENT = "absent"
    UNTAUGHT = "untaught"
    SCRIBBLE = "scribble"


# How much each kind of query counts: as many can be right as cannot.
_WEIGHTS = {Kind.PRESENT: 0.4, Kind.PART: 0.1, Kind.ABSENT: 0.2, Kind.UNTAUGHT: 0.15, Kind.SCRIBBLE: 0.15}


@dataclass(frozen=True, eq=False)
class Pictures:
    """Values ``(pictures, bits)`` of sketches or photos, and what they show: rows of categories, or -1 for nothing."""

    values: NDArray[np.float32]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        """Count them."""
        return len(self.labels)

    def __getitem__(self, which: NDArray[Any]) -> Pictures:
        """Select some."""
        return Pictures(self.values[which], self.labels[which])


@dataclass(frozen=True, eq=False)
class Half:
    """What is fitted on, or measured on; ``ink`` is the share of the picture that is ink, of some whole sketches."""

    sketches: Pictures
    parts: Pictures
    scribbles: Pictures
    photos: Pictures
    ink: Floats


@dataclass(frozen=True, eq=False)
class Material:
    """All that a calibration is made of and measured with.

    Attributes:
        names: The taught categories, in the order of the labels below their number; higher labels are untaught.
        drawn: Sketches that the vectors of the categories are the means of.
        shown: Photos, likewise.
        halves: What is fitted on, and what is measured on.
        split_hash: Identifies the split that kept the halves out of training; None if nothing did.
    """

    names: tuple[str, ...]
    drawn: Pictures
    shown: Pictures
    halves: Mapping[str, Half]
    split_hash: str | None

    @property
    def is_kept_out(self) -> bool:
        """Return whether the model was trained on nothing of the halves."""
        return self.split_hash is not None


def gather_material(
    encodings: Encodings,
    datasets: Sequence[Dataset],
    split: Split | None = None,
    wanted: Sequence[str] = ROLES,
    most: int = MOST,
    progress: Progress | None = None,
) -> Material:
    """Encode what a calibration needs, at most so many items of a category in each role.

    Only the ``wanted`` roles are filled. Without a split, what the model was trained on may be among what is fitted
    and measured on: then its chances come out too high.
    """
    model, whole = encodings.model, join(datasets)
    rows = _rows(whole.categories, model.manifest.categories)
    roles = _roles(whole, split, rows, len(model.manifest.categories), most, wanted)
    for medium in Medium:
        missing = encodings.missing(medium, [item for role in wanted for item in roles[medium, role]])
        with (progress or silent)(f"encoding {medium}s", len(missing)) as advance:
            encodings.encode(medium, missing, advance)

    def pictures(medium: Medium, role: str) -> Pictures:
        items, values = encodings.values(medium, roles[medium, role])
        return Pictures(values, np.array([rows[item.label] for item in items], dtype=np.int64))

    halves = {}
    for half in HALVES:
        if half in wanted:
            sketches = [item for item in roles[Medium.SKETCH, half] if item.id not in encodings.unreadable]
            taught = [item for item in sketches if rows[item.label] < len(model.manifest.categories)]
            some = taught[:: max(1, len(taught) // _PARTS)]
            count = min(max(len(taught), _FEWEST_SCRIBBLES), _SCRIBBLES)
            with (progress or silent)(f"drawing parts and scribbles to {half}", len(some) + count) as advance:
                parts, scribbles, ink = _draw_parts(model, some, count, HALVES.index(half), advance)
            labels = np.array([rows[item.label] for item in some], dtype=np.int64)
            nothing = np.full(len(scribbles), _NOTHING, dtype=np.int64)
            halves[half] = Half(
                sketches=pictures(Medium.SKETCH, half),
                parts=Pictures(parts, labels),
                scribbles=Pictures(scribbles, nothing),
                photos=pictures(Medium.PHOTO, half),
                ink=ink,
            )
    return Material(
        names=model.manifest.categories,
        drawn=pictures(Medium.SKETCH, "vectors"),
        shown=pictures(Medium.PHOTO, "vectors"),
        halves=halves,
        split_hash=split.hash if split else None,
    )


def _draw_parts(
    model: Model, sketches: Sequence[Item], count: int, seed: int, advance: Callable[[], None]
) -> tuple[NDArray[np.float32], NDArray[np.float32], Floats]:
    """Return the values of parts of sketches, those of ``count`` scribbles, and how much of each sketch is ink."""
    rng = np.random.default_rng(seed)
    page, style = model.manifest.ink, model.manifest.ink.style

    def encoded(pictures: Iterable[NDArray[np.uint8]]) -> NDArray[np.float32]:
        values = []
        for picture in pictures:
            values.append(model.encode_sketches(picture[np.newaxis])[0])
            advance()
        return np.array(values, dtype=np.float32).reshape(len(values), model.bits)

    whole = [ink_picture(page, item) for item in sketches]
    parts = encoded(part_of(ink, rng, style) for ink in whole)
    scribbles = encoded(rasterise(scribble(rng), page.size, style) for _ in range(count))
    return parts, scribbles, np.array([share_of_ink(ink) for ink in whole])


def part_of(ink: NDArray[np.uint8], rng: np.random.Generator, style: InkStyle) -> NDArray[np.uint8]:
    """Keep a quarter to a half of a sketch, on one side of a line, and fit it into the page as if it were all."""
    rows, columns = np.nonzero(ink < 128)
    angle = rng.uniform(0, 2 * np.pi)
    along = rows * np.sin(angle) + columns * np.cos(angle)
    kept = along <= np.quantile(along, rng.uniform(0.25, 0.5))
    part = np.full_like(ink, 255)
    part[rows[kept], columns[kept]] = 0
    return normalise_ink(part, len(ink), style)


@dataclass(frozen=True, eq=False)
class Search:
    """One search of a gallery drawn at random: the query, the hits in their order, and which of them are right."""

    kind: Kind
    label: int
    values: NDArray[np.float32]
    codes: NDArray[np.uint8]
    relevant: NDArray[np.bool_]
    is_right: bool


def searches(half: Half, names: int, asked: QueryKind, shown: Floats) -> Iterator[Search]:
    """Yield searches of galleries drawn at random; the same for the same half."""
    rng = np.random.default_rng([list(QueryKind).index(asked), len(half.photos)])
    signs = np.where(half.photos.values >= 0, 1, -1).astype(np.float32)
    codes = pack(half.photos.values)
    for kind, queries in _queries(half, names, asked, shown):
        for number, (values, label) in enumerate(zip(queries.values, queries.labels.tolist(), strict=True)):
            for _ in range(_GALLERIES):
                itself = number if asked is QueryKind.PHOTO else None
                among = _gallery(half.photos.labels, label if label < names else _NOTHING, itself, rng)
                if len(among) < FIRST_HITS:
                    continue
                hits = among[np.argsort(-(signs[among] @ values), kind="stable")[:JUDGED_HITS]]
                relevant = half.photos.labels[hits] == label
                count = min(FIRST_HITS, int((half.photos.labels[among] == label).sum()))
                is_right = count > 0 and float(relevant[:count].mean()) >= 0.5
                is_absent = kind in (Kind.PRESENT, Kind.PART) and not count
                yield Search(Kind.ABSENT if is_absent else kind, label, values, codes[hits], relevant, is_right)


def _queries(half: Half, names: int, asked: QueryKind, shown: Floats) -> list[tuple[Kind, Pictures]]:
    if asked is QueryKind.CATEGORY:
        return [(Kind.PRESENT, Pictures(shown.astype(np.float32), np.arange(names)))]
    pictures = half.sketches if asked is QueryKind.SKETCH else half.photos
    is_taught = pictures.labels < names
    queries = [(Kind.PRESENT, pictures[is_taught]), (Kind.UNTAUGHT, pictures[~is_taught])]
    if asked is QueryKind.SKETCH:
        queries += [(Kind.PART, half.parts), (Kind.SCRIBBLE, half.scribbles)]
    return queries


def _gallery(labels: NDArray[np.int64], wanted: int, itself: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose photos of some categories; what is ``wanted`` is among them in one of two."""
    categories = np.unique(labels)
    fewest = min(_FEWEST_CATEGORIES, len(categories))
    count = round(np.exp(rng.uniform(np.log(fewest), np.log(len(categories)))))
    chosen = set(rng.permutation(categories)[:count].tolist()) - {wanted}
    if wanted != _NOTHING and rng.random() < 0.5:
        chosen.add(wanted)
    is_chosen = np.isin(labels, list(chosen)) & (rng.random(len(labels)) < rng.uniform(0.2, 1))
    if itself is not None:
        is_chosen[itself] = False
    return np.flatnonzero(is_chosen)


def kind_weights(kinds: Sequence[Kind]) -> Floats:
    """Return weights that make each kind count as much as it should, however many searches it has."""
    counts = Counter(kinds)
    weights = np.array([_WEIGHTS[kind] / counts[kind] for kind in kinds])
    shares: Floats = weights / weights.sum()
    return shares


def _rows(categories: Sequence[str], taught: Sequence[str]) -> list[int]:
    """Return for each category of the data its row among the taught ones, or one of its own beyond them."""
    known = {meaning(name): row for row, name in enumerate(taught)}
    return [known.get(meaning(category), len(taught) + row) for row, category in enumerate(categories)]


def _roles(
    whole: Dataset, split: Split | None, rows: Sequence[int], names: int, most: int, wanted: Sequence[str]
) -> dict[tuple[Medium, str], list[Item]]:
    """Divide items into those that make the vectors, that are fitted on and that are measured on."""
    if split is None:
        has_halves = wanted != ROLES[:1]
        in_vectors: Callable[[Item], bool] = lambda item: not has_halves or _number(item.id) % 3 == 0  # noqa: E731
        in_halves: Callable[[Item], bool] = lambda item: not in_vectors(item)  # noqa: E731
    else:
        parts = split.apply(whole)
        trained = {item.id for item in (*parts.training_sketches, *parts.training_photos)}
        kept_out = {*split.query_sketches, *(item.id for item in parts.gallery)}
        in_vectors, in_halves = (lambda item: item.id in trained), (lambda item: item.id in kept_out)

    def is_in(item: Item, role: str) -> bool:
        is_taught = rows[item.label] < names
        if role == "vectors":
            return is_taught and in_vectors(item)
        number = _number(item.id) if is_taught else _number(whole.categories[item.label])
        return (in_halves(item) or not is_taught) and HALVES[number // 3 % 2] == role

    media = {Medium.SKETCH: whole.sketches, Medium.PHOTO: whole.photos}
    return {
        (medium, role): _at_most((item for item in items if is_in(item, role)), most)
        for medium, items in media.items()
        for role in ("vectors", *HALVES)
    }


def _at_most(items: Iterable[Item], most: int) -> list[Item]:
    by_category: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        by_category[item.label].append(item)
    return [item for some in by_category.values() for item in sorted(some, key=lambda one: _number(one.id))[:most]]


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:6])
