import io
import os
import struct
import threading
import warnings
import zlib

import numpy as np
import pytest
from PIL import ExifTags, Image, ImageOps, features

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.decode import FORMATS, Limits, read_photo, read_small_photo

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def encode(picture, file_format, **options):
    file = io.BytesIO()
    picture.save(file, file_format, **options)
    return file.getvalue()


def four_corners(width=48, height=32):
    """Give a picture whose quarters are red, green, blue and white, in reading order."""
    pixels = np.zeros((height, width, 3), dtype=np.uint8)
    top, left = slice(0, height // 2), slice(0, width // 2)
    bottom, right = slice(height // 2, None), slice(width // 2, None)
    pixels[top, left], pixels[top, right], pixels[bottom, left], pixels[bottom, right] = (
        RED,
        GREEN,
        BLUE,
        WHITE,
    )
    return Image.fromarray(pixels)


def png_header(width, height):
    """Give a PNG that promises a size, and holds one row of nothing."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("file_format", FORMATS)
def test_every_format_is_read_from_bytes_and_file(file_format, tmp_path):
    if file_format == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    content = encode(four_corners(), file_format)
    path = tmp_path / "photo"
    path.write_bytes(content)
    photo = read_photo(path)
    assert photo.shape == (32, 48, 3)
    assert photo.dtype == np.uint8
    for pixel, colour in zip(photo[[8, 8, 24, 24], [12, 36, 12, 36]], (RED, GREEN, BLUE, WHITE), strict=True):
        assert np.abs(pixel.astype(int) - colour).max() <= 8
    np.testing.assert_array_equal(photo, read_photo(content))


def test_the_extension_does_not_matter(tmp_path):
    path = tmp_path / "really_a_png.jpg"
    path.write_bytes(encode(four_corners(), "PNG"))
    np.testing.assert_array_equal(read_photo(path), np.asarray(four_corners()))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_every_orientation_comes_out_upright(orientation, file_format):
    # The camera stored what, once turned as the tag says, shows the four corners in reading order.
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}
    stored = four_corners()
    if orientation != 1:
        stored = stored.transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo = read_photo(encode(stored, file_format, exif=exif))
    assert photo.shape == (32, 48, 3)
    for pixel, colour in zip(photo[[8, 8, 24, 24], [12, 36, 12, 36]], (RED, GREEN, BLUE, WHITE), strict=True):
        assert np.abs(pixel.astype(int) - colour).max() <= 8


def test_broken_exif_does_not_hide_the_picture():
    exif = b"Exif\0\0II*\0\x08\0\0\0\x05\0\x12\x01\x03\0"
    assert read_photo(encode(four_corners(), "JPEG", exif=exif)).shape == (32, 48, 3)


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA"])
def test_png_modes_come_out_as_rgb(mode):
    photo = read_photo(encode(four_corners().convert(mode), "PNG"))
    assert photo.shape == (32, 48, 3)
    assert photo[24, 36].tolist() == [255, 255, 255]


def test_cmyk_keeps_its_colours():
    photo = read_photo(encode(four_corners().convert("CMYK"), "JPEG", quality=95))
    assert np.abs(photo[8, 12].astype(int) - RED).max() <= 8


def test_sixteen_bits_keep_their_range():
    levels = np.arange(1 << 16, dtype=np.uint16).reshape(256, 256)
    expected = np.rint(levels / 257).astype(np.uint8)
    np.testing.assert_array_equal(read_photo(encode(Image.fromarray(levels), "PNG"))[:, :, 0], expected)
    ramp = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)
    photo = read_photo(encode(Image.fromarray(ramp), "PNG"))
    np.testing.assert_array_equal(photo[:, :, 0].ravel(), np.arange(256))
    np.testing.assert_array_equal(photo[:, :, 0], photo[:, :, 2])


def test_floating_point_is_stretched_to_its_extremes():
    photo = read_photo(encode(Image.fromarray(np.float32([[0.25, 0.5, 0.75]])), "TIFF"))
    assert photo[0, :, 0].tolist() == [0, 128, 255]


def test_what_is_transparent_is_white():
    pixels = np.zeros((4, 4, 4), dtype=np.uint8)
    pixels[:2] = (10, 20, 30, 255)
    pixels[3] = (0, 0, 0, 128)
    photo = read_photo(encode(Image.fromarray(pixels), "PNG"))
    assert photo[0, 0].tolist() == [10, 20, 30]
    assert photo[2, 0].tolist() == [255, 255, 255]
    assert photo[3, 0].tolist() == [127, 127, 127]


def test_transparent_palette_entries_are_white():
    palette = Image.new("P", (2, 1))
    palette.putpalette([200, 0, 0, 0, 0, 200])
    palette.putdata([0, 1])
    photo = read_photo(encode(palette, "PNG", transparency=bytes([255, 0])))
    assert photo[0].tolist() == [[200, 0, 0], [255, 255, 255]]


def test_the_first_frame_of_an_animation_is_read():
    frames = [Image.new("RGB", (8, 8), colour) for colour in (RED, GREEN, BLUE)]
    photo = read_photo(encode(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert photo[4, 4].tolist() == list(RED)


def test_a_large_jpeg_is_decoded_no_larger_than_asked():
    content = encode(four_corners(1600, 800), "JPEG")
    assert read_photo(content).shape == (800, 1600, 3)
    assert read_photo(content, longest=100).shape == (100, 200, 3)
    assert read_photo(content, longest=150).shape == (200, 400, 3)
    assert read_photo(content, longest=5000).shape == (800, 1600, 3)


def test_a_picture_read_small_is_still_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    photo = read_photo(encode(four_corners(1600, 800), "JPEG", exif=exif), longest=100)
    assert photo.shape == (200, 100, 3)
    assert np.abs(photo[20, 20].astype(int) - BLUE).max() <= 8


BROKEN = {
    "nothing": (b"", "it is empty"),
    "text": (b"this is not a picture\n" * 50, "its content is none of AVIF, BMP"),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n", "its content is none of"),
    "half a JPEG": (encode(four_corners(), "JPEG")[:-200], "broken"),
    "half a PNG": (encode(Image.effect_noise((64, 64), 50), "PNG")[:-900], "broken"),
    "half a GIF": (encode(four_corners(), "GIF")[:-60], "broken"),
    "a head alone": (encode(four_corners(), "JPEG")[:20], "none of|broken"),
    "a promise of 64 gigapixels": (png_header(256_000, 256_000), "more than 100,000,000"),
    "a promise of 160 megapixels": (
        png_header(16_000, 10_000),
        r"16000 × 10000 pixels are more than 100,000,000",
    ),
    "a promise of 90 megapixels": (png_header(10_000, 9_500), "broken"),
    "no pixels at all": (png_header(0, 0), "none of|broken"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_name_and_reason(name, tmp_path):
    content, reason = BROKEN[name]
    path = tmp_path / "upload.jpg"
    path.write_bytes(content)
    with pytest.raises(UnreadableImage, match=f"upload.jpg: .*{reason}"):
        read_photo(path)
    with pytest.raises(UnreadableImage, match=f"these bytes: .*{reason}"):
        read_photo(content)


@pytest.mark.parametrize("file_format", FORMATS)
def test_random_damage_is_refused_or_survived(file_format):
    if file_format == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    if file_format == "TIFF":
        pytest.skip("libtiff itself writes to stderr about damage")
    rng = np.random.default_rng(7)
    whole = np.frombuffer(encode(four_corners(), file_format), dtype=np.uint8)
    refused = 0
    for _ in range(150):
        damaged = whole.copy()
        damaged[rng.integers(0, min(len(damaged), 300), size=4)] = rng.integers(0, 256, size=4)
        try:
            assert read_photo(damaged.tobytes(), Limits(pixels=1_000_000)).ndim == 3
        except UnreadableImage:
            refused += 1
    assert refused > 0


def test_a_pixel_limit_is_kept_before_decoding():
    with pytest.raises(UnreadableImage, match="48 × 32 pixels are more than 1,000"):
        read_photo(encode(four_corners(), "PNG"), Limits(pixels=1000))


def test_a_byte_limit_is_kept(tmp_path):
    content = encode(four_corners(), "BMP")
    path = tmp_path / "large.bmp"
    path.write_bytes(content)
    assert read_photo(path, Limits(bytes=len(content))).shape == (32, 48, 3)
    for source in (path, content):
        with pytest.raises(UnreadableImage, match="larger than 1,000 bytes"):
            read_photo(source, Limits(bytes=1000))


def test_what_is_not_a_file_is_refused(tmp_path):
    with pytest.raises(UnreadableImage, match="it is a folder"):
        read_photo(tmp_path)
    with pytest.raises(UnreadableImage, match=r"missing\.jpg: No such file"):
        read_photo(tmp_path / "missing.jpg")
    with pytest.raises(UnreadableImage, match="null"):
        read_photo(tmp_path / "zero\0.jpg")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    pipe = tmp_path / "pipe.jpg"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableImage, match="not a regular file"):
        read_photo(pipe)


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may read everything")
def test_a_forbidden_file_is_refused(tmp_path):
    path = tmp_path / "secret.png"
    path.write_bytes(encode(four_corners(), "PNG"))
    path.chmod(0)
    with pytest.raises(UnreadableImage, match="Permission denied"):
        read_photo(path)


def test_no_warning_of_pillow_escapes():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with pytest.raises(UnreadableImage):
            read_photo(png_header(10_000, 9_500))  # above Pillow's limit for warnings, below ours
        read_photo(encode(four_corners(), "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\x05\0\x12\x01\x03\0"))
        read_photo(encode(four_corners().convert("P"), "PNG", transparency=bytes(range(200))))
    assert heard == []


def test_threads_read_what_one_reader_reads():
    contents = [encode(ImageOps.expand(four_corners(), border), "PNG") for border in range(8)]
    alone = [read_photo(content) for content in contents]
    together = [None] * len(contents)

    def read(place):
        for _ in range(10):
            together[place] = read_photo(contents[place])

    threads = [threading.Thread(target=read, args=(place,)) for place in range(len(contents))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def jpeg(width, height, mode="RGB", **options):
    file = io.BytesIO()
    Image.effect_noise((width, height), 60).convert(mode).resize((width, height)).save(file, "JPEG", **options)
    return file.getvalue()


@pytest.mark.parametrize("size", [(640, 480), (480, 640), (1024, 1024), (3000, 200), (257, 256), (256, 100), (40, 30)])
def test_a_small_photo_has_the_longest_side_that_was_asked_for_unless_it_is_smaller(size):
    height, width = read_small_photo(jpeg(*size), 256).shape[:2]
    scale = min(1, 256 / max(size))
    assert (width, height) == tuple(max(round(side * scale), 1) for side in size)


def test_a_small_photo_looks_as_if_it_had_been_shrunk_from_the_whole():
    picture = Image.radial_gradient("L").resize((1200, 900)).convert("RGB")
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=95)
    small = read_small_photo(file.getvalue(), 256).astype(int)
    expected = np.asarray(picture.resize((256, 192), Image.Resampling.BICUBIC)).astype(int)
    assert np.abs(small - expected).mean() < 2


def test_a_small_photo_is_upright_and_on_white():
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    assert read_small_photo(jpeg(600, 300, exif=exif), 100).shape == (100, 50, 3)
    file = io.BytesIO()
    Image.new("RGBA", (600, 300), (0, 0, 0, 0)).save(file, "PNG")
    assert (read_small_photo(file.getvalue(), 100) == 255).all()
