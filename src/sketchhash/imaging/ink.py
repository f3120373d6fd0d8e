"""Strokes, and the normal form of every sketch: black lines of one width on white paper, fitted into a square.

Whatever a sketch came from (strokes on a page, a scan, a bitmap of 28 pixels), the networks see it drawn by
the same pen at the same place: centred, aspect kept, the outer edge of its ink on the margin. That is why
training and searching agree on what a sketch looks like.

The pen is exact rather than supersampled: a pixel's darkness comes from its distance to the nearest line. So
the picture does not depend on where or how large the strokes were drawn, on their direction, or on how finely
they were sampled, beyond rounding to the nearest grey level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument

# A person who draws for two minutes on a 120 Hz tablet leaves about 14,000 points. More is a mistake or an
# attack: the time to rasterise grows with the points.
MAX_POINTS = 20_000
MAX_STROKES = 2_000
MAX_COORDINATE = 1e9


@dataclass(frozen=True, eq=False)
class Drawing:
    """Strokes in the order they were drawn, each ``(points, 2)``: x to the right, y down, in any unit."""

    strokes: tuple[NDArray[np.float32], ...]

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Take strokes from decoded JSON, ``[[[x, y], ...], ...]``; a stroke without points is left out.

        >>> Drawing.from_json([[[0, 0], [3, 4]], []]).to_json()
        [[[0.0, 0.0], [3.0, 4.0]]]

        Raises:
            BadArgument: If the value has another shape, holds no point, or exceeds this module's limits.
        """
        if not isinstance(value, list):
            raise BadArgument(f"A drawing is a list of strokes, [[[x, y], ...], ...], not a {type(value).__name__}.")
        if len(value) > MAX_STROKES:
            raise BadArgument(f"A drawing may have {MAX_STROKES:,} strokes, this one has {len(value):,}.")
        for number, stroke in enumerate(value, start=1):
            if not isinstance(stroke, list):
                raise BadArgument(
                    f"Stroke {number} is not a list of points, [[x, y], ...], but {type(stroke).__name__}."
                )

        points = sum(map(len, value))
        if points > MAX_POINTS:
            raise BadArgument(f"A drawing may have {MAX_POINTS:,} points, this one has {points:,}.")
        if points == 0:
            raise BadArgument("This drawing has no points: draw something first.")
        for number, stroke in enumerate(value, start=1):
            if not all(map(_is_point, stroke)):
                raise BadArgument(
                    f"Stroke {number} holds something that is not a point: "
                    f"each is [x, y], two finite numbers within ±{MAX_COORDINATE:g}."
                )
        return cls(tuple(np.array(stroke, dtype=np.float32) for stroke in value if stroke))

    def to_json(self) -> list[list[list[float]]]:
        """Return the strokes as lists that `json.dumps` accepts and `from_json` reads."""
        return [stroke.tolist() for stroke in self.strokes]


# Long lines are drawn in pieces of at most this many pixels, each with a small window of pixels around it;
# blocks of pieces bound the memory of the windows. Neither changes the picture.
_PIECE_LENGTH = 2.0
_PIECES_A_BLOCK = 2048


@dataclass(frozen=True)
class InkStyle:
    """The pen and the page, as fractions of the picture's side.

    TU-Berlin's sketches have lines of 0.8 % of the side and a margin of 10 %. Enlarged to a margin of 5 %,
    their lines would be 0.9 % wide, hardly more than a pixel at 128. The default of 1/80 makes that 1.6
    pixels, and 2.8 at 224, and still keeps hatching apart.
    """

    line_width: float = 1 / 80
    margin: float = 0.05

    def __post_init__(self) -> None:
        """Raise if the style leaves no room to draw."""
        if not (self.line_width > 0 and self.margin >= 0 and self.line_width + 2 * self.margin < 1):
            raise BadArgument(
                f"A line width of {self.line_width:g} and a margin of {self.margin:g} leave no room to draw: "
                "both are fractions of the side, such as 0.0125 and 0.05."
            )


