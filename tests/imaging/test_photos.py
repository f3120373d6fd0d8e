import io

import numpy as np
import pytest
from PIL import Image

from sketchhash.errors import BadArgument
from sketchhash.imaging.photos import contact_sheet, fit_square, shrink, thumbnail, write_png


def noise(height, width):
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", [(1, 1), (1, 900), (900, 1), (300, 200), (8, 8)])
def test_any_shape_is_squeezed_into_the_square(shape):
    square = fit_square(noise(*shape), 64)
    assert square.shape == (64, 64, 3)
    assert square.dtype == np.uint8


def test_the_edges_of_a_picture_stay_in_the_square():
    photo = np.zeros((100, 400, 3), dtype=np.uint8)
    photo[:, :40], photo[:, -40:] = 255, 128
    square = fit_square(photo, 80)
    assert (square[:, :4] == 255).all()
    assert (square[:, -4:] == 128).all()
    assert (square[:, 20:60] == 0).all()


def test_reducing_averages_rather_than_picks():
    stripes = np.zeros((512, 512, 3), dtype=np.uint8)
    stripes[:, ::2] = 255
    assert np.abs(fit_square(stripes, 32).astype(int) - 127).max() <= 4


def test_shrinking_keeps_the_aspect():
    assert shrink(noise(300, 200), 150).shape == (150, 100, 3)
    assert shrink(noise(2, 3000), 100).shape == (1, 100, 3)


def test_small_pictures_are_not_enlarged():
    photo = noise(30, 20)
    np.testing.assert_array_equal(shrink(photo, 30), photo)


def test_a_thumbnail_is_a_small_jpeg_without_metadata():
    content = thumbnail(np.full((900, 600, 3), 90, dtype=np.uint8), side=128)
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.format == "JPEG"
        assert picture.size == (85, 128)
        assert not picture.getexif()
        assert "icc_profile" not in picture.info
        assert np.abs(np.asarray(picture).astype(int) - 90).max() <= 2
    assert len(content) < 5000


def test_the_photo_given_is_left_alone():
    photo = noise(50, 70)
    before = photo.copy()
    fit_square(photo, 16), shrink(photo, 16), thumbnail(photo, 16)
    np.testing.assert_array_equal(photo, before)


RED = np.full((10, 20, 3), (255, 0, 0), dtype=np.uint8)
GREY = np.full((30, 10), 90, dtype=np.uint8)


def test_pictures_lie_in_rows_with_their_aspect():
    sheet = contact_sheet([[RED, GREY, RED], [GREY]], ["first", "second"], cell=40)
    assert sheet.dtype == np.uint8
    assert sheet.shape == (2 * (40 + 20) + 4, 3 * 44 + 4, 3)
    reds = (sheet == (255, 0, 0)).all(axis=2)
    greys = (sheet == 90).all(axis=2)
    assert reds.sum() == 2 * 40 * 20
    assert greys.sum() == pytest.approx(2 * 40 * 13, rel=0.1)
    assert np.flatnonzero(reds.any(axis=1)).max() < np.flatnonzero(greys.any(axis=1)).max()


def test_each_row_has_its_caption_written():
    blank = contact_sheet([[RED], [RED]], ["", ""], cell=32)
    written = contact_sheet([[RED], [RED]], ["", "duck"], cell=32)
    rows = np.flatnonzero((blank != written).any(axis=(1, 2)))
    assert len(rows) > 0
    assert rows.min() >= 4 + 52
    assert rows.max() < 4 + 52 + 16


def test_an_empty_sheet_is_a_white_picture():
    assert (contact_sheet([], [], cell=32) == 255).all()


def test_each_row_needs_a_caption():
    with pytest.raises(BadArgument, match="1 rows and 2 captions"):
        contact_sheet([[RED]], ["one", "two"], cell=32)


@pytest.mark.parametrize("pixels", [RED, GREY], ids=["colour", "grey"])
def test_a_png_holds_the_pixels(pixels, tmp_path):
    path = tmp_path / "picture.png"
    path.write_text("an older one")
    write_png(path, pixels)
    with Image.open(path) as picture:
        np.testing.assert_array_equal(np.asarray(picture), pixels)
    assert [entry.name for entry in tmp_path.iterdir()] == ["picture.png"]


def test_a_failed_write_leaves_the_old_picture_and_no_litter(tmp_path):
    path = tmp_path / "picture.png"
    write_png(path, GREY)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_png(path, np.zeros((2, 2, 7), dtype=np.uint8))
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
