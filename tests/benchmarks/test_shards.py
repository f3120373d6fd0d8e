"""Shards find what one index with all of their codes finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_galleries import ClusteredCodes
from shards import CODES, IDS, ShardedIndex, open_shard, write_shard
from sketchhash.errors import BadArgument, DamagedState
from sketchhash.index.kernel import Rows
from sketchhash.index.scan import ScanIndex


def some_codes(size, bits):
    return ClusteredCodes(bits).some(0, size)


def assert_same_hits(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.distances, other.distances)


@given(st.lists(st.integers(0, 200), min_size=1, max_size=5), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_any_division_finds_the_hits_of_one_index(sizes, k, seed):
    rng = np.random.default_rng(seed)
    ids = rng.permutation(sum(sizes)) * 7 - 100
    codes = rng.integers(0, 4, (len(ids), 3), dtype=np.uint8)  # many are equal
    queries = rng.integers(0, 4, (4, 3), dtype=np.uint8)
    whole = ScanIndex(24)
    whole.add(ids, codes)
    shards = []
    for some in np.split(np.arange(len(ids)), np.cumsum(sizes)[:-1]):
        order = some[np.argsort(ids[some])]
        shards.append(Rows.of(ids[order], codes[order]))
    sharded = ShardedIndex(24, shards)
    assert len(sharded) == len(whole)
    assert_same_hits(sharded.search(queries, k), whole.search(queries, k))
    assert_same_hits(sharded.within(queries, 3), whole.within(queries, 3))


@pytest.mark.parametrize("threads", [1, 3])
def test_shards_on_disk_find_the_hits_of_one_index(tmp_path, threads):
    codes = some_codes(1000, 64)
    ids = np.random.default_rng(1).permutation(1000)
    for number, some in enumerate(np.array_split(np.arange(1000), 7)):
        write_shard(tmp_path, f"{number:02}", ids[some], codes[some])
    whole = ScanIndex(64)
    whole.add(ids, codes)
    sharded = ShardedIndex.open(tmp_path, threads)
    assert (len(sharded), sharded.bits) == (1000, 64)
    assert_same_hits(sharded.search(codes[:40], 30), whole.search(codes[:40], 30))


def test_a_shard_is_mapped_and_its_codes_start_at_a_cache_line(tmp_path):
    write_shard(tmp_path, "a", np.arange(100), some_codes(100, 64))
    rows = open_shard(tmp_path, "a")
    assert isinstance(rows.blocks, np.memmap)
    assert isinstance(rows.ids, np.memmap)
    assert rows.blocks.ctypes.data % 64 == 0


def test_a_folder_without_shards_and_shards_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(BadArgument, match="no shards"):
        ShardedIndex.open(tmp_path)
    write_shard(tmp_path, "a", np.arange(10), some_codes(10, 64))
    write_shard(tmp_path, "b", np.arange(10, 20), some_codes(10, 32))
    with pytest.raises(BadArgument, match="32 bits beside others of 64"):
        ShardedIndex.open(tmp_path)
    write_shard(tmp_path, "b", np.arange(10, 200), some_codes(190, 64))
    (tmp_path / f"b{IDS}").write_bytes((tmp_path / f"a{IDS}").read_bytes())
    with pytest.raises(DamagedState, match="Write it again"):
        ShardedIndex.open(tmp_path)
    assert (tmp_path / f"a{CODES}").exists()
