"""Weights of bits: their rule, and searches by them, with every kernel and without."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sketchhash.codes import hamming, pack, unpack
from sketchhash.errors import BadArgument
from sketchhash.index import INDEXES
from sketchhash.index.kernel import Level, Rows, levels, nearest
from sketchhash.index.protocol import Hits, Wanted
from sketchhash.index.pruned import Groups
from sketchhash.index.weighing import HEAVIEST, weigh, weighed_distances

every_level = pytest.mark.parametrize(
    "level",
    [
        pytest.param(level, marks=pytest.mark.skipif(level not in levels(), reason="not on this processor"))
        for level in Level
    ],
)


@given(arrays(np.float32, (3, 8), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_weights_are_in_proportion_to_the_values(values):
    weights = weigh(values)
    sizes = np.abs(values.astype(np.float64))
    for own, size in zip(weights.astype(np.float64), sizes, strict=True):
        share = size / size.max() if size.max() > 0 else size
        assert np.abs(own - HEAVIEST * share).max() <= 0.5
        assert own.max() == (HEAVIEST if size.max() > 0 else 0)


def test_the_order_is_that_of_the_product_with_the_values_but_for_what_rounding_leaves_open():
    rng = np.random.default_rng(0)
    values, codes = rng.standard_normal((1, 256)), rng.integers(0, 256, (500, 32), dtype=np.uint8)
    (weights,) = weigh(values)
    weighed = weighed_distances(pack(values)[0], weights, codes).astype(np.float64)
    products = unpack(codes) @ values[0]
    exact = HEAVIEST / np.abs(values).max() * (np.abs(values).sum() - products) / 2
    assert np.abs(weighed - exact).max() <= hamming(pack(values), codes).max() / 2


@st.composite
def galleries(draw):
    """Ids, codes, values and a number of hits: few distinct codes or many, all kinds of values."""
    size, width = draw(st.integers(0, 300)), draw(st.sampled_from([1, 3, 8, 32, 33, 128]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ids = rng.permutation(5 * size)[:size].astype(np.int64) - size
    codes = rng.integers(0, draw(st.sampled_from([1, 2, 256])), (size, width), dtype=np.uint8)
    values = rng.standard_normal((draw(st.integers(1, 9)), 8 * width))
    values[0] = draw(st.sampled_from([0.0, 1.0, -1.0]))  # nothing weighs anything; all weighs most
    if size:
        values[-1] = -50 * unpack(codes[-1:])[0]
    return ids, codes, values, draw(st.integers(1, 400))


def plainly(ids, codes, values, k):
    """Find hits by sorting weights that are summed up bit by bit."""
    found = []
    for query, weights in zip(values, weigh(values).astype(np.int64), strict=True):
        differs = unpack(codes) != np.where(query >= 0, 1, -1)
        distances = np.where(differs, weights, 0).sum(axis=1)
        order = np.lexsort((ids, distances))[:k]
        found.append(Hits(ids[order], distances[order].astype(np.uint16)))
    return found


@every_level
@settings(max_examples=60)
@given(galleries(), st.integers(1, 9))
def test_rows_and_groups_are_searched_exactly(level, assert_same_hits, gallery, centres):
    ids, codes, values, k = gallery
    wanted = Wanted(min(k, len(ids)), HEAVIEST * values.shape[1], weigh(values))
    right, order = plainly(ids, codes, values, k), np.argsort(ids)
    assert_same_hits(nearest(Rows.of(ids[order], codes[order]), pack(values), wanted, level).hits(), right)
    around = np.random.default_rng(centres).integers(0, 256, (centres, codes.shape[1]), np.uint8)
    assert_same_hits(Groups.around(around, ids, codes).nearest(pack(values), wanted, level).hits(), right)


@every_level
@pytest.mark.parametrize("bits", [64, 256, 1024])
def test_large_clustered_galleries_agree(level, bits, clustered, assert_same_hits):
    codes = clustered(4_000, bits, centres=20)
    values = np.random.default_rng(1).exponential(size=(9, bits)) * unpack(codes[:9])
    wanted = Wanted(100, HEAVIEST * bits, weigh(values))
    ids = np.arange(len(codes))
    right = plainly(ids, codes, values, 100)
    assert_same_hits(nearest(Rows.of(ids, codes), pack(values), wanted, level).hits(), right)
    assert_same_hits(Groups.around(codes[:40], ids, codes).nearest(pack(values), wanted, level).hits(), right)


@pytest.mark.parametrize("name", INDEXES)
@settings(max_examples=30)
@given(galleries())
def test_every_index_finds_the_same_with_the_kernel_and_without(name, assert_same_hits, gallery):
    ids, codes, values, k = gallery
    index = INDEXES[name](values.shape[1])
    index.add(ids, codes)
    among = np.sort(ids[::3])
    right, right_among = plainly(ids, codes, values, k), plainly(ids[::3], codes[::3], values, k)
    assert_same_hits(index.search_by_values(values, k), right)
    assert_same_hits(index.search_by_values(values, k, among), right_among)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sketchhash.index.pruned.hamming_kernel", lambda: None)
        patch.setattr("sketchhash.index.kernel.hamming_kernel", lambda: None)
        assert_same_hits(index.search_by_values(values, k), right)
        assert_same_hits(index.search_by_values(values, k, among), right_among)


@pytest.mark.parametrize("name", INDEXES)
def test_signs_alone_are_searched_as_by_hamming_distance(name, clustered):
    codes = clustered(300, 64)
    index = INDEXES[name](64)
    index.add(np.arange(300), codes)
    (by_values,), (by_code,) = index.search_by_values(unpack(codes[:1]), 50), index.search(codes[:1], 50)
    np.testing.assert_array_equal(by_values.ids, by_code.ids)
    np.testing.assert_array_equal(by_values.distances, HEAVIEST * by_code.distances)


@pytest.mark.parametrize("name", INDEXES)
def test_values_that_are_no_query_are_refused(name):
    index = INDEXES[name](16)
    for values, message in [
        (np.ones(16), "16 bits"),
        (np.ones((1, 8)), "16 bits"),
        (np.full((1, 16), np.nan), "not a finite number"),
        (np.full((1, 16), np.inf), "not a finite number"),
    ]:
        with pytest.raises(BadArgument, match=message):
            index.search_by_values(values, 1)
    with pytest.raises(BadArgument, match="at least one hit"):
        index.search_by_values(np.ones((1, 16)), 0)
