"""Folders hold anything: each of these is left out with a reason or not at all looked at, and the rest is indexed."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from sketchhash.gallery import GalleryFile, verify
from sketchhash.imaging import read_photo

# Bytes. The largest of the readable pictures takes some 16 a pixel on its way, 600 million; a bomb that went off
# would take billions.
MOST_MEMORY = 1_200_000_000


def png_chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def black_rows(width, height):
    return bytes((1 + -(-width // 8)) * height)


def png(width, height, rows):
    """Write a PNG by hand: one bit a pixel, whatever its header claims."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = (png_chunk(b"IHDR", header), png_chunk(b"IDAT", zlib.compress(rows, 9)), png_chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def picture(form, size=(40, 30), **options):
    file = BytesIO()
    pixels = np.random.default_rng(5).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, form, **options)
    return file.getvalue()


def bmp_with_size(width, height):
    content = bytearray(picture("BMP"))
    content[18:26] = struct.pack("<ii", width, height)
    return bytes(content)


def endless_exif():
    """Write a JPEG whose EXIF directory refers to itself."""
    directory = b"II*\0\x08\0\0\0" + struct.pack("<HHHII", 1, 0x8769, 4, 1, 8) + struct.pack("<I", 8)
    segment = b"Exif\0\0" + directory
    return picture("JPEG").replace(b"\xff\xd8", b"\xff\xd8\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment, 1)


# What is no picture that can be read safely, and a part of the reason that should be told.
BROKEN = {
    "empty.jpg": (b"", "it is empty"),
    "text.png": (b"no picture", "its content is none of"),
    "truncated.jpg": (picture("JPEG")[:300], "its content is broken"),
    "truncated.png": (picture("PNG")[:-300], "its content is broken"),
    "only a signature.png": (b"\x89PNG\r\n\x1a\n", "its content is"),
    "zeros.gif": (bytes(5000), "its content is none of"),
    "bomb.png": (png(30_000, 30_000, black_rows(30_000, 30_000)), "pixels"),
    "giant header.png": (png(2**31 - 1, 2**31 - 1, bytes(10)), "pixels"),
    "giant header.bmp": (bmp_with_size(2**31 - 1, 2**31 - 1), "pixels"),
    "flat.bmp": (bmp_with_size(0, 0), "its content is"),
    "page.html.png": (b"<!doctype html><title>Photos</title>", "its content is none of"),
    "program.eps.jpg": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "its content is none of"),
}

# What looks odd and is a photo all the same.
READABLE = {
    "really a png.jpg": picture("PNG"),
    "really a jpeg.gif": picture("JPEG"),
    "one pixel.png": picture("PNG", (1, 1)),
    "long and thin.png": picture("PNG", (20_000, 1)),
    "small file of many pixels.png": png(6_000, 6_000, black_rows(6_000, 6_000)),
    "endless exif.jpg": endless_exif(),
    "trailing junk.jpg": picture("JPEG") + b"junk" * 1000,
    "UPPER.JPEG": picture("JPEG", quality=30),
    "two\nlines.png": picture("PNG", (8, 8)),
    os.fsdecode(b"\xff\xfe.png"): picture("PNG", (9, 9)),
    "-rf.png": picture("PNG", (10, 10)),
    "n" * 251 + ".png": picture("PNG", (11, 11)),
    "'; DROP TABLE photos; --.png": picture("PNG", (12, 12)),
}


