"""The formats of photos: which can be read here, which need another package, and what a file's first bytes say.

Pillow reads most. HEIC, RAW and JPEG XL need packages that may be missing; a file's name tells that one was passed
over, but its content alone decides how it is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from sketchhash.errors import install_command

# Others stay closed: EPS starts Ghostscript, and rare decoders are where the security holes are.
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
PICTURE_SUFFIXES = frozenset({".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""Names of files that Pillow reads by itself."""


@dataclass(frozen=True)
class Optional:
    """Formats that need a ``package``, which an ``extra`` of this one installs, or its own name."""

    name: str
    suffixes: frozenset[str]
    module: str
    extra: str = ""
    package: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether the package is there."""
        return _is_installed(self.module)


HEIC = Optional("HEIC", frozenset({".heic", ".heif", ".hif"}), "pi_heif", extra="heic")
RAW = Optional("RAW", frozenset({".arw", ".cr2", ".cr3", ".dng", ".nef", ".orf", ".raf", ".rw2"}), "rawpy", extra="raw")
JPEG_XL = Optional("JPEG XL", frozenset({".jxl"}), "pillow_jxl", package="pillow-jxl-plugin")

SVG = Optional("SVG", frozenset({".svg"}), "resvg_py", extra="drawings")
FONT = Optional("fonts", frozenset({".otf", ".ttc", ".ttf", ".woff"}), "fontTools", extra="drawings")
ICON_PACK = Optional("icon packs", frozenset({".json"}), "resvg_py", extra="drawings")

OPTIONAL = (HEIC, RAW, JPEG_XL)
DRAWN = (SVG, FONT, ICON_PACK)
"""What holds drawings only, and is no photo."""

_BY_SUFFIX = {suffix: form for form in OPTIONAL for suffix in form.suffixes}
_DRAWN_BY_SUFFIX = {suffix: form for form in DRAWN for suffix in form.suffixes}


def is_readable(suffix: str) -> bool:
    """Tell whether files whose names end so, in small letters, can be read here."""
    return suffix in PICTURE_SUFFIXES or (suffix in _BY_SUFFIX and _BY_SUFFIX[suffix].is_installed)


def missing_format(suffix: str) -> str | None:
    """Return the format that a suffix stands for if its package is missing, None otherwise."""
    form = _BY_SUFFIX.get(suffix)
    return None if form is None or form.is_installed else form.name


def drawn_format(suffix: str) -> Optional | None:
    """Return what holds drawings only and is named so, None for anything else."""
    return _DRAWN_BY_SUFFIX.get(suffix)


def passed_over(skipped: Mapping[str, int]) -> str:
    """Say which formats were passed over, and what to type to read them; "" if none were.

    >>> passed_over({"HEIC": 1200, "RAW": 12}).partition(": ")[0]
    '1,200 HEIC and 12 RAW skipped'
    """
    forms = [form for form in (*OPTIONAL, *DRAWN) if skipped.get(form.name)]
    counts = " and ".join(f"{skipped[form.name]:,} {form.name}" for form in forms)
    return f"{counts} skipped: {install_for(skipped)}" if forms else ""


def install_for(skipped: Mapping[str, int]) -> str:
    """Return what to type to read the formats that were passed over; "" if none were."""
    forms = [form for form in (*OPTIONAL, *DRAWN) if skipped.get(form.name)]
    extras = ",".join(dict.fromkeys(form.extra for form in forms if form.extra))
    commands = [install_command(extras)] if extras else []
    commands += [f"pip install {form.package}" for form in forms if form.package]
    return "; ".join(commands)


@cache
def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


_HEIF_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})
_COMMON_BRANDS = frozenset({b"mif1", b"msf1"})
_RAW_SIGNATURES = (
    (0, b"FUJIFILMCCD-RAW"),
    (0, b"IIRO"),
    (0, b"IIRS"),
    (0, b"MMOR"),
    (0, b"IIU\0"),
    (4, b"ftypcrx "),
    (8, b"CR\x02\0"),
)
_JPEG_XL_SIGNATURES = (b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n")

_DNG_VERSION, _PHOTOMETRIC, _SUB_IFDS = 50706, 262, 330
_SENSOR = frozenset({32803, 34892})  # what a sensor sees: a mosaic of colours, or linear light
_MOST_DIRECTORIES = 8
_MOST_ENTRIES = 512


def is_heif(content: bytes) -> bool:
    """Tell whether this is a HEIF file, such as HEIC; AVIF, which is built alike, is Pillow's."""
    if content[4:8] != b"ftyp":
        return False
    length = min(int.from_bytes(content[:4], "big"), 256)
    brands = {content[8:12], *(content[place : place + 4] for place in range(16, length, 4))}
    return content[8:12] in _HEIF_BRANDS or (content[8:12] in _COMMON_BRANDS and bool(brands & _HEIF_BRANDS))


def is_raw(content: bytes) -> bool:
    """Tell whether this is what a camera's sensor saw; many RAW files are built as TIFF is."""
    if any(content.startswith(signature, place) for place, signature in _RAW_SIGNATURES):
        return True
    if content[:4] not in (b"II*\0", b"MM\0*"):
        return False
    return any(
        tag == _DNG_VERSION or (tag == _PHOTOMETRIC and value in _SENSOR) for tag, value in _tags_of_tiff(content)
    )


def is_jpeg_xl(content: bytes) -> bool:
    """Tell whether this is JPEG XL, bare or in its container."""
    return content.startswith(_JPEG_XL_SIGNATURES)


def _tags_of_tiff(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield tags and their first numbers, of the first directory and of those below it; stops where it is broken."""
    order = "<" if content.startswith(b"II") else ">"
    directories = [int.from_bytes(content[4:8], "little" if order == "<" else "big")]
    for place in directories:  # grows meanwhile
        try:
            (entries,) = struct.unpack_from(f"{order}H", content, place)
            for number in range(min(entries, _MOST_ENTRIES)):
                entry = place + 2 + 12 * number
                tag, kind, count = struct.unpack_from(f"{order}HHI", content, entry)
                (value,) = struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", content, entry + 8)
                if tag == _SUB_IFDS and len(directories) < _MOST_DIRECTORIES:
                    room = _MOST_DIRECTORIES - len(directories)
                    below = min(count, room)
                    directories += [value] if count == 1 else struct.unpack_from(f"{order}{below}I", content, value)
                yield tag, value
        except struct.error:
            continue
