"""Files whose structure would keep a decoder busy are refused from a look at it; odd but honest ones are read."""

import io
import struct
import time

import hostile_pictures
import pytest
from PIL import Image, features

from sketchhash.errors import UnreadableImage
from sketchhash.imaging import read_small_photo
from sketchhash.imaging.decode import FORMATS, MAX_PIXELS
from sketchhash.imaging.structure import check_structure

REASONS = {
    "Exif segments": "a JPEG with more segments",
    "application segments": "a JPEG with more segments",
    "comments": "a JPEG with more segments",
    "fill bytes": "a JPEG with more segments",
    "scans": "a JPEG with more scans",
    "PNG chunks": "a PNG with more chunks",
    "BMP runs": "a BMP in runs",
    "GIF comments": "a GIF with more extensions",
    "PPM in decimals": "a PPM in decimals",
    "PPM comment": "a PPM without a size",
}


def encode(picture, form, **options):
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


@pytest.mark.parametrize("name", hostile_pictures.SLOW)
def test_a_structure_that_takes_long_is_refused_at_once(name):
    content = hostile_pictures.SLOW[name](8.1)
    start = time.process_time()
    with pytest.raises(UnreadableImage, match=f"Cannot read these bytes: it is {REASONS[name]}"):
        read_small_photo(content, 256)
    assert time.process_time() - start < 0.5  # Pillow alone takes 2 to 60 seconds


@pytest.mark.parametrize("form", FORMATS)
def test_photos_pass_whatever_their_format(form):
    if form == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    check_structure(encode(Image.effect_noise((301, 203), 60).convert("RGB"), form), MAX_PIXELS)


@pytest.mark.parametrize(
    "content",
    [
        hostile_pictures.exif_segments(0.0003),
        hostile_pictures.comment_segments(0.01),
        hostile_pictures.fill_bytes(0.01),
        hostile_pictures.png_chunks(0.1),
        hostile_pictures.bmp_rle(0.1)[:-7] + b"\0\0\0\1\0\0\0",
        hostile_pictures.gif_comments(0.01),
        hostile_pictures.plain_ppm(0.1),
        hostile_pictures.ppm_comment(0.001),
        encode(Image.effect_noise((640, 480), 60), "JPEG", progressive=True),
        encode(Image.effect_noise((99, 98), 60).convert("1"), "BMP"),
        encode(Image.effect_noise((99, 98), 60).convert("P"), "BMP"),
        encode(Image.new("RGBA", (5000, 5000)), "PNG", compress_level=9),
        hostile_pictures.jpeg_with(
            hostile_pictures.segment(0xE1, b"http://ns.adobe.com/xmp/extension/" + bytes(9)) * 99
        ),
    ],
)
def test_what_is_odd_and_within_bounds_passes(content):
    check_structure(content, MAX_PIXELS)


def test_a_header_that_promises_more_than_the_file_can_hold_is_refused():
    claimed = bytearray(encode(Image.new("RGB", (40, 30)), "BMP"))
    claimed[18:26] = struct.pack("<ii", 9000, -9000)
    with pytest.raises(UnreadableImage, match="9000 × 9000 pixels cannot be in"):
        read_small_photo(bytes(claimed), 256)
    truncated = bytearray(encode(Image.new("RGB", (40, 30)), "PNG"))
    truncated[16:24] = struct.pack(">II", 9000, 9000)
    with pytest.raises(UnreadableImage, match="9000 × 9000 pixels cannot be in"):
        read_small_photo(bytes(truncated), 256)


@pytest.mark.parametrize("kept", range(0, 60, 3))
@pytest.mark.parametrize("form", FORMATS)
def test_a_head_that_is_cut_off_anywhere_is_no_defect(form, kept):
    if form == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    content = encode(Image.effect_noise((30, 20), 60).convert("RGB"), form)[:kept]
    try:
        check_structure(content, MAX_PIXELS)
    except UnreadableImage as refusal:
        assert str(refusal)
