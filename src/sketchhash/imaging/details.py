"""When, where and with what a photo was taken: from its file, and from sidecars beside it.

A sidecar is what a program that manages photos writes beside them: XMP (``photo.jpg.xmp``, ``photo.xmp``), or the JSON
that Google Takeout exports. Each fact is taken from the first of these that has it:

1. the XMP sidecar, since that is where people correct what a camera got wrong;
2. EXIF, and then XMP, in the photo's own file;
3. the JSON of Google Takeout, whose times are in UTC.

Times are those of the camera's clock, without a zone: few files name one, and "photos of June" means the June of
whoever was there. All of it comes from strangers: what cannot be true is left out, and never an error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self, cast
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.decode import DEFAULT_LIMITS, opened, upright_size
from sketchhash.imaging.formats import is_raw

MAX_SIDECAR_BYTES = 1_000_000
"""Larger sidecars are no sidecars; usual ones have some thousand bytes."""

_FIRST_YEAR, _LAST_YEAR = 1826, 2199  # from the first photograph that is left
_LONGEST = {"camera": 100, "description": 2000}
_MOST_PIXELS_A_SIDE = 1_000_000
_DEEPEST = 64
_EPOCH = datetime(1970, 1, 1)

_DATE = re.compile(
    r"(\d{4})(?:[:/-](\d{1,2})(?:[:/-](\d{1,2})(?:[T ]+(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?)?)?)?(?=$|[^\d:])"
)
_COORDINATE = re.compile(r"(\d{1,3}),(\d{1,2}(?:\.\d*)?)(?:,(\d{1,2}(?:\.\d*)?))?([NSEW])")


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of a photo beside its pixels; None where nothing is.

    ``taken_at`` is by the camera's clock, in whole seconds. ``width`` and ``height`` are those of the upright
    picture. ``sidecars`` tells whether the sidecars have changed since; 0 stands for none.
    """

    taken_at: datetime | None = None
    camera: str | None = None
    width: int | None = None
    height: int | None = None
    latitude: float | None = None
    longitude: float | None = None
    description: str | None = None
    sidecars: int = 0

    @property
    def seconds(self) -> int | None:
        """``taken_at`` as galleries keep it; see `seconds_of`."""
        return None if self.taken_at is None else seconds_of(self.taken_at)

    def columns(self) -> tuple[object, ...]:
        """Return all fields as galleries keep them: the time in seconds, the rest as it is."""
        size = self.width, self.height
        return (self.seconds, self.camera, *size, self.latitude, self.longitude, self.description, self.sidecars)

    @classmethod
    def of_columns(cls, columns: Sequence[Any]) -> Self:
        """Return the details whose `columns` these are."""
        seconds, *others = columns
        return cls(None if seconds is None else moment_of(seconds), *others)


def seconds_of(moment: datetime) -> int:
    """Count the seconds since the beginning of 1970, by the same clock.

    >>> seconds_of(datetime(1970, 1, 2)), seconds_of(datetime(1969, 12, 31))
    (86400, -86400)
    """
    return (moment - _EPOCH) // timedelta(seconds=1)


def moment_of(seconds: int) -> datetime:
    """Return the moment that `seconds_of` counted to."""
    return _EPOCH + timedelta(seconds=seconds)


def read_details(content: bytes, xmp: bytes | None = None, takeout: bytes | None = None) -> NDArray[np.uint8]:
    """Return what a photo and its sidecars tell, as the bytes ``(n,)`` of JSON, which `parse_details` reads.

    Raises:
        UnreadableImage: If the photo is no picture.
    """
    with opened(content, DEFAULT_LIMITS) as picture:
        size, own = _size(picture), _facts_of_picture(picture)
    sources = [_facts_of_xmp(xmp), _facts_of_raw(content), *own, _facts_of_takeout(takeout)]
    facts = {name: value for source in reversed(sources) for name, value in source.items()}
    return np.frombuffer(json.dumps(facts | size).encode(), dtype=np.uint8)


def read_with_details(
    read: Callable[..., NDArray[Any]], *args: object, xmp: bytes | None, takeout: bytes | None
) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return what ``read`` makes of a photo, its first argument, and its details: ``(0,)`` if they cannot be read."""
    pixels = read(*args)
    try:
        return pixels, read_details(cast(bytes, args[0]), xmp, takeout)
    except (UnreadableImage, MemoryError):
        return pixels, np.zeros(0, dtype=np.uint8)


def parse_details(answer: NDArray[np.uint8], sidecars: int = 0) -> Details:
    """Check what `read_details` returned, which decoded a stranger's file, and keep what can be true."""
    try:
        facts = json.loads(answer.tobytes())
    except (ValueError, RecursionError):
        facts = {}
    if not isinstance(facts, dict):
        facts = {}
    place = _place(facts.get("latitude"), facts.get("longitude"))
    width, height = _side(facts.get("width")), _side(facts.get("height"))
    return Details(
        taken_at=_moment(facts.get("taken_at")),
        camera=_text(facts.get("camera"), _LONGEST["camera"]),
        width=width if height else None,
        height=height if width else None,
        latitude=place.get("latitude"),
        longitude=place.get("longitude"),
        description=_text(facts.get("description"), _LONGEST["description"]),
        sidecars=sidecars,
    )


