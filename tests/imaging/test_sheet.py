import numpy as np
import pytest
from PIL import Image

from sketchhash.errors import BadArgument
from sketchhash.imaging.sheet import contact_sheet, write_png

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
