"""Which photos of a gallery a search considers: below a folder, with a label, of a time, near a place.

Every gallery answers a filter exactly. What its engine can compare, which are `Filter.conditions`, it compares; near a
place that is a box around the circle, and what lies in the box is then measured here, alike for all engines.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.gallery.photos import path_range
from sketchhash.imaging.details import seconds_of

_EARTH = 6371.0088  # the mean radius in kilometres
_KILOMETRES_A_DEGREE = _EARTH * math.pi / 180
_FARTHEST = math.pi * _EARTH
_SLACK = 1e-6  # degrees, for rounding: the box only must not be too small

_PERIOD = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?)?)?)?")
_NEAR = re.compile(r"\s*([-+]?[\d.]+)\s*,\s*([-+]?[\d.]+)\s*,\s*([\d.]+)\s*(km|m)\s*", re.IGNORECASE)


class Period(NamedTuple):
    """From a moment on, up to another that no longer belongs to it."""

    start: datetime
    end: datetime

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a year, a month, a day, an hour, a minute or a second; each means the whole of it.

        >>> Period.parse("2023-06").end
        datetime.datetime(2023, 7, 1, 0, 0)
        """
        found = _PERIOD.fullmatch(text.strip())
        try:
            if found is None:
                raise ValueError("it is not written so")
            year, *rest = (int(part) for part in found.groups() if part is not None)
            month, day, hour, minute, second = rest + [1, 1, 0, 0, 0][len(rest) :]
            start = datetime(year, month, day, hour, minute, second)
            return cls(start, start + _length(start, len(rest)))
        except (ValueError, OverflowError) as problem:
            raise BadArgument(
                f"{text!r} is no date ({problem}). Write a year, a month or a day: 2023, 2023-06 or 2023-06-24."
            ) from problem


