import numpy as np
import pytest

from sketchhash.codes import hamming
from sketchhash.index.centres import choose_centres
from sketchhash.index.groups import Group, Groups
from sketchhash.index.hits import Wanted
from sketchhash.index.pruned import GROWTH, PrunedIndex


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