_Facts = dict[str, object]


def _size(picture: Image.Image) -> _Facts:
    width, height = upright_size(picture)
    return {"width": width, "height": height}


def _facts_of_raw(content: bytes) -> _Facts:
    """Return what the EXIF of a RAW file tells that is built as TIFF is; previews often have none."""
    if not is_raw(content) or content[:2] not in (b"II", b"MM"):
        return {}
    mark = b"II*\0" if content.startswith(b"II") else b"MM\0*"  # some makers have marks of their own
    exif = Image.Exif()
    try:
        exif.load(mark + content[4:])
    except Exception:
        return {}
    return _facts_of_tags(exif)


def _facts_of_picture(picture: Image.Image) -> list[_Facts]:
    """Return what EXIF tells, and what XMP in the file does; on broken bytes Pillow raises nearly anything."""
    written = picture.info.get("xmp")
    in_file = _facts_of_xmp(written.encode() if isinstance(written, str) else written)
    try:
        return [_facts_of_tags(picture.getexif()), in_file]
    except Exception:
        return [in_file]


def _facts_of_tags(exif: Image.Exif) -> _Facts:
    try:
        camera, place = exif.get_ifd(ExifTags.IFD.Exif), exif.get_ifd(ExifTags.IFD.GPSInfo)
        return _facts_of_exif(dict(exif), camera, place)
    except Exception:
        return {}


def _facts_of_exif(main: Mapping[int, object], camera: Mapping[int, object], place: Mapping[int, object]) -> _Facts:
    tag, gps = ExifTags.Base, ExifTags.GPS
    return _stated(
        taken_at=_first(_moment(_plain(camera.get(each))) for each in (tag.DateTimeOriginal, tag.DateTimeDigitized)),
        camera=_camera(_plain(main.get(tag.Make)), _plain(main.get(tag.Model))),
        description=_text(_plain(main.get(tag.ImageDescription)), _LONGEST["description"]),
    ) | _place(
        _degrees(place.get(gps.GPSLatitude), place.get(gps.GPSLatitudeRef), "S"),
        _degrees(place.get(gps.GPSLongitude), place.get(gps.GPSLongitudeRef), "W"),
    )


def _facts_of_xmp(document: object) -> _Facts:
    if not isinstance(document, bytes) or not 0 < len(document) <= MAX_SIDECAR_BYTES:
        return {}
    try:
        told = _Properties.of(document.strip(b"\0 \r\n\t"))
    except (expat.ExpatError, UnreadableImage, ValueError):
        return {}
    latitude, longitude = (_xmp_degrees(told.get(name)) for name in ("exif:GPSLatitude", "exif:GPSLongitude"))
    dates = ("exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate")
    return _stated(
        taken_at=_first(_moment(told.get(name)) for name in dates),
        camera=_camera(told.get("tiff:Make"), told.get("tiff:Model")),
        description=_text(told.get("dc:description"), _LONGEST["description"]),
    ) | _place(latitude, longitude)


def _facts_of_takeout(document: bytes | None) -> _Facts:
    if document is None or len(document) > MAX_SIDECAR_BYTES:
        return {}
    try:
        told = json.loads(document)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    taken, places = told.get("photoTakenTime"), [told.get("geoData"), told.get("geoDataExif")]
    known = [_place(each.get("latitude"), each.get("longitude")) for each in places if isinstance(each, dict)]
    return _stated(
        taken_at=_unix_moment(taken.get("timestamp")) if isinstance(taken, dict) else None,
        description=_text(told.get("description"), _LONGEST["description"]),
    ) | next(filter(None, known), {})


_NAMESPACES = {
    "http://ns.adobe.com/exif/1.0/": "exif",
    "http://ns.adobe.com/tiff/1.0/": "tiff",
    "http://ns.adobe.com/photoshop/1.0/": "photoshop",
    "http://ns.adobe.com/xap/1.0/": "xmp",
    "http://purl.org/dc/elements/1.1/": "dc",
}


