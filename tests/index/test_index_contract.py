"""Every index of the table keeps the protocol's promises, and finds what the reference finds."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sketchhash.errors import BadArgument
from sketchhash.index import INDEXES

BITS = 16
ENGINES = ("milvus", "pgvector")
every_index = pytest.mark.parametrize("name", [*INDEXES, *ENGINES])


@pytest.fixture
def index(name, make_index):
    return make_index(name, BITS)


def random_codes(count, seed, bits=BITS):
    return np.random.default_rng(seed).integers(0, 256, (count, bits // 8), dtype=np.uint8)


def rows_of(hits):
    return [(distance, number) for distance, number in zip(hits.distances.tolist(), hits.ids.tolist(), strict=True)]


changes = st.lists(
    st.tuples(st.sampled_from(["add", "add", "remove"]), st.integers(0, 150), st.integers(0, 2**32 - 1)), max_size=6
)


@pytest.mark.parametrize("name", INDEXES)
@settings(max_examples=60)
@given(changes, st.sampled_from([8, 32, 128, 264]), st.sampled_from([1, 2, 256]), st.integers(1, 400))
def test_any_history_ends_in_the_hits_of_the_reference(name, assert_same_hits, changes, bits, variety, k):
    follow(INDEXES[name](bits), changes, variety, k, assert_same_hits)


@pytest.mark.parametrize("name", ENGINES)
@settings(max_examples=5, derandomize=True, database=None, phases=[Phase.generate])
@given(changes, st.sampled_from([8, 264]), st.sampled_from([1, 2, 256]), st.integers(1, 400))
def test_so_it_does_on_engines(name, make_index, assert_same_hits, changes, bits, variety, k):
    follow(make_index(name, bits), changes, variety, k, assert_same_hits)


def follow(index, changes, variety, k, assert_same_hits):
    bits, reference = index.bits, INDEXES["reference"](index.bits)
    ids = np.empty(0, dtype=np.int64)
    for change, count, seed in changes:
        rng = np.random.default_rng(seed)
        if change == "add":
            chosen = np.setdiff1d(rng.integers(-500, 500, count), ids)
            rng.shuffle(chosen)
            codes = rng.integers(0, variety, (len(chosen), bits // 8), dtype=np.uint8)
            index.add(chosen, codes)
            reference.add(chosen, codes)
            ids = np.concatenate((ids, chosen))
        else:
            chosen = rng.permutation(ids)[:count]
            index.remove(chosen)
            reference.remove(chosen)
            ids = np.setdiff1d(ids, chosen)
        assert len(index) == len(reference) == len(ids)

    queries = np.random.default_rng(k).integers(0, variety, (5, bits // 8), dtype=np.uint8)
    among = np.arange(-500, 500, 3)
    assert_same_hits(index.search(queries, k), reference.search(queries, k))
    assert_same_hits(index.search(queries, k, among), reference.search(queries, k, among))
    assert_same_hits(index.within(queries, bits // 4), reference.within(queries, bits // 4))


@every_index
def test_hits_are_ordered_by_distance_then_id_whatever_arrived_first(index):
    index.add(np.array([9, -4, 2]), np.array([[0, 1], [0, 0], [0, 1]], dtype=np.uint8))
    index.add(np.array([1]), np.array([[0, 1]], dtype=np.uint8))
    (hits,) = index.search(np.zeros((1, 2), dtype=np.uint8), k=10)
    assert rows_of(hits) == [(0, -4), (1, 1), (1, 2), (1, 9)]


@every_index
def test_ties_at_the_last_place_go_to_the_lowest_ids(index):
    ids = np.random.default_rng(0).permutation(3000)
    index.add(ids, np.zeros((3000, 2), dtype=np.uint8))
    (hits,) = index.search(np.ones((1, 2), dtype=np.uint8), k=100)
    assert rows_of(hits) == [(2, number) for number in range(100)]


@every_index
def test_an_index_without_codes_finds_nothing(index):
    queries = random_codes(3, 0)
    assert [len(hits) for hits in index.search(queries, k=5)] == [0, 0, 0]
    assert [len(hits) for hits in index.within(queries, radius=BITS)] == [0, 0, 0]
    assert len(index) == 0


@every_index
def test_no_queries_give_no_hits(index):
    index.add(np.arange(70), random_codes(70, 0))
    assert index.search(random_codes(0, 0), k=5) == []
    assert index.within(random_codes(0, 0), radius=5) == []


@every_index
def test_a_radius_finds_all_however_many(index):
    index.add(np.arange(5000), random_codes(5000, 0))
    (everything,) = index.within(random_codes(1, 1), radius=BITS)
    assert sorted(everything.ids.tolist()) == list(range(5000))


@every_index
def test_a_radius_beyond_the_width_is_the_width(index):
    index.add(np.arange(3), random_codes(3, 0))
    (everything,) = index.within(random_codes(1, 1), radius=100_000)
    assert len(everything) == 3


@every_index
def test_many_queries_at_once_find_what_each_finds_alone(index, assert_same_hits):
    index.add(np.arange(500), random_codes(500, 0))
    queries = random_codes(131, 1)
    alone = [index.search(query[None], k=7)[0] for query in queries]
    assert_same_hits(index.search(queries, k=7), alone)


@every_index
def test_queries_may_be_a_view_of_something_larger(index, assert_same_hits):
    index.add(np.arange(500), random_codes(500, 0))
    wide = random_codes(20, 1, bits=4 * BITS)
    assert_same_hits(index.search(wide[::2, ::4], k=7), index.search(wide[::2, ::4].copy(), k=7))


@every_index
def test_adding_leaves_its_inputs_alone_and_keeps_no_hold_of_them(index):
    ids, codes = np.array([5, 3, 4]), random_codes(3, 0)
    given_ids, given_codes = ids.copy(), codes.copy()
    index.add(ids, codes)
    np.testing.assert_array_equal(ids, given_ids)
    np.testing.assert_array_equal(codes, given_codes)
    ids[:], codes[:] = 0, 0
    (hits,) = index.search(given_codes[:1], k=1)
    assert rows_of(hits) == [(0, 5)]


@every_index
def test_hits_outlive_later_changes(index):
    index.add(np.arange(100), random_codes(100, 0))
    (hits,) = index.search(random_codes(1, 1), k=10)
    before = rows_of(hits)
    index.remove(np.arange(50))
    index.add(np.arange(200, 300), random_codes(100, 2))
    assert rows_of(hits) == before


@every_index
def test_threads_may_search_together(index, assert_same_hits):
    index.add(np.arange(2000), random_codes(2000, 0))
    queries = random_codes(40, 1)
    alone = index.search(queries, k=20)
    with ThreadPoolExecutor(4) as threads:
        for together in threads.map(lambda _: index.search(queries, k=20), range(8)):
            assert_same_hits(together, alone)


@every_index
def test_what_is_refused_changes_nothing(index):
    index.add(np.arange(10), random_codes(10, 0))
    with pytest.raises(BadArgument, match="Id 9 is in the index already"):
        index.add(np.array([20, 9]), random_codes(2, 1))
    with pytest.raises(BadArgument, match="Id 10 is not in the index"):
        index.remove(np.array([3, 10]))
    with pytest.raises(BadArgument, match="20 is given twice"):
        index.add(np.array([20, 20]), random_codes(2, 1))
    with pytest.raises(BadArgument, match="3 is given twice"):
        index.remove(np.array([3, 3]))
    with pytest.raises(BadArgument, match="2 ids for 3 codes"):
        index.add(np.array([20, 21]), random_codes(3, 1))
    with pytest.raises(BadArgument, match="row of int64"):
        index.add(np.array([0.5]), random_codes(1, 1))
    with pytest.raises(BadArgument, match="codes of 16 bits"):
        index.add(np.array([20]), random_codes(1, 1, bits=8))
    (hits,) = index.search(random_codes(1, 0), k=100)
    assert sorted(hits.ids.tolist()) == list(range(10))


@every_index
def test_searches_that_make_no_sense_are_refused(index):
    with pytest.raises(BadArgument, match="at least one hit"):
        index.search(random_codes(1, 0), k=0)
    with pytest.raises(BadArgument, match="at least 0"):
        index.within(random_codes(1, 0), radius=-1)
    with pytest.raises(BadArgument, match="codes of 16 bits"):
        index.search(random_codes(1, 0, bits=32), k=1)
    with pytest.raises(BadArgument, match="codes of 16 bits"):
        index.within(random_codes(1, 0)[0], radius=1)
    for among in ([2, 1], [1, 1]):
        with pytest.raises(BadArgument, match="ascending"):
            index.search(random_codes(1, 0), k=1, among=np.array(among))


@every_index
@pytest.mark.parametrize("bits", [0, 12, 1032])
def test_widths_that_no_code_has_are_refused(name, make_index, bits):
    with pytest.raises(BadArgument, match="bits"):
        make_index(name, bits)
