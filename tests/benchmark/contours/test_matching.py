import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.benchmark.contours.matching import close_pairs, match


def most_partners(detected, friends):
    """Count partners by trying everything: each detected pixel takes any free friend, or none."""
    if not detected:
        return 0
    first, rest = detected[0], detected[1:]
    without = most_partners(rest, friends)
    return max(
        [without]
        + [
            1 + most_partners(rest, {other: near - {taken} for other, near in friends.items()})
            for taken in friends[first]
        ]
    )


pixels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6, unique=True)


def mask_of(places, shape=(5, 5)):
    mask = np.zeros(shape, dtype=bool)
    for place in places:
        mask[place] = True
    return mask


@given(pixels, pixels, st.floats(0, 3))
def test_as_many_pixels_are_matched_as_trying_everything_can_match(detected, traced, reach):
    pairs = close_pairs(mask_of(detected), mask_of(traced), reach)
    friends = {number: set(pairs[1, pairs[0] == number].tolist()) for number in range(len(detected))}
    matched = match(pairs)
    assert len(set(matched.tolist())) == len(matched)
    assert set(matched.tolist()) <= set(pairs[0].tolist())
    assert len(matched) == most_partners(list(friends), friends)


@given(pixels, pixels, st.floats(0, 3))
def test_pairs_are_exactly_those_within_reach(detected, traced, reach):
    pairs = close_pairs(mask_of(detected), mask_of(traced), reach)
    expected = {
        (i, j)
        for i, (row, column) in enumerate(sorted(detected))
        for j, (other_row, other_column) in enumerate(sorted(traced))
        if np.hypot(row - other_row, column - other_column) <= reach
    }
    assert set(map(tuple, pairs.T.tolist())) == expected
    assert pairs.shape[1] == len(expected)


def test_nothing_matches_nothing():
    empty = np.zeros((4, 6), dtype=bool)
    assert match(close_pairs(empty, ~empty, 2.0)).size == 0
    assert match(close_pairs(~empty, empty, 2.0)).size == 0


def test_a_pixel_gives_way_when_its_neighbour_has_no_other_partner():
    detected, traced = mask_of([(0, 0), (0, 2)], (1, 5)), mask_of([(0, 1), (0, 3)], (1, 5))
    assert sorted(match(close_pairs(detected, traced, 1.0))) == [0, 1]


def test_a_crowd_of_ten_thousand_pixels_is_matched_at_once():
    everywhere = np.ones((100, 100), dtype=bool)
    assert len(match(close_pairs(everywhere, everywhere, 4.5))) == 10_000
