"""Photos as phones and cameras write them, made here: HEIC with a thumbnail, DNG with a preview."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image


def heic(picture: Image.Image, thumbnail: int = 320, quality: int = 80, **info: object) -> bytes:
    """Return a HEIC, with a thumbnail that is so long unless that is 0; ``info`` may hold EXIF."""
    import pillow_heif  # in the test that needs it: it is not always there

    made = pillow_heif.from_pillow(picture)
    made.info.update(info)
    made.info["thumbnails"] = [thumbnail] if thumbnail else []
    file = io.BytesIO()
    made.save(file, quality=quality, enc_params={"preset": "ultrafast"})
    return file.getvalue()


def jpeg(picture: Image.Image, quality: int = 95, **options: object) -> bytes:
    """Return a JPEG."""
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality, **options)
    return file.getvalue()


def png(picture: Image.Image) -> bytes:
    """Return a PNG, which loses nothing."""
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=1)
    return file.getvalue()


def dng(preview: bytes, size: tuple[int, int], orientation: int = 1, when: bytes = b"2023:06:24 18:30:05") -> bytes:
    """Return a DNG whose sensor saw nothing in particular, with a JPEG as its preview."""
    width, height = 64, 48
    mosaic = np.full((height, width), 1000, dtype="<u2").tobytes()
    raw = [
        (254, 4, [0]), (256, 4, [width]), (257, 4, [height]), (258, 3, [16]), (259, 3, [1]), (262, 3, [32803]),
        (273, 4, ["mosaic"]), (277, 3, [1]), (278, 4, [height]), (279, 4, [len(mosaic)]), (33421, 3, [2, 2]),
        (33422, 1, [0, 1, 1, 2]), (50717, 4, [4000]),
    ]  # fmt: skip
    camera = [(36867, 2, [*when, 0])]
    main = [
        (254, 4, [1]), (256, 4, [size[0]]), (257, 4, [size[1]]), (258, 3, [8, 8, 8]), (259, 3, [7]), (262, 3, [6]),
        (271, 2, [*b"Tester\0"]), (272, 2, [*b"Testcam\0"]), (273, 4, ["preview"]), (274, 3, [orientation]),
        (277, 3, [3]), (278, 4, [size[1]]), (279, 4, [len(preview)]), (330, 4, ["raw"]), (34665, 4, ["camera"]),
        (50706, 1, [1, 4, 0, 0]), (50707, 1, [1, 1, 0, 0]), (50708, 2, [*b"Testcam\0"]),
        (50721, 10, [(1, 1), (0, 1), (0, 1), (0, 1), (1, 1), (0, 1), (0, 1), (0, 1), (1, 1)]), (50778, 3, [21]),
    ]  # fmt: skip
    places = {"mosaic": 0, "preview": 0, "raw": 0, "camera": 0}
    for _ in range(2):  # once to learn how long all is, once to say where it is
        content = bytearray(b"II*\0\x08\0\0\0")
        content += _directory(main, places, len(content))
        for name, entries in (("raw", raw), ("camera", camera)):
            places[name] = len(content)
            content += _directory(entries, places, len(content))
        for name, block in (("mosaic", mosaic), ("preview", preview)):
            places[name] = len(content)
            content += block + b"\0" * (len(block) % 2)
    return bytes(content)


def _directory(entries: list, places: dict[str, int], start: int) -> bytes:
    formats = {1: "B", 2: "B", 3: "H", 4: "I"}
    head, beyond = struct.pack("<H", len(entries)), b""
    after = start + 2 + 12 * len(entries) + 4
    for tag, kind, given in entries:
        values = [places[value] if isinstance(value, str) else value for value in given]
        if kind == 10:
            packed = b"".join(struct.pack("<ii", *value) for value in values)
        else:
            packed = struct.pack(f"<{len(values)}{formats[kind]}", *values)
        if len(packed) > 4:
            place = struct.pack("<I", after + len(beyond))
            beyond += packed + b"\0" * (len(packed) % 2)
        else:
            place = packed.ljust(4, b"\0")
        head += struct.pack("<HHI", tag, kind, len(values)) + place
    return head + struct.pack("<I", 0) + beyond