class _Properties:
    """Collects the simple properties of an XMP document, by names such as ``tiff:Make``; of each the first value.

    A document type is refused, so there are no entities to expand, and nothing is fetched.
    """

    def __init__(self) -> None:
        self._open: list[str | None] = []
        self._texts: list[str] = []
        self.values: dict[str, str] = {}

    @classmethod
    def of(cls, document: bytes) -> dict[str, str]:
        collected = cls()
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = collected._refuse
        parser.StartElementHandler = collected._begin
        parser.EndElementHandler = collected._end
        parser.CharacterDataHandler = collected._read
        parser.Parse(document, True)
        return collected.values

    def _refuse(self, *_: object) -> None:
        raise UnreadableImage("XMP has no document type.")

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) >= _DEEPEST:
            raise UnreadableImage("XMP is not nested so deeply.")
        self._open.append(_short(name))
        self._texts.clear()
        for attribute, value in attributes.items():
            self._keep(_short(attribute), value)

    def _read(self, text: str) -> None:
        self._texts.append(text)

    def _end(self, _: str) -> None:
        # The text may lie in a list, such as rdf:Alt: it belongs to the nearest property around it.
        around = next((name for name in reversed(self._open) if name is not None), None)
        self._keep(around, "".join(self._texts))
        self._texts.clear()
        self._open.pop()

    def _keep(self, name: str | None, value: str) -> None:
        if name is not None and value.strip():
            self.values.setdefault(name, value.strip())


def _short(name: str) -> str | None:
    namespace, _, local = name.rpartition(" ")
    return f"{_NAMESPACES[namespace]}:{local}" if namespace in _NAMESPACES else None


def _stated(taken_at: datetime | None = None, camera: str | None = None, description: str | None = None) -> _Facts:
    """Return those facts that are known."""
    facts = {
        "taken_at": None if taken_at is None else taken_at.isoformat(),
        "camera": camera,
        "description": description,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _first(moments: Iterator[datetime | None]) -> datetime | None:
    return next((moment for moment in moments if moment is not None), None)


def _plain(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _moment(written: object) -> datetime | None:
    """Read a date as EXIF and XMP write it; a zone is left out, and a date of a year or month is its beginning."""
    found = _DATE.match(written.strip("\0 ")) if isinstance(written, str) else None
    if found is None:
        return None
    year, *rest = (int(part) if part else None for part in found.groups())
    month, day, hour, minute, second = rest
    try:
        moment = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0)
    except ValueError:  # 0000:00:00, or February 30
        return None
    stated = [part for part in (month, day) if part is not None]
    return moment if _FIRST_YEAR <= moment.year <= _LAST_YEAR and 0 not in stated else None


def _unix_moment(written: object) -> datetime | None:
    try:
        return _moment(datetime.fromtimestamp(int(str(written)), UTC).strftime("%Y-%m-%d %H:%M:%S"))
    except (ValueError, OverflowError, OSError):
        return None


def _text(written: object, longest: int) -> str | None:
    """Return text in one line, without what cannot be shown."""
    if not isinstance(written, str):
        return None
    shown = "".join(each if each.isprintable() else " " for each in written[: 4 * longest])
    return " ".join(shown.split())[:longest].strip() or None


def _camera(make: object, model: object) -> str | None:
    """Join maker and model, which most often begins with the maker."""
    maker, name = _text(make, _LONGEST["camera"]), _text(model, _LONGEST["camera"])
    if maker and name and maker.split()[0].casefold() != name.split()[0].casefold():
        return _text(f"{maker} {name}", _LONGEST["camera"])
    return name or maker


def _side(value: object) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 < value <= _MOST_PIXELS_A_SIDE else None  # type: ignore[operator,return-value]


def _place(latitude: object, longitude: object) -> dict[str, float]:
    """Return a place on earth, or nothing: 0, 0 is what a receiver without a signal writes."""
    pair = [float(each) for each in (latitude, longitude) if isinstance(each, int | float)]
    if len(pair) < 2 or not (abs(pair[0]) <= 90 and abs(pair[1]) <= 180) or pair == [0, 0]:
        return {}
    return {"latitude": pair[0], "longitude": pair[1]}


def _degrees(parts: object, side: object, negative: str) -> float | None:
    if not isinstance(parts, Iterable) or isinstance(parts, str | bytes):
        return None
    try:
        numbers = [float(part) for part in parts][:3]
    except (TypeError, ValueError, ArithmeticError):
        return None
    if not numbers or not all(math.isfinite(number) and number >= 0 for number in numbers):
        return None
    degrees = math.fsum(number / 60.0**power for power, number in enumerate(numbers))
    return -degrees if str(_plain(side)).strip("\0 ").upper() == negative else degrees


def _xmp_degrees(written: str | None) -> float | None:
    """Read ``48,8.25N`` or ``48,8,15N``."""
    found = _COORDINATE.fullmatch(written or "")
    if found is None:
        return None
    degrees, minutes, seconds, side = found.groups()
    value = int(degrees) + float(minutes) / 60 + float(seconds or 0) / 3600
    return -value if side in "SW" else value
