"""One safe way from a file to pixels.

Pictures are untrusted: uploads, crawled folders, broken disks. So only common formats are tried, by
content and never by name; the header must state an acceptable size before anything is decoded; and whatever
goes wrong becomes one `UnreadableImage` that names the file and the reason.
"""

from __future__ import annotations

import io
import re
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, UnidentifiedImageError

from sketchhash.errors import UnreadableImage

# Others stay closed: EPS starts Ghostscript, and rare decoders are where the security holes are.
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
PICTURE_SUFFIXES = frozenset({".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})

# The largest sensors in common use give 60 to 100 megapixels, in files of up to some 80 MB.
MAX_PIXELS = 100_000_000
MAX_BYTES = 100_000_000

# What undoes each EXIF orientation; 1, and anything unknown, is upright.
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

_PILLOW = re.compile(r"PIL\.")


@dataclass(frozen=True)
class Limits:
    """How large a picture may be before it is refused."""

    pixels: int = MAX_PIXELS
    bytes: int = MAX_BYTES


DEFAULT_LIMITS = Limits()


def read_photo(source: Path | bytes, limits: Limits = DEFAULT_LIMITS, longest: int | None = None) -> NDArray[np.uint8]:
    """Decode a picture upright, as RGB on white: ``(height, width, 3)``; of an animation, the first frame.

    Args:
        source: A file, or its bytes.
        limits: Pictures beyond these are refused, from the file's size and header alone.
        longest: The largest side the caller will use. A large picture then comes back at a whole fraction of its
            size, which takes less memory and, for a JPEG, a fraction of the time; no side becomes smaller than this.

    Raises:
        UnreadableImage: If there is no picture to be had, whatever the reason.
    """
    return np.array(_on_white(open_picture(source, limits, longest)))


def read_small_photo(source: Path | bytes, longest: int, limits: Limits = DEFAULT_LIMITS) -> NDArray[np.uint8]:
    """Decode a photo as `read_photo` does, with a longest side of ``longest``; a smaller one keeps its size.

    This is the fastest way to a small picture: a JPEG is decoded at the smallest fraction that is large enough, and
    resampled once.
    """
    picture = _on_white(open_picture(source, limits, longest, is_longest_enough=True))
    if max(picture.size) > longest:
        picture = picture.resize(fitted(picture.size, longest), Image.Resampling.BICUBIC)
    return np.array(picture)


def fitted(size: tuple[int, int], longest: int) -> tuple[int, int]:
    """Scale a size so that its longest side becomes ``longest``; no side becomes less than one pixel.

    >>> fitted((640, 480), 256)
    (256, 192)
    """
    scale = longest / max(size)
    return max(round(size[0] * scale), 1), max(round(size[1] * scale), 1)


def open_picture(
    source: Path | bytes,
    limits: Limits = DEFAULT_LIMITS,
    longest: int | None = None,
    is_longest_enough: bool = False,
) -> Image.Image:
    """Decode a picture upright, in mode L, RGB, or RGBA if any of it may be transparent; see `read_photo`.

    With ``is_longest_enough`` only the longest side must not become smaller than ``longest``.
    """
    name = "these bytes" if isinstance(source, bytes) else str(source)
    try:
        content = source if isinstance(source, bytes) else _read(source, limits)
        return _decode(content, limits, longest, is_longest_enough)
    except UnreadableImage as problem:
        raise UnreadableImage(f"Cannot read {name}: {problem}") from problem.__cause__


def _read(path: Path, limits: Limits) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableImage("it is a folder.")
        if not stat.S_ISREG(status.st_mode):  # to open a pipe would wait for its writer
            raise UnreadableImage("it is not a regular file.")
        with path.open("rb") as file:
            return file.read(limits.bytes + 1)
    except (OSError, ValueError) as problem:  # ValueError: a name with a null character
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UnreadableImage(f"{reason}.") from problem


def _decode(content: bytes, limits: Limits, longest: int | None, is_longest_enough: bool) -> Image.Image:
    if not content:
        raise UnreadableImage("it is empty.")
    if len(content) > limits.bytes:
        raise UnreadableImage(f"it is larger than {limits.bytes:,} bytes.")
    _silence_pillow()
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
            width, height = picture.size
            if width * height > limits.pixels:
                raise UnreadableImage(f"its {width} × {height} pixels are more than {limits.pixels:,}.")
            if longest is not None:
                picture.draft(None, fitted(picture.size, longest) if is_longest_enough else (longest, longest))
            picture.load()
            return _reduced(_in_plain_mode(_upright(picture)), longest, is_longest_enough)
    except UnreadableImage:
        raise
    except UnidentifiedImageError as problem:
        raise UnreadableImage(f"its content is none of {', '.join(FORMATS)}.") from problem
    except Image.DecompressionBombError as problem:
        raise UnreadableImage(f"it has more than {limits.pixels:,} pixels.") from problem
    except Exception as problem:  # on broken bytes the decoders raise nearly anything, struct.error included
        raise UnreadableImage(f"its content is broken ({problem}).") from problem


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode == "RGBA":
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return picture.convert("RGB")


def _reduced(picture: Image.Image, longest: int | None, is_longest_enough: bool) -> Image.Image:
    side = max(picture.size) if is_longest_enough else min(picture.size)
    times = side // longest if longest else 1
    return picture.reduce(times) if times > 1 else picture


def _upright(picture: Image.Image) -> Image.Image:
    orientation = picture.getexif().get(ExifTags.Base.Orientation, 1)
    return picture.transpose(_TURNS[orientation]) if orientation in _TURNS else picture


def _in_plain_mode(picture: Image.Image) -> Image.Image:
    if picture.mode in ("I", "F") or picture.mode.startswith("I;"):
        return _in_eight_bits(picture)
    if picture.has_transparency_data:
        return picture.convert("RGBA")
    return picture.convert("L" if picture.mode in ("1", "L") else "RGB")


def _in_eight_bits(picture: Image.Image) -> Image.Image:
    """Bring deep greys to eight bits: 16-bit ones by their range, others, which have none, by extremes."""
    grey = np.asarray(picture).astype(np.float64)
    low, high = (0.0, 65535.0) if picture.mode.startswith("I;16") else (float(grey.min()), float(grey.max()))
    return Image.fromarray(np.rint((grey - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))


def _silence_pillow() -> None:
    """Ignore warnings that Pillow raises about files: what matters in them reaches the caller as an error.

    This is process-wide, and stays: before Python 3.14 `warnings.catch_warnings` is not safe with threads,
    but one entry that names Pillow's modules is. Pillow's deprecations name the caller, and are still heard.
    """
    if not any(entry[0] == "ignore" and entry[3] == _PILLOW for entry in warnings.filters):
        warnings.filterwarnings("ignore", module=_PILLOW.pattern)
