"""The sketch of a thing, as people draw from memory: its visible outlines as strokes of an unsteady hand.

Inside this module a line is one array of complex numbers, x + iy: a step is a difference, a turn a product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from sketchhash.datasets.synthetic.catalogue import find
from sketchhash.datasets.synthetic.parts import Outline, Part, Proportions, turn
from sketchhash.imaging.ink import Drawing

Line = NDArray[np.complex128]
Stroke = NDArray[np.float32]

_STEP = 0.015  # between two points of the pen, in unit boxes
_SPREAD = 0.2  # relative error of a remembered size
_PAGE = 256  # pixels of the page on which hidden lines are found
_MARGIN = 4  # pixels of paper around the drawing, so that looking outside a line stays on the page


def draw_sketch(category: str, rng: np.random.Generator) -> Drawing:
    """Draw a new instance of a category, in about a unit box, large parts first."""
    recipe = find(category).recipe
    hand = _Hand.of(rng)
    remembered = recipe(Proportions(rng, _SPREAD, memory=True))
    parts = [part for part in remembered if part.essential or rng.random() > hand.forgetting]
    bend = _Bend.of(rng)
    lines = [_evenly(bend(part.outline), part.closed) for part in parts]
    page = _Page(parts, lines)

    strokes: list[Stroke] = []
    for number in sorted(range(len(parts)), key=lambda i: -_extent(lines[i])):
        for run, is_loop in page.visible_runs(number):
            strokes.extend(hand.trace(run, is_loop, rng))
    return Drawing(tuple(strokes))


@dataclass(frozen=True, eq=False)
class _Bend:
    """How the whole drawing is out of shape: flipped, leaning, too wide, one side larger than the other."""

    matrix: NDArray[np.float64]
    swell: NDArray[np.float64]

    @classmethod
    def of(cls, rng: np.random.Generator) -> _Bend:
        width, height = np.exp(rng.normal(0, 0.13, 2))
        stretch = np.diag((rng.choice((-1.0, 1.0)) * width, height))
        lean = np.array(((1.0, rng.normal(0, 0.07)), (rng.normal(0, 0.03), 1.0)))
        return cls(turn(stretch @ lean, rng.normal(0, 0.1)), rng.normal(0, 0.16, (2, 2)))

    def __call__(self, outline: Outline) -> Line:
        centred = outline - 0.5
        bent = (centred * (1 + centred @ self.swell)) @ self.matrix + 0.5
        return bent.view(np.complex128)[:, 0]


class _Page:
    """Finds what of each line is in view: not behind nearer parts, nor inside parts it grows into."""

    def __init__(self, parts: Sequence[Part], lines: Sequence[Line]) -> None:
        every = np.concatenate(lines)
        corner = complex(every.real.min(), every.imag.min())
        scale = (_PAGE - 2 * _MARGIN - 1) / _extent(every)
        self._parts = parts
        self._lines = lines
        self._pixels = [(line - corner) * scale + complex(_MARGIN, _MARGIN) for line in lines]
        names = [part.group or str(number) for number, part in enumerate(parts)]
        self._group = np.array([-1, *(names.index(name) for name in names)])
        self._nearest = self._stack()

    def visible_runs(self, number: int) -> Iterator[tuple[Line, bool]]:
        """Yield the pieces of a part's line that are in view, and for each whether it is the whole loop."""
        line, seen, closed = self._lines[number], self._in_view(number), self._parts[number].closed
        if seen.all():
            yield line, closed
            return
        if closed:
            start = int(np.argmin(seen))
            line, seen = np.roll(line, -start), np.roll(seen, -start)
        edges = np.flatnonzero(np.diff(seen, prepend=False, append=False)).tolist()
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            if last - first >= 4:
                yield line[first:last], False

    def _stack(self) -> NDArray[np.uint8]:
        """Paint the number of the nearest part, from one, on every pixel; zero is paper."""
        page = Image.new("L", (_PAGE, _PAGE))
        draw = ImageDraw.Draw(page)
        for number, (part, line) in enumerate(zip(self._parts, self._pixels, strict=True), start=1):
            if not part.width and not part.clear:
                draw.polygon(line.view(np.float64).tolist(), fill=number)
        return np.asarray(page)

    def _in_view(self, number: int) -> NDArray[np.bool_]:
        """Look just outside the line: a nearer part, or one that this part grows into, hides it."""
        line = self._pixels[number]
        if self._parts[number].width:
            return np.less_equal(self._at(line), number + 1)
        after = np.concatenate((line[1:], line[:1]))
        along = after - np.concatenate((line[-1:], line[:-1]))
        is_clockwise = (line.conj() * after).imag.sum() > 0
        outward = along * (-1j if is_clockwise else 1j) / np.maximum(abs(along), 1e-9)
        beside = self._at(line + 2 * outward)
        is_hidden: NDArray[np.bool_] = (beside > number + 1) | (self._group[beside] == self._group[number + 1])
        return ~is_hidden

    def _at(self, line: Line) -> NDArray[np.uint8]:
        nearest: NDArray[np.uint8] = self._nearest[(line.imag + 0.5).astype(np.intp), (line.real + 0.5).astype(np.intp)]
        return nearest


