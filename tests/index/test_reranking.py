import numpy as np
import pytest

from sketchhash.codes import hamming, pack
from sketchhash.errors import BadArgument
from sketchhash.index import rerank


def test_bits_the_query_is_sure_of_count_more():
    values = np.full(8, 1.0)
    values[0], values[7] = 5.0, 0.1
    ranked = rerank(np.array([0, 1]), np.array([[0b01111111], [0b11111110]], dtype=np.uint8), values)
    assert ranked.ids.tolist() == [1, 0]
    assert ranked.distances.tolist() == [1, 1]
    assert ranked.weighed.tolist() == [1, 63]


def test_values_that_are_only_signs_keep_the_order_of_hamming_distances():
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], 64).astype(np.float32)
    codes = rng.integers(0, 256, (200, 8), dtype=np.uint8)
    distances = hamming(pack(signs[None]), codes)[0]
    ranked = rerank(np.arange(200), codes, signs)
    np.testing.assert_array_equal(ranked.ids, np.argsort(distances, kind="stable"))
    np.testing.assert_array_equal(ranked.distances, np.sort(distances))
    np.testing.assert_array_equal(ranked.weighed, 63 * ranked.distances)


def test_photos_that_agree_equally_well_are_ordered_by_id():
    codes = np.repeat(np.array([[0b10000000], [0b11111111]], dtype=np.uint8), 2, axis=0)
    assert rerank(np.array([9, 2, 7, 5]), codes, np.ones(8)).ids.tolist() == [5, 7, 2, 9]


def test_no_hits_stay_no_hits():
    nothing = np.empty(0, dtype=np.int64)
    assert rerank(nothing, np.empty((0, 8), dtype=np.uint8), np.ones(64)).ids.tolist() == []


def test_codes_of_other_hits_or_widths_are_refused():
    for shape in [(2, 8), (3, 4)]:
        with pytest.raises(BadArgument, match="3 photos and 64 values"):
            rerank(np.arange(3), np.zeros(shape, dtype=np.uint8), np.ones(64))


def test_fits_decide_among_nearly_equal_codes_only():
    values = np.ones(256)
    codes = np.full((5, 32), 255, dtype=np.uint8)
    codes[1, 0], codes[2, 0], codes[3, :2], codes[4, :2] = 15, 0, 0, 0
    codes[4, 31] = 254
    ids = np.arange(5)
    fits = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert rerank(ids, codes, values, fits).ids.tolist() == [2, 1, 0, 4, 3]
    assert rerank(ids, codes, values, -fits).ids.tolist() == [0, 1, 2, 3, 4]
    assert rerank(ids, codes, values, np.zeros(5)).ids.tolist() == [0, 1, 2, 3, 4]


def test_photos_of_many_kinds_keep_their_order_and_equal_codes_follow_their_fits():
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.integers(0, 256, (60, 32), dtype=np.uint8), 2, axis=0)
    values, fits, ids = rng.standard_normal(256), np.tile([0.0, 1.0], 60), np.arange(120)
    plain, shaped = rerank(ids, codes, values), rerank(ids, codes, values, fits)
    np.testing.assert_array_equal(shaped.weighed, plain.weighed)
    places = np.argsort(shaped.ids).reshape(60, 2)
    assert (places[:, 1] < places[:, 0]).all()
