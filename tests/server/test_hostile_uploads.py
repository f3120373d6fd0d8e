"""Uploads that were made to do harm: each is refused with a reason, and the service goes on."""

import io
import struct
import zlib

import pytest
from PIL import Image


def send(client, content, **fields):
    return client.post("/api/search", files={"picture": ("x.png", content)}, data=fields)


def huge_png(width, height):
    """Write a PNG whose header promises more than its few bytes hold."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


def jpeg():
    file = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(file, "JPEG")
    return file.getvalue()


HOSTILE = {
    "empty": b"",
    "text": b"<script>alert(1)</script>",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
    "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) (r) file",
    "truncated jpeg": jpeg()[:300],
    "bomb": huge_png(30_000, 30_000),
    "larger than any picture": huge_png(2**31 - 1, 2**31 - 1),
    "wide": huge_png(50_000_001, 1),
    "no pixels": huge_png(0, 0),
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_picture_that_cannot_be_read_safely_is_explained(client, content):
    for kind in ("photo", "sketch"):
        answer = send(client, content, kind=kind)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "unreadable_image")
        message = answer.json()["error"]["message"]
        assert message.startswith("Cannot read the picture: ")
        assert message.endswith("Send another picture, such as a JPEG or PNG.")


def test_an_empty_page_is_no_sketch(client, png):
    answer = send(client, png(colour=(255, 255, 255)), kind="sketch")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "unreadable_image")
    assert "no ink" in answer.json()["error"]["message"]


def test_a_form_without_a_file_is_explained(client):
    for options in ({"files": {"other": b"x"}}, {"data": {"picture": "text"}, "files": {"x": b""}}):
        answer = client.post("/api/search", **options)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")


@pytest.mark.parametrize("fields", [{"k": "many"}, {"k": "0"}, {"kind": "film"}, {"label": "x" * 2000}])
def test_fields_that_cannot_be_used_are_explained(client, png, fields):
    answer = send(client, png(), **fields)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")
    assert next(iter(fields)) in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [b"", b"--x", b"--x\r\nContent-Disposition: form-data\r\n\r\n", b"garbage", b"--x\r\n" + b"a" * 20_000],
)
def test_a_broken_form_is_explained(client, body):
    answer = client.post("/api/search", content=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"]


def test_a_form_without_a_boundary_is_explained(client):
    answer = client.post("/api/search", content=b"x", headers={"Content-Type": "multipart/form-data"})
    assert answer.status_code == 400


def test_a_form_of_many_files_or_fields_is_refused(client, png):
    files = [("picture", png()), ("more", png())]
    assert client.post("/api/search", files=files).status_code == 400
    assert send(client, png(), **{f"field{number}": "x" for number in range(20)}).status_code == 400


def test_the_service_goes_on_after_all_this(client, png):
    for content in HOSTILE.values():
        send(client, content)
    assert send(client, png()).status_code == 200