@dataclass(frozen=True)
class _Hand:
    """The habits of one person: all lengths in unit boxes, all chances from 0 to 1."""

    wobble: float
    slip: float
    overshoot: float
    lifting: float
    retracing: float
    forgetting: float

    @classmethod
    def of(cls, rng: np.random.Generator) -> _Hand:
        haste = rng.uniform(0.4, 1.8)
        return cls(
            wobble=0.006 * haste,
            slip=0.007 * haste,
            overshoot=0.035 * haste,
            lifting=rng.uniform(0, 0.5),
            retracing=rng.choice((0.0, 0.0, 0.15)),
            forgetting=rng.uniform(0.15, 0.5),
        )

    def trace(self, line: Line, is_loop: bool, rng: np.random.Generator) -> Iterator[Stroke]:
        """Draw one line: perhaps in two pulls, perhaps twice; a loop starts anywhere and rarely closes."""
        if is_loop:
            line = np.roll(line, int(rng.integers(len(line))))
            wanted = round(rng.normal(0.5, 1.0) * self.overshoot / _STEP)
            extra = min(max(wanted, -len(line) // 10), len(line) // 4)
            line = np.concatenate((line, line[: extra + 1])) if extra >= 0 else line[:extra]
        if len(line) > 50 and rng.random() < self.lifting:
            middle = int(rng.integers(len(line) // 3, 2 * len(line) // 3))
            yield self._pull(line[: middle + 1], rng)
            yield self._pull(line[middle:], rng)
        else:
            yield self._pull(line, rng)
        if rng.random() < self.retracing:
            yield self._pull(line[: max(4, int(len(line) * rng.uniform(0.4, 1)))], rng)

    def _pull(self, line: Line, rng: np.random.Generator) -> Stroke:
        """Draw without lifting the pen: a little misplaced and missized, swaying every nine points or so."""
        knots = len(line) // 9 + 3
        drift = rng.standard_normal(2 * knots).view(np.complex128)
        sway = np.interp(np.arange(len(line)) * ((knots - 1) / len(line)), np.arange(knots), drift)
        slip = complex(*rng.normal(0, self.slip, 2))
        centre = line.mean()
        drawn: Line = centre + (line - centre) * rng.normal(1, 0.03) + slip + sway * self.wobble
        return drawn.view(np.float64).reshape(-1, 2).astype(np.float32)


def _evenly(line: Line, closed: bool) -> Line:
    """Walk along a line in equal steps, as a pen is sampled; corners are cut by at most half a step."""
    if closed:
        line = np.concatenate((line, line[:1]))
    reached = np.concatenate(((0.0,), np.cumsum(abs(np.diff(line)))))
    steps = max(4, round(reached[-1] / _STEP))
    at = np.arange(steps if closed else steps + 1) * (reached[-1] / steps)
    even: Line = np.interp(at, reached, line)
    return even


def _extent(line: Line) -> float:
    """Return the longer side of the box around a line."""
    return float(max(line.real.max() - line.real.min(), line.imag.max() - line.imag.min()))
