import numpy as np
import pytest

from code_galleries import CENTRES, QUERIES, clustered_gallery, random_gallery, stored_gallery
from sketchhash.codes import hamming
from sketchhash.errors import BadArgument


@pytest.mark.parametrize("make", [random_gallery, clustered_gallery])
def test_galleries_have_the_size_asked_for(make):
    gallery = make(700, 32, np.random.default_rng(0))
    assert gallery.codes.shape == (700, 4)
    assert gallery.queries.shape == (QUERIES, 4)
    assert (gallery.size, gallery.bits) == (700, 32)
    assert gallery.read_seconds > 0


@pytest.mark.parametrize("make", [random_gallery, clustered_gallery])
def test_widths_that_no_code_has_are_refused(make):
    with pytest.raises(BadArgument, match="12"):
        make(10, 12, np.random.default_rng(0))


def test_clustered_codes_differ_from_their_centre_in_5_to_10_percent_of_the_bits():
    bits = 256  # so many that no code is nearer to another centre
    centres = np.random.default_rng(3).integers(0, 256, (CENTRES, bits // 8), dtype=np.uint8)
    gallery = clustered_gallery(4000, bits, np.random.default_rng(3))
    to_centre = hamming(gallery.codes, centres).min(axis=1) / bits
    assert 0.05 < to_centre[::2].mean() < to_centre[1::2].mean() < 0.10


def test_a_stored_gallery_is_searched_for_its_own_photos(monkeypatch, tmp_path):
    codes = np.random.default_rng(0).integers(0, 256, (50, 32), dtype=np.uint8)
    _pretend_to_store(monkeypatch, codes)
    gallery = stored_gallery(tmp_path, np.random.default_rng(1))
    np.testing.assert_array_equal(gallery.codes, codes)
    assert 0 < hamming(gallery.queries, codes).min(axis=1).mean() < 0.1 * 256


def test_an_empty_stored_gallery_is_refused(monkeypatch, tmp_path):
    _pretend_to_store(monkeypatch, np.empty((0, 32), dtype=np.uint8))
    with pytest.raises(BadArgument, match="holds no photos"):
        stored_gallery(tmp_path, np.random.default_rng(1))


def _pretend_to_store(monkeypatch, codes):
    class Opened:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def read_codes(self):
            return np.arange(len(codes)), codes

    monkeypatch.setattr("code_galleries.GalleryFile.open", lambda path: Opened())
