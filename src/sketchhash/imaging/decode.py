"""One safe way from a file to pixels.

Pictures are untrusted: uploads, crawled folders, broken disks. So only common formats are tried (`formats`), by content
and never by name; the file must be built as photos are (`structure`), and its header must state an acceptable size,
before anything is decoded; and whatever goes wrong becomes one `UnreadableImage` that names the file and the reason.
A RAW file is read by the preview that the camera put into it.

A picture is in memory once, as its format keeps it, and everything after that is done in strips. So the most that any
picture takes follows from its header. Processes that can be ended hold decoders to it: see `decoders`.
"""

from __future__ import annotations

import io
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, UnidentifiedImageError
from PIL.JpegImagePlugin import JpegImageFile

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.formats import FORMATS, HEIC, JPEG_XL, RAW, Optional, is_heif, is_jpeg_xl, is_raw, passed_over
from sketchhash.imaging.heif import with_thumbnail_first
from sketchhash.imaging.structure import check_structure
from sketchhash.imaging.svg import is_svg, render_svg

# The largest sensors in common use give 60 to 100 megapixels, in files of up to some 80 MB; those of phones up to 200.
MAX_PIXELS = 100_000_000
MAX_BYTES = 100_000_000

# What decoding one picture may take, beside the file's own bytes.
MAX_MEMORY = 400_000_000

# A JPEG may have so many times the pixels if it is read at a fraction of its size, which takes time but no memory.
_REDUCED = 2.5

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

_SIDEWAYS = frozenset({5, 6, 7, 8})  # orientations that exchange width and height
_BACKWARDS = frozenset({3, 4, 7, 8})  # whose upright rows begin at the end of the stored rows, or columns

_STRIP_PIXELS = 1 << 21
_EIGHT_OF_SIXTEEN_BITS = ((np.arange(1 << 16) + 128) // 257).astype(np.uint8)
_MODE_BYTES = {"1": 1, "L": 1, "P": 1}  # that Pillow keeps for a pixel; the deep greys take 2, all others 4
_HEIF_BYTES = 9  # for a pixel: as HEVC keeps it, as RGB, and as Pillow does
_UPRIGHT_BY_FLIP = {0: 1, 3: 3, 5: 8, 6: 6}  # the EXIF orientation of each way in which LibRaw says a camera was held
_ROW_BYTES = 8

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
    return np.array(_on_white(open_picture(source, limits, longest, is_fitted=True)))


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
    is_fitted: bool = False,
) -> Image.Image:
    """Decode a picture upright, in mode L, RGB, or RGBA if any of it may be transparent; see `read_photo`.

    If it ``is_fitted``, a larger picture gets a longest side of ``longest``.
    """
    name = "these bytes" if isinstance(source, bytes) else str(source)
    try:
        content = source if isinstance(source, bytes) else _read(source, limits)
        return _decode(content, limits, longest, is_fitted)
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


def upright_size(picture: Image.Image) -> tuple[int, int]:
    """Return the width and the height of an open picture when it is upright."""
    return _upright_size(picture.size, _orientation(picture))


