"""Look at how a picture's file is built, before a decoder does.

A file of a few megabytes can keep a decoder busy for minutes, or claim far more pixels than its bytes can hold. What
tells such files from photos is cheap to see: how many segments, chunks or scans there are, and how much a header
promises. The counts below are some ten times what cameras, scanners and editors write. This bounds what is known to be
slow; what is not known is bounded by the processes of `sketchhash.imaging.decoders`.
"""

from __future__ import annotations

import re
import struct

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.formats import is_heif
from sketchhash.imaging.heif import check_heif

_MOST_SEGMENTS = 4000  # a JPEG of 100 MB that is all metadata has 1,600
_MOST_EXIF = 16  # one is usual; Pillow joins them, in quadratic time
_MOST_SCANS = 100  # of a progressive JPEG: ten are usual, and each may visit every pixel
_MOST_JUNK = 65_536  # bytes between segments
_MOST_CHUNKS = 50_000  # a PNG of 100 MB in chunks of 8 kB, as libpng writes them, has 12,500
_MOST_EXTENSIONS = 10_000  # parts of comments and the like before the first frame of a GIF
_MOST_RUN_BYTES = 2_000_000  # of a BMP in runs, which Pillow decodes in Python
_MOST_DECIMAL_BYTES = 8_000_000  # of a PPM in decimals, likewise
_MOST_PPM_HEAD = 4096  # bytes, most of them comments, which Pillow reads one by one

_DEFLATE_RATIO = 1032  # no deflated data is smaller
_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

_SCAN, _END, _APP1 = 0xDA, 0xD9, 0xE1
_ALONE = frozenset({0x00, 0x01, 0xFF, *range(0xD0, 0xD9)})  # what no length follows
_PROGRESSIVE = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_PPM_KINDS = tuple(bytes([kind]) for kind in b"0123456fy")
_PPM_HEAD = re.compile(rb"P\w{1,5}(?:(?:\s|#[^\r\n]*[\r\n])+\d{1,10}){2}\s")


def check_structure(content: bytes, most_pixels: int) -> None:
    """Raise `UnreadableImage` if decoding this file would take far more than its pixels explain.

    Content that is of no known format passes: the decoder says so better. A header that promises more than
    ``most_pixels`` passes too: that is told before anything is decoded.
    """
    if content.startswith(b"\xff\xd8\xff"):
        _check_jpeg(content)
    elif content.startswith(b"\x89PNG\r\n\x1a\n"):
        _check_png(content, most_pixels)
    elif content.startswith(b"GIF8"):
        _check_gif(content)
    elif content.startswith(b"BM"):
        _check_bmp(content, most_pixels)
    elif content[:1] == b"P" and content[1:2] in _PPM_KINDS:
        _check_ppm(content)
    elif is_heif(content):
        check_heif(content)


def _check_jpeg(content: bytes) -> None:
    place, junk, segments, exif = 2, 0, 0, 0
    is_progressive = False
    while True:
        start = content.find(b"\xff", place)
        junk += start - place
        if start < 0 or start + 2 > len(content):
            return
        marker = content[start + 1]
        if marker in _ALONE:
            # 0xFF before a marker is fill: the marker may begin with the second of the two
            place = start + (1 if marker == 0xFF else 2)
            junk += 2
        elif marker in (_SCAN, _END):
            break
        else:
            segments += 1
            exif += marker == _APP1 and content.startswith(b"Exif\0", start + 4)
            is_progressive |= marker in _PROGRESSIVE
            place = start + 2 + max(2, int.from_bytes(content[start + 2 : start + 4], "big"))
        if junk > _MOST_JUNK or segments > _MOST_SEGMENTS or exif > _MOST_EXIF:
            raise _overbuilt("JPEG", "segments")
    # What merely looks like a marker, in a thumbnail, counts too: there is room for it.
    if is_progressive and content.count(b"\xff\xda", start) > _MOST_SCANS:
        raise _overbuilt("JPEG", "scans")


def _check_png(content: bytes, most_pixels: int) -> None:
    place, chunks, squeezed = 8, 0, 0
    while place + 8 <= len(content):
        length = int.from_bytes(content[place : place + 4], "big")
        kind = content[place + 4 : place + 8]
        if kind == b"IEND":
            break
        if kind in (b"IDAT", b"fdAT"):
            squeezed += min(length, len(content) - place - 8)
        chunks += 1
        if chunks > _MOST_CHUNKS:
            raise _overbuilt("PNG", "chunks")
        place += 12 + length
    if content[12:16] != b"IHDR" or len(content) < 26:
        return
    width, height, bits, colours = struct.unpack_from(">IIBB", content, 16)
    row = 1 + -(-width * bits * _PNG_CHANNELS.get(colours, 1) // 8)
    if width * height <= most_pixels and height * row > _DEFLATE_RATIO * squeezed + row:
        raise _promising(width, height, len(content))


def _check_gif(content: bytes) -> None:
    if len(content) < 13:
        return
    place = 13 + (3 * (2 << (content[10] & 7)) if content[10] & 0x80 else 0)
    parts = 0
    while content[place : place + 1] == b"!":  # an extension: its kind, then parts until an empty one
        place += 2
        while place < len(content) and (length := content[place]):
            place += 1 + length
            parts += 1
        place += 1
        parts += 1
        if parts > _MOST_EXTENSIONS:
            raise _overbuilt("GIF", "extensions")


def _check_bmp(content: bytes, most_pixels: int) -> None:
    if len(content) < 34:
        return
    (header,) = struct.unpack_from("<I", content, 14)
    if header < 40:
        return
    start, width, height, bits, method = struct.unpack("<10xI4xii2xHI", content[:34])
    if method in (1, 2):
        if len(content) > _MOST_RUN_BYTES:
            raise UnreadableImage(f"it is a BMP in runs of more than {_MOST_RUN_BYTES:,} bytes. Save it as PNG.")
        return
    width, height, row = abs(width), abs(height), 4 * -(-abs(width) * bits // 32)
    # The last row may lack its padding.
    if method == 0 and width * height <= most_pixels and height * row > len(content) - start + 4:
        raise _promising(width, height, len(content))


def _check_ppm(content: bytes) -> None:
    if len(content) > _MOST_PPM_HEAD and not _PPM_HEAD.match(content[:_MOST_PPM_HEAD]):
        raise UnreadableImage(f"it is a PPM without a size in its first {_MOST_PPM_HEAD:,} bytes.")
    if content[1:2] in (b"1", b"2", b"3") and len(content) > _MOST_DECIMAL_BYTES:
        raise UnreadableImage(f"it is a PPM in decimals of more than {_MOST_DECIMAL_BYTES:,} bytes. Save it as PNG.")


def _overbuilt(form: str, parts: str) -> UnreadableImage:
    return UnreadableImage(f"it is a {form} with more {parts} than any photo has. Save it anew.")


def _promising(width: int, height: int, size: int) -> UnreadableImage:
    return UnreadableImage(f"its content is broken ({width} × {height} pixels cannot be in {size:,} bytes).")
