"""Codes in blocks, and the search for the nearest rows, with the kernel and without."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.codes import hamming
from sketchhash.index import kernel as nearest_module
from sketchhash.index.kernel import (
    BLOCK,
    Level,
    Rows,
    all_within,
    blocks_for,
    empty_blocks,
    hamming_kernel,
    levels,
    nearest,
)
from sketchhash.index.protocol import Wanted
from sketchhash.index.pruned import Groups

sizes = st.integers(0, 3 * BLOCK)
narrow = st.integers(1, 20)


def random_rows(size, width):
    codes = np.random.default_rng(size).integers(0, 256, (size, width), dtype=np.uint8)
    return codes, Rows.of(np.arange(size), codes)


@given(sizes, narrow, st.data())
def test_codes_come_back_as_they_were(size, width, data):
    codes, rows = random_rows(size, width)
    first = data.draw(st.integers(0, size))
    np.testing.assert_array_equal(rows.codes(), codes)
    np.testing.assert_array_equal(rows.codes(first), codes[first:])
    some = np.random.default_rng(first).permutation(size)[:first]
    np.testing.assert_array_equal(rows.codes_at(some), codes[some])


@given(sizes, narrow)
def test_distances_are_those_of_packed_codes(size, width):
    codes, rows = random_rows(size, width)
    query = np.arange(width, dtype=np.uint8)
    np.testing.assert_array_equal(rows.distances(query), hamming(query[None], codes)[0])


def test_a_plane_holds_one_byte_of_each_code_and_zeros_after_the_last():
    rows = Rows.of(np.arange(2), np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint8))
    assert rows.blocks.shape == (1, 3, BLOCK)
    assert rows.blocks[0, :, :3].tolist() == [[1, 4, 0], [2, 5, 0], [3, 6, 0]]
    assert not rows.blocks[0, :, 2:].any()


@given(st.integers(1, 5), narrow)
def test_blocks_start_at_a_cache_line(count, width):
    blocks = empty_blocks(count, width)
    assert blocks.shape == (count, width, BLOCK)
    assert blocks.ctypes.data % BLOCK == 0


def test_blocks_are_counted_up():
    assert [blocks_for(rows) for rows in (0, 1, BLOCK, BLOCK + 1)] == [0, 1, 1, 2]


every_level = pytest.mark.parametrize(
    "level",
    [
        pytest.param(level, marks=pytest.mark.skipif(level not in levels(), reason="not on this processor"))
        for level in Level
    ],
)
widths = st.sampled_from([4, 8, 16, 32]) | st.integers(1, 40) | st.just(128)
# How many values a byte takes: with one all codes are equal, with two most distances tie.
varieties = st.sampled_from([1, 2, 256])


@st.composite
def galleries(draw):
    """Ids, codes and queries: few distinct codes or many, and a query that is opposite to a code."""
    size, width, variety = draw(st.integers(0, 700)), draw(widths), draw(varieties)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ids = rng.permutation(5 * size)[:size].astype(np.int64) - size
    codes = rng.integers(0, variety, (size, width), dtype=np.uint8)
    queries = rng.integers(0, variety, (draw(st.integers(1, 9)), width), dtype=np.uint8)
    if size:
        queries[-1] = ~codes[-1]
    return ids, codes, queries


def wanted_from(draw, size, bits):
    return Wanted(min(draw(st.integers(1, 900)), size), draw(st.just(bits) | st.integers(0, bits)))


@every_level
@settings(max_examples=150)
@given(galleries(), st.data())
def test_rows_are_searched_exactly(level, expected, assert_same_hits, gallery, data):
    ids, codes, queries = gallery
    wanted = wanted_from(data.draw, len(ids), codes.shape[1] * 8)
    order = np.argsort(ids)
    found = nearest(Rows.of(ids[order], codes[order]), queries, wanted, level)
    assert_same_hits(found.hits(), [expected(ids, codes, query, wanted.k, wanted.radius) for query in queries])


@every_level
@settings(max_examples=150)
@given(galleries(), st.data())
def test_groups_are_searched_exactly(level, expected, assert_same_hits, gallery, data):
    ids, codes, queries = gallery
    wanted = wanted_from(data.draw, len(ids), codes.shape[1] * 8)
    centres = np.random.default_rng(len(ids)).integers(0, 256, (data.draw(st.integers(1, 9)), codes.shape[1]), np.uint8)
    found = Groups.around(centres, ids, codes).nearest(queries, wanted, level)
    assert_same_hits(found.hits(), [expected(ids, codes, query, wanted.k, wanted.radius) for query in queries])


@every_level
@pytest.mark.parametrize("bits", [248, 256, 264, 1024])
def test_the_farthest_distances_are_counted_in_full(level, bits):
    codes = np.full((3, bits // 8), 255, dtype=np.uint8)
    codes[1, 0] = 254
    found = nearest(Rows.of(np.arange(3), codes), np.zeros((1, bits // 8), np.uint8), Wanted(3, bits), level)
    assert found.ids.tolist() == [[1, 0, 2]]
    assert found.distances.tolist() == [[bits - 1, bits, bits]]


@every_level
@pytest.mark.parametrize("bits", [32, 64, 128, 256, 512])
def test_large_clustered_galleries_agree(level, bits, clustered, expected, assert_same_hits):
    codes = clustered(20_000 + 6, bits, centres=20)
    queries, codes = codes[:6], codes[6:]
    ids = np.arange(len(codes))
    wanted = Wanted(100, bits)
    right = [expected(ids, codes, query, 100, bits) for query in queries]
    assert_same_hits(nearest(Rows.of(ids, codes), queries, wanted, level).hits(), right)
    assert_same_hits(Groups.around(codes[:40], ids, codes).nearest(queries, wanted, level).hits(), right)


@every_level
def test_codes_that_come_nearer_and_nearer_do_not_overflow(level):
    steps = np.triu(np.ones((64, 64), dtype=np.bool_))
    codes = np.packbits(np.repeat(steps, 200, axis=0), axis=1)
    found = nearest(Rows.of(np.arange(len(codes)), codes), np.zeros((1, 8), np.uint8), Wanted(150, 64), level)
    assert found.ids.tolist() == [list(range(len(codes) - 200, len(codes) - 50))]
    assert set(found.distances.ravel().tolist()) == {1}


def test_numpy_finds_the_same_where_there_is_no_kernel(monkeypatch, clustered, assert_same_hits):
    codes = clustered(700, 64)
    ids = np.random.default_rng(1).permutation(700)
    groups, rows = Groups.around(codes[:4], ids, codes), Rows.of(np.arange(700), codes)
    searches = [
        lambda: groups.nearest(codes[:9], Wanted(50, 20)).hits(),
        lambda: nearest(rows, codes[:9], Wanted(50, 20)).hits(),
    ]
    native = [search() for search in searches]
    monkeypatch.setattr("sketchhash.index.pruned.hamming_kernel", lambda: None)
    monkeypatch.setattr("sketchhash.index.kernel.hamming_kernel", lambda: None)
    for search, hits in zip(searches, native, strict=True):
        assert_same_hits(search(), hits)


@pytest.mark.skipif(hamming_kernel() is None, reason="the kernel was not built")
def test_every_processor_has_the_portable_level():
    assert levels()[0] is Level.PORTABLE
    assert list(levels()) == sorted(levels())


def test_only_searches_without_enough_room_are_repeated(monkeypatch):
    monkeypatch.setattr(nearest_module, "FIRST_ROOM", 4)
    codes = np.zeros((100, 1), dtype=np.uint8)
    codes[:3] = 255
    rows = Rows.of(np.arange(100), codes)
    asked = []

    def find(queries, wanted):
        asked.append((len(queries), wanted.k))
        return nearest(rows, queries, wanted)

    hits = all_within(find, np.array([[255], [0]], dtype=np.uint8), radius=0, size=100)
    assert [len(some) for some in hits] == [3, 97]
    assert asked == [(2, 4), (1, 64), (1, 100)]