def _decode(content: bytes, limits: Limits, longest: int | None, is_fitted: bool) -> Image.Image:
    if longest is not None and is_heif(content):
        content = with_thumbnail_first(content, longest, is_fitted, MAX_MEMORY // _HEIF_BYTES)
    with opened(content, limits) as picture:
        whole = upright_size(picture)
        if longest is not None:
            picture.draft(None, fitted(picture.size, longest) if is_fitted else (longest, longest))
        _check_pixels(picture, limits.pixels)
        _check_memory(picture)
        picture.load()
        side = max(picture.size) if is_fitted else min(picture.size)
        finished = _finished(picture, _power_of_two(side // longest) if longest else 1)
    if longest is None or not is_fitted or max(whole) <= longest:
        return finished
    return finished.resize(fitted(whole, longest), Image.Resampling.BICUBIC)


def _power_of_two(most: int) -> int:
    """Return the greatest one up to ``most``, and 1 at least.

    By these a JPEG is decoded smaller, so one picture in several formats is resampled alike: other fractions give codes
    that differ by twice as many bits as the formats' own losses do.
    """
    return 1 << max(most.bit_length() - 1, 0)


@contextmanager
def opened(content: bytes, limits: Limits) -> Iterator[Image.Image]:
    """Open a picture of an acceptable size, and raise `UnreadableImage` for whatever goes wrong in the block."""
    if not content:
        raise UnreadableImage("it is empty.")
    if len(content) > limits.bytes:
        raise UnreadableImage(f"it is larger than {limits.bytes:,} bytes.")
    check_structure(content, limits.pixels)
    _silence_pillow()
    try:
        with _open(content) as picture:
            _check_pixels(picture, int(limits.pixels * (_REDUCED if picture.format == "JPEG" else 1)))
            yield picture
    except UnreadableImage:
        raise
    except UnidentifiedImageError as problem:
        raise UnreadableImage(f"its content is none of {', '.join(FORMATS)}, HEIC, RAW, SVG.") from problem
    except Image.DecompressionBombError as problem:
        raise UnreadableImage(f"it has more than {limits.pixels:,} pixels.") from problem
    except MemoryError as problem:
        raise _too_much_memory() from problem
    except Exception as problem:  # on broken bytes the decoders raise nearly anything, struct.error included
        if "memory" in str(problem).lower():
            raise _too_much_memory() from problem
        raise UnreadableImage(f"its content is broken ({problem}).") from problem


def _open(content: bytes) -> Image.Image:
    """Open a picture by its content, whichever package reads it; nothing is decoded yet."""
    if is_heif(content):
        # Not over Pillow's own list of formats, which other programs in this process share.
        return cast(Image.Image, _needed(HEIC).HeifImageFile(io.BytesIO(content)))
    if is_svg(content):
        return render_svg(content)
    if is_jpeg_xl(content):
        _needed(JPEG_XL)  # it adds itself to Pillow's list
        return Image.open(io.BytesIO(content), formats=("JXL",))
    if is_raw(content):
        return _open_preview(content)
    if content.startswith(b"\xff\xd8\xff"):
        try:
            return JpegImageFile(io.BytesIO(content))  # `Image.open` refuses what would be a bomb at full size
        except SyntaxError as problem:
            raise UnidentifiedImageError from problem
    return Image.open(io.BytesIO(content), formats=FORMATS)


def _open_preview(content: bytes) -> Image.Image:
    """Open the preview in a RAW file, which is a JPEG with nearly all cameras, held as the camera was."""
    rawpy = _needed(RAW)
    try:
        with rawpy.imread(io.BytesIO(content)) as raw:
            preview, flip = raw.extract_thumb(), raw.sizes.flip
    except (rawpy.LibRawNoThumbnailError, rawpy.LibRawUnsupportedThumbnailError) as problem:
        raise UnreadableImage("it is a RAW file without a preview. Export it as JPEG.") from problem
    if preview.format == rawpy.ThumbFormat.JPEG:
        jpeg = bytes(preview.data)
        check_structure(jpeg, MAX_PIXELS)
        picture: Image.Image = JpegImageFile(io.BytesIO(jpeg))
    else:
        picture = Image.fromarray(preview.data)
    if ExifTags.Base.Orientation not in picture.getexif():
        picture.getexif()[ExifTags.Base.Orientation] = _UPRIGHT_BY_FLIP.get(flip, 1)
    return picture


def _needed(form: Optional) -> ModuleType:
    """Return the package that reads a format, or raise an error that says how to install it."""
    try:
        return import_module(form.module)
    except ImportError as missing:
        raise UnreadableImage(f"it is {form.name}, {passed_over({form.name: 1}).partition(' ')[2]}.") from missing


def _check_pixels(picture: Image.Image, most: int) -> None:
    width, height = picture.size
    if width * height > most:
        raise UnreadableImage(f"its {width} × {height} pixels are more than {most:,}.")


def _check_memory(picture: Image.Image) -> None:
    """Raise if the pixels alone, as Pillow keeps them, take more than a picture may."""
    width, height = picture.size
    depth = 2 if picture.mode.startswith("I;16") else _MODE_BYTES.get(picture.mode, 4)
    if picture.format == "HEIF":
        depth = _HEIF_BYTES
    if height * (width * depth + _ROW_BYTES) <= MAX_MEMORY:
        return
    if picture.format == "HEIF":
        raise UnreadableImage(
            f"it is a HEIC of {width} × {height} pixels without a thumbnail: it can only be decoded whole, which takes "
            f"more than {MAX_MEMORY // 1_000_000} MB of memory. Save it as JPEG, or smaller."
        )
    raise _too_much_memory()


def _too_much_memory() -> UnreadableImage:
    return UnreadableImage(f"decoding it takes more than {MAX_MEMORY // 1_000_000} MB of memory. Save it smaller.")


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode == "RGBA":
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return picture.convert("RGB")


def _finished(picture: Image.Image, times: int) -> Image.Image:
    """Turn a decoded picture upright, in a plain mode, and reduce it so many ``times``; a strip after the other."""
    orientation = _orientation(picture)
    width, height = _upright_size(picture.size, orientation)
    low, high = _extremes(picture)
    rows = max(_STRIP_PIXELS // width // times, 1) * times
    finished: Image.Image | None = None
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        strip = picture if bottom - top == height else picture.crop(_stored_box(picture.size, orientation, top, bottom))
        if orientation in _TURNS:
            strip = strip.transpose(_TURNS[orientation])
        strip = _in_plain_mode(strip, low, high)
        strip = strip.reduce(times) if times > 1 else strip
        if bottom - top == height:
            return strip
        finished = finished or Image.new(strip.mode, (-(-width // times), -(-height // times)))
        finished.paste(strip, (0, top // times))
    assert finished is not None  # pictures have rows
    return finished


def _orientation(picture: Image.Image) -> int:
    return int(picture.getexif().get(ExifTags.Base.Orientation, 1))


def _upright_size(size: tuple[int, int], orientation: int) -> tuple[int, int]:
    return (size[1], size[0]) if orientation in _SIDEWAYS else size


def _stored_box(size: tuple[int, int], orientation: int, top: int, bottom: int) -> tuple[int, int, int, int]:
    """Return where the rows of the upright picture from ``top`` to ``bottom`` are in the stored one."""
    width, height = size
    length = width if orientation in _SIDEWAYS else height
    if orientation in _BACKWARDS:
        top, bottom = length - bottom, length - top
    return (top, 0, bottom, height) if orientation in _SIDEWAYS else (0, top, width, bottom)


def _extremes(picture: Image.Image) -> tuple[float, float]:
    """Return the levels that become black and white, for deep greys."""
    if picture.mode not in ("I", "F"):
        return 0, 65535
    low, high = picture.getextrema()
    assert not isinstance(low, tuple) and not isinstance(high, tuple)  # there is one band
    return low, high


def _in_plain_mode(picture: Image.Image, low: float, high: float) -> Image.Image:
    if picture.mode in ("I", "F") or picture.mode.startswith("I;"):
        return _in_eight_bits(picture, low, high)
    if picture.has_transparency_data:
        return picture.convert("RGBA")
    return picture.convert("L" if picture.mode in ("1", "L") else "RGB")


def _in_eight_bits(picture: Image.Image, low: float, high: float) -> Image.Image:
    """Bring deep greys to eight bits: 16-bit ones by their range, others, which have none, by extremes."""
    if picture.mode.startswith("I;"):
        return Image.fromarray(_EIGHT_OF_SIXTEEN_BITS[np.asarray(picture)])
    grey = (np.asarray(picture).astype(np.float64) - low) * (255 / max(high - low, 1e-9))
    return Image.fromarray(np.rint(np.clip(np.nan_to_num(grey), 0, 255)).astype(np.uint8))


def _silence_pillow() -> None:
    """Ignore warnings that Pillow raises about files: what matters in them reaches the caller as an error.

    This is process-wide, and stays: before Python 3.14 `warnings.catch_warnings` is not safe with threads,
    but one entry that names Pillow's modules is. Pillow's deprecations name the caller, and are still heard.
    """
    if not any(entry[0] == "ignore" and entry[3] == _PILLOW for entry in warnings.filters):
        warnings.filterwarnings("ignore", module=_PILLOW.pattern)
