import numpy as np
import pytest

from sketchhash.codes import hamming, pack
from sketchhash.errors import BadArgument
from sketchhash.index import Hits, rerank


def hits_of(codes, values):
    distances = hamming(pack(values[None]), codes)[0]
    order = np.argsort(distances, kind="stable")
    return Hits(order, distances[order])


def test_bits_the_query_is_sure_of_count_more():
    values = np.full(8, 1.0)
    values[0], values[7] = 5.0, 0.1
    codes = np.array([[0b01111111], [0b11111110]], dtype=np.uint8)
    scored = rerank(hits_of(codes, values), codes, values)
    assert scored.ids.tolist() == [1, 0]
    assert scored.distances.tolist() == [1, 1]
    np.testing.assert_allclose(scored.scores, [10.9, 1.1])


def test_values_that_are_only_signs_keep_the_order_of_the_hits():
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], 64).astype(np.float32)
    codes = rng.integers(0, 256, (200, 8), dtype=np.uint8)
    hits = hits_of(codes, signs)
    scored = rerank(hits, codes[hits.ids], signs)
    np.testing.assert_array_equal(scored.ids, hits.ids)
    np.testing.assert_array_equal(scored.scores, 64 - 2.0 * hits.distances)


def test_no_hits_stay_no_hits():
    nothing = Hits(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint16))
    assert rerank(nothing, np.empty((0, 8), dtype=np.uint8), np.ones(64)).ids.tolist() == []


def test_codes_of_other_hits_or_widths_are_refused():
    hits = Hits(np.arange(3), np.zeros(3, dtype=np.uint16))
    for shape in [(2, 8), (3, 4)]:
        with pytest.raises(BadArgument, match="3 hits and 64 values"):
            rerank(hits, np.zeros(shape, dtype=np.uint8), np.ones(64))


def test_fits_decide_among_nearly_equal_codes_only():
    values = np.ones(256)
    codes = np.full((5, 32), 255, dtype=np.uint8)
    codes[1, 0], codes[2, 0], codes[3, :2], codes[4, :2] = 15, 0, 0, 0
    codes[4, 31] = 254
    hits = Hits(np.arange(5), np.array([0, 4, 8, 16, 17], dtype=np.uint16))
    fits = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert rerank(hits, codes, values, fits).ids.tolist() == [2, 1, 0, 4, 3]
    assert rerank(hits, codes, values, -fits).ids.tolist() == [0, 1, 2, 3, 4]
    assert rerank(hits, codes, values, np.zeros(5)).ids.tolist() == [0, 1, 2, 3, 4]


def test_hits_of_many_kinds_keep_their_order_and_equal_codes_their_fits():
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.integers(0, 256, (60, 32), dtype=np.uint8), 2, axis=0)
    values, fits = rng.standard_normal(256), np.tile([0.0, 1.0], 60)
    hits = Hits(np.arange(120), np.zeros(120, dtype=np.uint16))
    plain, shaped = rerank(hits, codes, values), rerank(hits, codes, values, fits)
    np.testing.assert_array_equal(shaped.ids // 2, plain.ids // 2)
    assert (shaped.ids[::2] % 2 == 1).all()
