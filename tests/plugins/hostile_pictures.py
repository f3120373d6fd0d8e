"""Pictures that ask for far more time or memory than they look like: made here, so that none has to be stored.

Each is small on disk, or has a structure that decoders walk slowly; none is broken where a decoder would see it early.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image


def plain_jpeg(side: int = 32) -> bytes:
    """Return a JPEG with nothing wrong."""
    file = io.BytesIO()
    Image.effect_noise((side, side), 60).save(file, "JPEG")
    return file.getvalue()


def jpeg_with(head: bytes) -> bytes:
    """Return a JPEG with ``head`` after its first marker."""
    whole = plain_jpeg()
    return whole[:2] + head + whole[2:]


def segment(marker: int, content: bytes) -> bytes:
    """Return a segment of a JPEG."""
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def exif_segments(megabytes: float) -> bytes:
    """Return a JPEG with hundreds of thousands of small Exif segments, which Pillow joins one by one."""
    one = segment(0xE1, b"Exif\0\0" + b"II*\0" + b"x" * 6)
    return jpeg_with(one * int(megabytes * 1e6 / len(one)))


def app_segments(megabytes: float) -> bytes:
    """Return a JPEG with a segment of an application every four bytes."""
    return jpeg_with(segment(0xEF, b"") * int(megabytes * 1e6 / 4))


def comment_segments(megabytes: float) -> bytes:
    """Return a JPEG with a comment every four bytes."""
    return jpeg_with(segment(0xFE, b"") * int(megabytes * 1e6 / 4))


def fill_bytes(megabytes: float) -> bytes:
    """Return a JPEG with megabytes of fill between two segments."""
    return jpeg_with(b"\xff" * int(megabytes * 1e6))


def many_scans(megabytes: float) -> bytes:
    """Return a large progressive JPEG whose last scan, a few hundred bytes, is there thousands of times."""
    file = io.BytesIO()
    Image.new("L", (8000, 6000)).save(file, "JPEG", progressive=True)
    whole = file.getvalue()
    last = whole.rfind(b"\xff\xda")
    scan = whole[last:-2]
    return whole[:-2] + scan * int(megabytes * 1e6 / len(scan)) + whole[-2:]


def png_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width: int, height: int, bits: int = 8, colours: int = 0, between: bytes = b"") -> bytes:
    """Return a black PNG of any size in little memory, with ``between`` before its pixels."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colours]
    row = bytes(1 + -(-width * bits * channels // 8))
    squeeze = zlib.compressobj(9)
    rows = max(1, (1 << 22) // len(row))
    body = b"".join(squeeze.compress(row * min(rows, height - start)) for start in range(0, height, rows))
    header = struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + between
        + png_chunk(b"IDAT", body + squeeze.flush())
        + png_chunk(b"IEND", b"")
    )


def png_chunks(megabytes: float) -> bytes:
    """Return a PNG with an empty chunk every twelve bytes."""
    one = png_chunk(b"teSt", b"")
    return png(8, 8, between=one * int(megabytes * 1e6 / len(one)))


def deep_png(pixels: float) -> bytes:
    """Return a PNG of sixteen bits a pixel."""
    return png(int(pixels**0.5), int(pixels**0.5), bits=16)


def tall_png(pixels: float) -> bytes:
    """Return a PNG of one column."""
    return png(1, int(pixels), colours=2)


def wide_png(pixels: float) -> bytes:
    """Return a PNG of one row."""
    return png(int(pixels), 1, colours=2)


def large_png(pixels: float) -> bytes:
    """Return a PNG with alpha."""
    return png(int(pixels**0.5), int(pixels**0.5), colours=6)


def bmp_rle(megabytes: float) -> bytes:
    """Return a BMP of runs of one pixel, which Pillow decodes in Python."""
    runs = int(megabytes * 1e6 / 2)
    side = int(runs**0.5) + 1
    palette = bytes(1024)
    data = b"\x01\x05" * runs
    start = 14 + 40 + len(palette)
    header = struct.pack("<2sIHHI", b"BM", start + len(data), 0, 0, start)
    return header + struct.pack("<IiiHHIIiiII", 40, side, side, 1, 8, 1, len(data), 0, 0, 256, 0) + palette + data


def gif_comments(megabytes: float) -> bytes:
    """Return a GIF with a comment every five bytes, which Pillow joins one by one."""
    file = io.BytesIO()
    Image.new("P", (8, 8)).save(file, "GIF")
    whole = file.getvalue()
    start = 13 + 3 * (2 << (whole[10] & 7) if whole[10] & 0x80 else 0)
    one = b"\x21\xfe\x01x\x00"
    return whole[:start] + one * int(megabytes * 1e6 / len(one)) + whole[start:]


def plain_ppm(megabytes: float) -> bytes:
    """Return a PPM whose pixels are decimal numbers."""
    side = int((megabytes * 1e6 / 2) ** 0.5)
    return b"P2 %d %d 9\n" % (side, side) + b"1 " * (side * side)


def ppm_comment(megabytes: float) -> bytes:
    """Return a PPM with a comment of megabytes, which Pillow reads byte by byte."""
    return b"P5 #" + b"x" * int(megabytes * 1e6) + b"\n8 8 255\n" + bytes(64)


def tiff(pixels: float, mode: str = "RGB") -> bytes:
    """Return a black TIFF, small by its compression."""
    side = int(pixels**0.5)
    file = io.BytesIO()
    Image.new(mode, (side, side)).save(file, "TIFF", compression="tiff_deflate")
    return file.getvalue()


def deep_tiff(pixels: float) -> bytes:
    """Return a TIFF of 32 bits a pixel."""
    return tiff(pixels, "F")


def webp(pixels: float) -> bytes:
    """Return a white WebP."""
    side = int(pixels**0.5)
    file = io.BytesIO()
    Image.new("RGB", (side, side), "white").save(file, "WEBP", lossless=True, method=0)
    return file.getvalue()


def noise(side: int, form: str = "PNG") -> bytes:
    """Return an honest picture that takes some time."""
    file = io.BytesIO()
    pixels = np.random.default_rng(side).integers(0, 256, (side, side, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, form)
    return file.getvalue()


# Whose structure takes time, by megabytes of file.
SLOW: Mapping[str, Callable[[float], bytes]] = {
    "Exif segments": exif_segments,
    "application segments": app_segments,
    "comments": comment_segments,
    "fill bytes": fill_bytes,
    "scans": many_scans,
    "PNG chunks": png_chunks,
    "BMP runs": bmp_rle,
    "GIF comments": gif_comments,
    "PPM in decimals": plain_ppm,
    "PPM comment": ppm_comment,
}

# Which decode to far more than they are, by pixels.
LARGE: Mapping[str, Callable[[float], bytes]] = {
    "16-bit PNG": deep_png,
    "PNG of one column": tall_png,
    "PNG of one row": wide_png,
    "PNG with alpha": large_png,
    "TIFF": tiff,
    "32-bit TIFF": deep_tiff,
    "WebP": webp,
}


def box(kind: bytes, content: bytes) -> bytes:
    """Return a box of a HEIF file."""
    return struct.pack(">I4s", len(content) + 8, kind) + content


def heif_with(*meta: bytes, after: bytes = b"") -> bytes:
    """Return the beginning of a HEIF file, with boxes in its description."""
    head = box(b"ftyp", b"heic\0\0\0\0mif1heic")
    return head + box(b"meta", bytes(4) + b"".join(meta)) + after


def heif_boxes() -> bytes:
    """Return a HEIF of a hundred thousand boxes."""
    return heif_with(after=box(b"free", b"") * 100_000)


def heif_items() -> bytes:
    """Return a HEIF that promises sixty thousand items."""
    return heif_with(box(b"iinf", bytes(4) + struct.pack(">H", 60_000)))


def heif_properties() -> bytes:
    """Return a HEIF whose one item has properties four billion times."""
    return heif_with(box(b"iprp", box(b"ipco", b"") + box(b"ipma", bytes(4) + struct.pack(">I", 2**32 - 1))))


def heif_description() -> bytes:
    """Return a HEIF whose description has five megabytes."""
    return heif_with(box(b"idat", bytes(5_000_000)))


def heif_own_thumbnail() -> bytes:
    """Return a HEIF whose photo is its own thumbnail, and of no content."""
    size = box(b"ispe", bytes(4) + struct.pack(">II", 4000, 3000))
    pairs = bytes(4) + struct.pack(">IHBB", 1, 1, 1, 1)
    return heif_with(
        box(b"pitm", bytes(4) + struct.pack(">H", 1)),
        box(b"iref", bytes(4) + box(b"thmb", struct.pack(">HHH", 1, 1, 1))),
        box(b"iprp", box(b"ipco", size) + box(b"ipma", pairs)),
    )


def raw_without_end() -> bytes:
    """Return a TIFF that says it is RAW, and whose directories lie in each other."""
    tags = [(262, 3, 1, 32803), (330, 4, 1, 8), (50706, 1, 4, 1)]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + entries + struct.pack("<I", 8)


def raw_with_bomb() -> bytes:
    """Return a RAW file whose preview is a JPEG of four hundred thousand segments."""
    from phone_pictures import dng

    return dng(app_segments(1.6), (32, 32))


HOSTILE_PHONE_PICTURES: Mapping[str, Callable[[], bytes]] = {
    "HEIF boxes": heif_boxes,
    "HEIF items": heif_items,
    "HEIF properties": heif_properties,
    "HEIF description": heif_description,
    "HEIF that is its own thumbnail": heif_own_thumbnail,
    "HEIF of nothing": lambda: heif_with(),
    "RAW without an end": raw_without_end,
    "RAW with a bomb in it": raw_with_bomb,
    "Fuji of nothing": lambda: b"FUJIFILMCCD-RAW " + bytes(500),
    "Canon of nothing": lambda: box(b"ftyp", b"crx \0\0\0\1crx isom") + bytes(500),
}
"""Files that say they are HEIF or RAW."""