DEFAULT_STYLE = InkStyle()


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines from ``starts`` to ``ends``, each ``(lines, 2)``, x and y; one of no length is a dot.

    No line leaves the box between the corners ``low`` and ``high``, which is what is fitted into the page.
    """

    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def rasterise(drawing: Drawing, size: int, style: InkStyle = DEFAULT_STYLE) -> NDArray[np.uint8]:
    """Draw strokes in the normal form: ``(size, size)``, paper 255, ink 0, antialiased.

    >>> import numpy as np
    >>> dot = Drawing((np.array([[5, 5]], dtype=np.float32),))
    >>> rasterise(dot, 3, InkStyle(line_width=1 / 3))[1].tolist()
    [255, 0, 255]

    Raises:
        BadArgument: If the drawing has no points or one that is not finite.
    """
    return draw(_lines_of(drawing), size, style)


def share_of_ink(picture: NDArray[np.uint8]) -> float:
    """Return how much of a drawn picture is ink, 0 to 1."""
    return float(1 - picture.mean() / 255)


def draw(lines: Lines, size: int, style: InkStyle = DEFAULT_STYLE) -> NDArray[np.uint8]:
    """Fit lines into the page and draw them: ``(size, size)``, paper 255, ink 0, antialiased."""
    if size < 1:
        raise BadArgument(f"A picture needs a side of at least one pixel, not {size}.")
    width = style.line_width * size
    # A line thinner than a pixel is drawn a pixel wide and paler: a dot could fall between pixel centres.
    pen = max(width, 1.0)
    room = size * (1 - 2 * style.margin) - pen
    extent = lines.high - lines.low
    scale = room / extent.max() if extent.max() > 0 else 1.0
    middle = lines.low + extent / 2
    starts, ends = _cut((lines.starts - middle) * scale + size / 2, (lines.ends - middle) * scale + size / 2)

    radius = pen / 2
    coverage = np.clip(radius + 0.5 - _distance_to(starts, ends, size, radius), 0, 1) * min(width, 1.0)
    page: NDArray[np.uint8] = np.rint(255 - 255 * coverage).astype(np.uint8)
    return page


def _is_point(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_coordinate, value))


def _is_coordinate(value: object) -> bool:
    # A comparison, not math.isfinite: it is false for nan and safe for integers too large for a float.
    return type(value) in (int, float) and -MAX_COORDINATE <= value <= MAX_COORDINATE  # type: ignore[operator]


def _lines_of(drawing: Drawing) -> Lines:
    """Join each point to the next of its stroke; the last one to itself, which makes a lone point a dot."""
    strokes = [stroke for stroke in drawing.strokes if len(stroke)]
    if not strokes:
        raise BadArgument("This drawing has no points: draw something first.")
    starts = np.concatenate(strokes).astype(np.float64)
    if not np.isfinite(starts).all():
        raise BadArgument("This drawing has a point that is not finite.")
    ends = np.roll(starts, -1, axis=0)
    last = np.cumsum([len(stroke) for stroke in strokes]) - 1
    ends[last] = starts[last]
    return Lines(starts, ends, starts.min(axis=0), starts.max(axis=0))


def _cut(starts: NDArray[np.float64], ends: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut lines into equal pieces of at most `_PIECE_LENGTH`."""
    span = ends - starts
    pieces = np.maximum(np.ceil(np.hypot(span[:, 0], span[:, 1]) / _PIECE_LENGTH), 1).astype(np.intp)
    step = np.repeat(span / pieces[:, None], pieces, axis=0)
    place = np.arange(len(step)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    cuts = np.repeat(starts, pieces, axis=0) + place[:, None] * step
    return cuts, cuts + step


def _distance_to(
    starts: NDArray[np.float64], ends: NDArray[np.float64], size: int, radius: float
) -> NDArray[np.float32]:
    """Measure each pixel centre's distance to the nearest short line, if it is below ``radius + 0.5``."""
    span = ends - starts
    window = int(np.ceil(np.abs(span).max() + 2 * radius)) + 1
    corner = np.floor(np.minimum(starts, ends) - radius)

    side = size + 2 * window  # a frame, so that windows may overhang the page
    squared = np.full(side * side, np.inf, dtype=np.float32)
    cells = np.arange(window)
    first = (corner + window).astype(np.intp)
    for block in range(0, len(span), _PIECES_A_BLOCK):
        rows = slice(block, block + _PIECES_A_BLOCK)
        centre = cells + 0.5 + (corner[rows] - starts[rows])[:, :, None]
        x, y = centre[:, 0, None, :].astype(np.float32), centre[:, 1, :, None].astype(np.float32)
        span_x, span_y = span[rows].astype(np.float32).T[:, :, None, None]
        length = np.maximum(span_x * span_x + span_y * span_y, np.float32(1e-12))
        along = np.clip((x * span_x + y * span_y) / length, 0, 1)
        gap = (x - along * span_x) ** 2 + (y - along * span_y) ** 2
        place = (first[rows, 1, None, None] + cells[:, None]) * side + first[rows, 0, None, None] + cells
        np.minimum.at(squared, place.ravel(), gap.ravel())
    page = squared.reshape(side, side)[window:-window, window:-window]
    return np.sqrt(page)