def _length(start: datetime, parts: int) -> timedelta:
    days = monthrange(start.year, start.month)[1]
    whole_year = 366 if monthrange(start.year, 2)[1] == 29 else 365
    lengths = (timedelta(whole_year), timedelta(days), timedelta(1), timedelta(hours=1), timedelta(minutes=1))
    return lengths[parts] if parts < len(lengths) else timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Near:
    """A circle on the earth: no farther than some kilometres, along the surface, from a place in degrees."""

    latitude: float
    longitude: float
    kilometres: float

    def __post_init__(self) -> None:
        """Raise `BadArgument` if that is no place on earth."""
        if not (abs(self.latitude) <= 90 and abs(self.longitude) <= 180 and 0 < self.kilometres < math.inf):
            raise BadArgument(
                f"{self} is no place: a latitude is -90 to 90, a longitude -180 to 180, and a distance more than 0 km."
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``48.1,11.6,20km``: latitude, longitude, distance in ``km`` or ``m``.

        >>> Near.parse("48.1, 11.6, 500m")
        Near(latitude=48.1, longitude=11.6, kilometres=0.5)
        """
        found = _NEAR.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            latitude, longitude, distance = map(float, found.groups()[:3])
        except ValueError as problem:
            raise BadArgument(
                f"{text!r} is no place. Write latitude, longitude and distance: 48.1,11.6,20km"
            ) from problem
        return cls(latitude, longitude, distance if found[4].lower() == "km" else distance / 1000)

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        return f"{self.latitude:g},{self.longitude:g},{self.kilometres:g}km"

    def contains(self, latitudes: NDArray[np.float64], longitudes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which places lie in the circle."""
        return np.asarray(self.distances(latitudes, longitudes) <= self.kilometres)

    def distances(self, latitudes: NDArray[np.float64], longitudes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far places are, in kilometres along a great circle (the haversine formula)."""
        ours, theirs = np.radians(self.latitude), np.radians(latitudes)
        across = np.radians(longitudes - self.longitude)
        half = np.sin((theirs - ours) / 2) ** 2 + np.cos(ours) * np.cos(theirs) * np.sin(across / 2) ** 2
        return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(half, 0, 1))))

    def box(self) -> list[Condition]:
        """Return conditions that hold in all of the circle."""
        angle = min(self.kilometres, _FARTHEST) / _KILOMETRES_A_DEGREE + _SLACK
        south, north = self.latitude - angle, self.latitude + angle
        conditions = [Condition("latitude", ">=", south), Condition("latitude", "<=", north)]
        if south > -90 and north < 90:  # no pole in it, where all meridians meet
            sine = math.sin(math.radians(angle)) / math.cos(math.radians(self.latitude))
            width = math.degrees(math.asin(min(sine, 1))) + _SLACK
            west, east = self.longitude - width, self.longitude + width
            if west >= -180 and east <= 180:  # otherwise it lies on both sides of the date line
                conditions += [Condition("longitude", ">=", west), Condition("longitude", "<=", east)]
        return conditions


class Condition(NamedTuple):
    """A comparison of a column with a value; a column that has none fails it."""

    column: Literal["path", "label", "taken_at", "latitude", "longitude"]
    operator: Literal["=", "<", "<=", ">", ">="]
    value: bytes | str | int | float


@dataclass(frozen=True, slots=True)
class Filter:
    """The photos that a search considers; all, if nothing is said.

    Attributes:
        folder: Only photos at any depth below this folder.
        label: Only photos with this label.
        start: Only photos taken at this moment or later, by the camera's clock.
        end: Only photos taken before this moment.
        near: Only photos taken in this circle.
    """

    folder: Path | None = None
    label: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    near: Near | None = None

    @classmethod
    def parse(
        cls,
        folder: Path | None = None,
        label: str | None = None,
        after: str | None = None,
        before: str | None = None,
        near: str | None = None,
    ) -> Self:
        """Read a filter as people write it.

        Args:
            folder: See `Filter`.
            label: See `Filter`.
            after: A year, a month, a day or more exactly: its beginning, and what comes later.
            before: The same: its end, and what came earlier. So ``after`` and ``before`` 2023 is all of 2023.
            near: Latitude, longitude and distance, such as ``48.1,11.6,20km``.

        Raises:
            BadArgument: If one cannot be read, or there is no time between ``after`` and ``before``.
        """
        start = Period.parse(after).start if after else None
        end = Period.parse(before).end if before else None
        if start is not None and end is not None and start >= end:
            raise BadArgument(f"No photo was taken after {after} and before {before}. Exchange the two.")
        return cls(folder, label, start, end, Near.parse(near) if near else None)

    @property
    def is_empty(self) -> bool:
        """Whether all photos pass."""
        return self == EVERYTHING

    @property
    def needs_date(self) -> bool:
        """Whether photos without a date are left out."""
        return self.start is not None or self.end is not None

    def without_details(self) -> Filter:
        """Return the filter without what depends on when and where photos were taken."""
        return Filter(self.folder, self.label)

    def conditions(self) -> list[Condition]:
        """Return what all photos that pass fulfil; if a place is asked for, others in the `Near.box` do, too."""
        conditions: list[Condition] = []
        if self.folder is not None:
            first, last = path_range(self.folder)
            conditions += [Condition("path", ">", first), Condition("path", "<", last)]
        if self.label is not None:
            conditions.append(Condition("label", "=", self.label))
        if self.start is not None:
            conditions.append(Condition("taken_at", ">=", seconds_of(self.start)))
        if self.end is not None:
            conditions.append(Condition("taken_at", "<", seconds_of(self.end)))
        return conditions + (self.near.box() if self.near is not None else [])


EVERYTHING = Filter()


class LeftOut(NamedTuple):
    """How many photos a filter by date or place leaves out because they have none."""

    undated: int = 0
    unplaced: int = 0

    def __str__(self) -> str:
        """Say it, or nothing if there are none.

        >>> str(LeftOut(37, 1))
        '37 photos have no date and are left out. 1 photo has no place and is left out.'
        """
        return " ".join(
            f"1 photo has no {what} and is left out."
            if count == 1
            else f"{count:,} photos have no {what} and are left out."
            for count, what in ((self.undated, "date"), (self.unplaced, "place"))
            if count
        )
