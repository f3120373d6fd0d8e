"""Photos of phones and cameras: HEIC, RAW, JPEG XL and JPEGs of 200 megapixels, read safely and upright."""

import io
import sys

import numpy as np
import pytest
from hostile_pictures import HOSTILE_PHONE_PICTURES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from phone_pictures import dng, heic, jpeg, png
from PIL import Image

from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.errors import UnreadableImage
from sketchhash.imaging import DecoderPool, decode, formats, read_photo, read_small_photo
from sketchhash.imaging.details import parse_details, read_details
from sketchhash.imaging.formats import is_heif, is_raw, passed_over
from sketchhash.imaging.heif import with_thumbnail_first
from sketchhash.imaging.photos import read_as_jpeg
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder

pytest.importorskip("pi_heif")
pytest.importorskip("pillow_heif")
needs_rawpy = pytest.mark.skipif(not formats.RAW.is_installed, reason="needs rawpy")

RED = (220, 30, 20)


def scene(width=640, height=480):
    """Return a picture with a red corner at the top left."""
    picture = Image.linear_gradient("L").resize((width, height)).convert("RGB")
    picture.paste(RED, (0, 0, width // 4, height // 4))
    return picture


def is_red(pixel):
    return bool(pixel[0] > 150 and pixel[1] < 110 and pixel[2] < 110)


@pytest.fixture(scope="module")
def photo():
    return Image.fromarray(render_photo("duck", np.random.default_rng(2), 800))


@pytest.fixture(scope="module")
def pool():
    pool = DecoderPool(1)
    yield pool
    pool.close()


def test_a_heic_and_a_jpeg_of_one_picture_differ_by_no_more_than_two_jpegs_do():
    """Two bits, but for those that the network is undecided about: the loss of any format turns some of them."""
    model = Model.load(default_model_folder())
    photos = [
        Image.fromarray(render_photo(name, np.random.default_rng(2), 800))
        for name in ("duck", "cat", "house", "teapot", "butterfly", "chair")
    ]

    def values(make):
        return model.encode_photos([model.read_photo(make(photo)) for photo in photos])

    right, whole = values(jpeg), values(lambda photo: heic(photo, 0, 90))
    weak = values(lambda photo: jpeg(photo, 85))
    assert np.median(differing(right, whole)) <= 2
    assert differing(right, whole).mean() <= differing(right, weak).mean() + 2
    is_clear = np.abs(right) > np.abs(right).mean(axis=1, keepdims=True) / 4
    assert differing(right, whole, is_clear).max() <= 2
    small = values(lambda photo: heic(photo.resize((320, 320)), 0, 90))  # as from a thumbnail
    assert np.median(differing(right, small, is_clear)) <= 2


def differing(ones, others, among=True):
    """Count, for each photo, the bits that differ."""
    return np.count_nonzero(((ones >= 0) != (others >= 0)) & among, axis=1)


@pytest.mark.parametrize("side", [600, 800, 1000, 1500])
def test_formats_are_resampled_alike(side):
    photo = Image.fromarray(render_photo("house", np.random.default_rng(2), side))
    pixels = [read_small_photo(made, 256).astype(float) for made in (jpeg(photo), png(photo))]
    assert np.sqrt(np.mean((pixels[0] - pixels[1]) ** 2)) < 1.5


def test_a_thumbnail_that_is_large_enough_is_read_instead(photo):
    content = heic(photo, 320)
    assert with_thumbnail_first(content, 256, True, 10**6) != content
    assert with_thumbnail_first(content, 321, True, 10**6) == content
    assert with_thumbnail_first(heic(photo, 0), 256, True, 10**6) == heic(photo, 0)
    assert read_small_photo(content, 256).shape == (256, 256, 3)
    assert read_photo(content).shape == (800, 800, 3)


def test_a_heic_too_large_to_be_decoded_is_read_by_any_thumbnail_or_refused_with_a_reason(photo, monkeypatch):
    monkeypatch.setattr(decode, "MAX_MEMORY", 800 * 800 * 6)
    assert read_small_photo(heic(photo, 200), 256).shape == (200, 200, 3)
    with pytest.raises(UnreadableImage, match=r"HEIC of 800 × 800 pixels without a thumbnail.*Save it as JPEG"):
        read_small_photo(heic(photo, 0), 256)
    assert read_small_photo(jpeg(photo), 256).shape == (256, 256, 3)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("thumbnail", [320, 0])
def test_a_heic_is_turned_upright_once(orientation, thumbnail):
    exif = Image.Exif()
    exif[274] = orientation
    picture = scene()
    expected = read_photo(jpeg(picture, exif=exif.tobytes()))
    content = heic(picture, thumbnail, exif=exif.tobytes())
    for pixels in (read_photo(content), read_small_photo(content, 256)):
        rows, columns = (np.linspace(5, side - 6, 12).astype(int) for side in pixels.shape[:2])
        there = [[is_red(pixels[row, column]) for column in columns] for row in rows]
        rows, columns = (np.linspace(5, side - 6, 12).astype(int) for side in expected.shape[:2])
        assert there == [[is_red(expected[row, column]) for column in columns] for row in rows]


def test_a_heic_tells_when_it_was_taken_and_how_large_it_is(photo):
    exif = Image.Exif()
    exif.get_ifd(0x8769)[36867] = "2023:06:24 18:30:05"
    found = parse_details(read_details(heic(photo, 320, exif=exif.tobytes())))
    assert (found.taken_at.year, found.width, found.height) == (2023, 800, 800)


@pytest.mark.parametrize("kind", ["heic", "dng"])
def test_another_process_gives_the_same_pixels(pool, photo, kind):
    if kind == "dng" and not formats.RAW.is_installed:
        pytest.skip("needs rawpy")
    content = heic(photo) if kind == "heic" else dng(jpeg(photo), photo.size)
    np.testing.assert_array_equal(pool.run(read_small_photo, content, 256), read_small_photo(content, 256))
    assert pool.run(read_as_jpeg, content, 4096)[:2].tobytes() == b"\xff\xd8"


@needs_rawpy
@pytest.mark.parametrize(("orientation", "corner"), [(1, (5, 5)), (6, (5, -5)), (3, (-5, -5)), (8, (-5, 5))])
def test_a_raw_file_is_read_by_its_preview_and_held_as_the_camera_was(orientation, corner):
    pixels = read_photo(dng(jpeg(scene()), (640, 480), orientation))
    assert is_red(pixels[corner])
    assert pixels.shape[:2] == ((480, 640) if orientation in (1, 3) else (640, 480))


@needs_rawpy
def test_a_preview_that_knows_how_it_is_held_is_turned_once():
    exif = Image.Exif()
    exif[274] = 6
    assert is_red(read_photo(dng(jpeg(scene(), exif=exif.tobytes()), (640, 480), 6))[5, -5])


@needs_rawpy
def test_a_raw_file_tells_when_and_with_what_it_was_taken():
    found = parse_details(read_details(dng(jpeg(scene()), (640, 480))))
    assert (found.camera, found.taken_at.year) == ("Tester Testcam", 2023)


def test_a_tiff_is_no_raw_file():
    file = io.BytesIO()
    scene().save(file, "TIFF")
    assert not is_raw(file.getvalue())
    assert read_photo(file.getvalue()).shape == (480, 640, 3)


@pytest.mark.parametrize(
    ("content", "advice"),
    [("heic", r"it is HEIC.*\[heic\]"), ("dng", r"it is RAW.*\[raw\]"), ("jxl", "pip install pillow-jxl-plugin")],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, photo, content, advice):
    made = {"heic": heic(photo), "dng": dng(jpeg(photo), photo.size), "jxl": b"\xff\x0a" + bytes(99)}[content]
    for module in ("pi_heif", "rawpy", "pillow_jxl"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnreadableImage, match=advice):
        read_photo(made)


def test_jpeg_xl_is_read_if_there_is_a_plugin(photo):
    pytest.importorskip("pillow_jxl")
    file = io.BytesIO()
    photo.save(file, "JXL")
    assert read_small_photo(file.getvalue(), 256).shape == (256, 256, 3)


def test_what_was_passed_over_is_said_with_one_command():
    said = passed_over({"RAW": 12, "HEIC": 312})
    assert said.startswith("312 HEIC and 12 RAW skipped: ")
    assert "[heic,raw]'" in said
    assert passed_over({}) == ""


@pytest.mark.parametrize("size", [(12_000, 9000), (16_320, 12_240)])
def test_a_jpeg_of_up_to_200_megapixels_is_read_at_a_fraction_of_its_size(pool, size):
    content = jpeg(Image.new("L", size, 90))
    pixels = pool.run(read_small_photo, content, 256)
    assert pixels.shape == (192, 256, 3)
    assert abs(int(pixels.mean()) - 90) <= 1
    assert parse_details(pool.run(read_details, content)).width == size[0]
    with pytest.raises(UnreadableImage, match="pixels are more than 100,000,000"):
        read_photo(content)


def test_a_jpeg_of_more_than_that_is_refused_from_its_header():
    content = bytearray(jpeg(Image.new("L", (64, 64))))
    place = content.index(b"\xff\xc0") + 5
    content[place : place + 4] = (30_000).to_bytes(2, "big") * 2
    with pytest.raises(UnreadableImage, match="pixels are more than 250,000,000"):
        read_small_photo(bytes(content), 256)


@pytest.mark.parametrize("name", HOSTILE_PHONE_PICTURES)
def test_hostile_heif_and_raw_files_are_refused_and_the_next_is_read(pool, photo, name):
    with pytest.raises(UnreadableImage):
        pool.run(read_small_photo, HOSTILE_PHONE_PICTURES[name](), 256)
    assert pool.run(read_small_photo, jpeg(photo), 256).shape == (256, 256, 3)


@pytest.fixture(scope="module")
def originals():
    small = scene(160, 120)
    return [heic(small, 80), heic(small, 0), dng(jpeg(small), small.size)]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 2),
    changes=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8)), max_size=6),
    kept=st.floats(0.02, 1),
)
def test_whatever_is_changed_in_a_file_there_are_pixels_or_one_kind_of_error(pool, originals, which, changes, kept):
    content = bytearray(originals[which])
    for place, new in changes:
        start = int(place**3 * (len(content) - 1))  # most often near the beginning, where the structure is
        content[start : start + len(new)] = new
    content = bytes(content[: max(int(kept * len(content)), 1)])
    for function in (read_small_photo, read_details):
        try:
            pool.run(function, content, *([100] if function is read_small_photo else []))
        except UnreadableImage as refusal:
            assert str(refusal)
    assert isinstance(is_heif(content) or is_raw(content), bool)
