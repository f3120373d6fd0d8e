"""A drawing as a person made it: strokes, each a line of points."""

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
        """Give the strokes as lists that `json.dumps` accepts and `from_json` reads."""
        return [stroke.tolist() for stroke in self.strokes]


def _is_point(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_coordinate, value))


def _is_coordinate(value: object) -> bool:
    # A comparison, not math.isfinite: it is false for nan and safe for integers too large for a float.
    return type(value) in (int, float) and -MAX_COORDINATE <= value <= MAX_COORDINATE  # type: ignore[operator]