@pytest.fixture
def hostile(folder):
    """Fill the folder with all of the above, and with things that are no files."""
    for name, (content, _) in BROKEN.items():
        (folder / name).write_bytes(content)
    for name, content in READABLE.items():
        (folder / name).write_bytes(content)
    (folder / ".hidden.jpg").write_bytes(picture("JPEG"))
    (folder / "folder.jpg").mkdir()
    os.mkfifo(folder / "pipe.jpg")
    (folder / "loop").symlink_to(folder)
    (folder / "self.jpg").symlink_to("self.jpg")
    (folder / "ping.jpg").symlink_to("pong.jpg")
    (folder / "pong.jpg").symlink_to("ping.jpg")
    (folder / "nowhere.jpg").symlink_to("/nowhere")
    (folder / "device.jpg").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        before = os.getcwd()  # noqa: PTH109 - names of sockets are short: from inside the folder
        os.chdir(folder)
        listener.bind("socket.jpg")
        os.chdir(before)
    return folder


def test_every_hostile_file_is_survived_and_all_others_are_indexed(hostile, gallery, index, model, counts):
    summary = index()
    assert {failure.path.name: failure.reason for failure in summary.failed}.keys() == BROKEN.keys()
    for failure in summary.failed:
        assert BROKEN[failure.path.name][1] in failure.reason
        assert "\n" not in failure.reason
    assert {photo.path.name for photo in gallery.photos()} == READABLE.keys()
    assert all(verdict.problems == () for verdict in verify(gallery, model))
    assert all(max(read_photo(gallery.thumbnail(photo.id)).shape) <= 256 for photo in gallery.photos())
    assert counts(index()) == {"unchanged": len(READABLE), "failed": len(BROKEN)}


def test_the_command_line_survives_them_in_bounded_memory_and_time(hostile, model_folder, tmp_path):
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from sketchhash.cli import main\n"
        "try: main()\n"
        # Its own peak: what getrusage tells begins with that of the process it was forked from.
        "finally:\n"
        "    kilobytes = Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]\n"
        "    print(int(kilobytes) * 1024, file=sys.stderr)\n"
    )
    arguments = ("index", hostile, "--gallery", tmp_path / "g", "--model", model_folder, "--labels", "folder")
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == f"{len(READABLE)} added, {len(BROKEN)} left out\n"
    *talk, hint, memory = done.stderr.splitlines()
    assert "sketchhash serve" in hint
    assert len(talk) == len(BROKEN)
    assert all(line.startswith(f"Left out {hostile}/") for line in talk)
    assert int(memory) < MOST_MEMORY


def test_what_may_not_be_read_is_told_and_indexed_once_it_may(folder, photo, model_folder, tmp_path):
    closed = photo(folder / "closed.png", 1)
    behind = photo(folder / "closed folder/a.png", 2)
    photo(folder / "open.png", 3)
    command = [
        sys.executable,
        "-m",
        "sketchhash",
        "index",
        folder,
        "--gallery",
        tmp_path / "g",
        "--model",
        model_folder,
    ]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("permissions do not hold for root")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    for path in (closed, behind.parent):
        path.chmod(0)
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == "1 added, 2 left out\n"
    assert done.stderr.count("Permission denied.") == 2
    for path in (closed, behind.parent):
        path.chmod(0o755)
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == "2 added, 1 unchanged\n"


def test_folders_nested_deeper_than_paths_may_be_long_are_told_or_walked(folder, gallery, index, photo):
    photo(folder / "a.png")
    here = os.getcwd()  # noqa: PTH109
    os.chdir(folder)
    for _ in range(40):  # 40 names of 200 bytes: no path leads to the last
        os.mkdir("d" * 200)  # noqa: PTH102
        os.chdir("d" * 200)
    os.chdir(here)
    summary = index()
    assert summary.added == 1
    assert [failure.reason for failure in summary.failed] == ["File name too long."]
    subprocess.run(["rm", "-rf", folder], check=True)


def test_a_photo_that_changes_while_it_is_indexed_is_seen_by_the_next_run(folder, gallery, index, photo, counts):
    path = photo(folder / "a.png", 1)
    index()
    with path.open("ab") as file:  # a download that goes on
        file.write(b"more")
    assert counts(index()) == {"updated": 1}
    with GalleryFile.open(gallery.path) as reopened:
        assert reopened.at(path).size == path.stat().st_size
