import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.index.homes import Homes, by_number

NOBODY = Homes(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def row(*values):
    return np.array(values, dtype=np.int64)


def test_nobody_has_a_home_at_first():
    assert NOBODY.has(row(1, 2)).tolist() == [False, False]
    assert NOBODY.by_group(row()) == {}


def test_ids_come_sorted_into_their_groups():
    homes = NOBODY.with_ids(row(7, -3, 5), row(1, 0, 1)).with_ids(row(6), row(4))
    assert homes.ids.tolist() == [-3, 5, 6, 7]
    assert homes.has(row(5, 8, -4, -3)).tolist() == [True, False, False, True]
    assert {number: ids.tolist() for number, ids in homes.by_group(row(7, 6, 5)).items()} == {1: [7, 5], 4: [6]}


@given(st.dictionaries(st.integers(-50, 50), st.integers(0, 3)), st.sets(st.integers(-50, 50)))
def test_who_leaves_has_no_home_and_who_stays_keeps_it(homes_of, leaving):
    homes = NOBODY.with_ids(row(*homes_of), row(*homes_of.values()))
    homes = homes.without_ids(row(*(leaving & homes_of.keys())))
    assert dict(zip(homes.ids.tolist(), homes.numbers.tolist(), strict=True)) == {
        number: home for number, home in homes_of.items() if number not in leaving
    }
    assert (np.diff(homes.ids) > 0).all()


def test_nothing_has_no_numbers():
    assert by_number(row(), row()) == {}
