"""Groups around centres: how they are made, kept and searched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.codes import hamming
from sketchhash.index.protocol import Wanted
from sketchhash.index.pruned import (
    GROWTH,
    MOST_CENTRES,
    Group,
    Groups,
    GroupTable,
    PrunedIndex,
    by_number,
    centres_for,
    choose_centres,
    evenly,
)


def test_every_cluster_gets_its_middle(clustered):
    middles = clustered(12, 128, centres=12, flipped=0.0, seed=3)
    middles = np.unique(middles, axis=0)
    noise = np.random.default_rng(0).random((12_000, 128)) < 0.08
    codes = middles[np.arange(12_000) % len(middles)] ^ np.packbits(noise, axis=1)
    centres = choose_centres(codes, len(middles))
    assert hamming(middles, centres).min(axis=1).tolist() == [0] * len(middles)


def test_repeated_codes_give_no_more_centres_than_codes():
    codes = np.repeat(np.arange(3, dtype=np.uint8)[:, None], 50, axis=0)
    assert sorted(choose_centres(codes, 10).ravel().tolist()) == [0, 1, 2]


def test_centres_that_move_to_the_same_place_are_one(clustered):
    centres = choose_centres(clustered(3000, 64, centres=4), 50)
    assert 4 <= len(centres) < 50
    assert len(np.unique(centres, axis=0)) == len(centres)


def test_a_sample_is_evenly_spaced_and_no_larger_than_what_there_is():
    codes = np.arange(101, dtype=np.uint8)[:, None]
    assert evenly(codes, 5).ravel().tolist() == [0, 25, 50, 75, 100]
    assert len(evenly(codes, 500)) == 101


def test_centres_grow_with_the_square_root_up_to_a_limit():
    assert [centres_for(size) for size in (1, 99, 100, 10**9)] == [1, 9, 10, MOST_CENTRES]


NO_IDS = GroupTable(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def row(*values):
    return np.array(values, dtype=np.int64)


def test_an_empty_table_has_no_ids():
    assert NO_IDS.has(row(1, 2)).tolist() == [False, False]
    assert NO_IDS.by_group(row()) == {}


def test_ids_come_sorted_into_their_groups():
    table = NO_IDS.with_ids(row(7, -3, 5), row(1, 0, 1)).with_ids(row(6), row(4))
    assert table.ids.tolist() == [-3, 5, 6, 7]
    assert table.has(row(5, 8, -4, -3)).tolist() == [True, False, False, True]
    assert {number: ids.tolist() for number, ids in table.by_group(row(7, 6, 5)).items()} == {1: [7, 5], 4: [6]}


@given(st.dictionaries(st.integers(-50, 50), st.integers(0, 3)), st.sets(st.integers(-50, 50)))
def test_removed_ids_are_in_no_group_and_the_others_stay_in_theirs(groups_of, leaving):
    table = NO_IDS.with_ids(row(*groups_of), row(*groups_of.values()))
    table = table.without_ids(row(*(leaving & groups_of.keys())))
    assert dict(zip(table.ids.tolist(), table.numbers.tolist(), strict=True)) == {
        number: group for number, group in groups_of.items() if number not in leaving
    }
    assert (np.diff(table.ids) > 0).all()


def test_nothing_has_no_numbers():
    assert by_number(row(), row()) == {}


@pytest.fixture
def groups(clustered):
    codes = clustered(2000, 64)
    return Groups.around(choose_centres(codes, 8), np.arange(2000), codes)


def test_a_group_is_ordered_by_distance_to_the_centre_then_id():
    ids = np.array([8, 1, 5, 3])
    distances = np.array([2, 0, 2, 0], dtype=np.uint16)
    group = Group.of(ids, ids[:, None].astype(np.uint8), distances)
    assert group.rows.ids.tolist() == [1, 3, 5, 8]
    assert group.rows.codes().ravel().tolist() == [1, 3, 5, 8]
    assert group.shells.tolist() == [0, 2, 2, 4, 4, 4, 4, 4, 4, 4]
    assert group.distances().tolist() == [0, 0, 2, 2]


def test_every_code_is_in_the_group_of_a_nearest_centre(groups):
    centres = groups.centres.codes()
    for number, group in enumerate(groups.groups):
        distances = hamming(group.rows.codes(), centres)
        np.testing.assert_array_equal(distances[:, number], distances.min(axis=1))
        np.testing.assert_array_equal(distances[:, number], group.distances())


def test_an_addition_rewrites_only_the_groups_it_concerns(groups):
    more = groups.with_codes(np.array([5000]), groups.centres.codes()[:1])
    assert more.size == groups.size + 1
    rewritten = [old is not new for old, new in zip(groups.groups, more.groups, strict=True)]
    assert rewritten.count(True) == 1


def test_a_removal_rewrites_only_the_groups_it_concerns(groups):
    leaving = groups.groups[2].rows.ids[:3]
    fewer = groups.without_ids(leaving)
    assert fewer.size == groups.size - 3
    assert [old is not new for old, new in zip(groups.groups, fewer.groups, strict=True)].index(True) == 2
    assert not np.isin(leaving, fewer.ids()).any()


def test_most_codes_are_skipped_where_codes_cluster_and_few_where_they_do_not(groups, clustered):
    queries = clustered(20, 64)
    farthest = groups.nearest(queries, Wanted(50, 64)).distances[:, -1]
    assert groups.share_within(queries, farthest) < 0.5

    noise = np.random.default_rng(0).integers(0, 256, (2000, 8), dtype=np.uint8)
    scattered = Groups.around(choose_centres(noise, 8), np.arange(2000), noise)
    farthest = scattered.nearest(noise[:20], Wanted(50, 64)).distances[:, -1]
    assert scattered.share_within(noise[:20], farthest) > 0.9


def test_the_share_within_every_distance_is_all(groups, clustered):
    assert groups.share_within(clustered(3, 64), np.full(3, 64, dtype=np.uint16)) == 1


def test_centres_are_chosen_again_only_after_much_growth(clustered):
    index = PrunedIndex(64)
    codes = clustered(100 * GROWTH + 1, 64)
    ids = np.arange(len(codes))
    index.add(ids[:100], codes[:100])
    centres = index._groups.centres
    index.add(ids[100:-1], codes[100:-1])
    assert index._groups.centres is centres
    index.add(ids[-1:], codes[-1:])
    assert len(index._groups.centres.ids) > len(centres.ids)
    assert len(index) == len(codes)
