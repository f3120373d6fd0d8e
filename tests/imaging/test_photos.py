import io

import numpy as np
import pytest
from PIL import Image

from sketchhash.imaging.photos import fit_square, shrink, thumbnail


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
