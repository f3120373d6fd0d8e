import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sketchhash.tokens.components import components, touching, without_specks

masks = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=14))


def flood_fill(mask):
    """The first pixel of each ink pixel's component, one pixel at a time."""
    label = np.full(mask.shape, -1)
    for number, start in enumerate(zip(*np.nonzero(mask), strict=True)):
        reached = [start]
        while reached:
            row, column = reached.pop()
            if label[row, column] >= 0:
                continue
            label[row, column] = number
            around = np.argwhere(mask[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2])
            reached += [(max(row - 1, 0) + down, max(column - 1, 0) + right) for down, right in around]
    return label[mask]


@given(masks)
def test_labels_agree_with_a_flood_fill(mask):
    np.testing.assert_array_equal(components(mask), flood_fill(mask))


@given(masks, st.integers(0, 12))
def test_specks_go_and_large_components_stay(mask, fewest):
    label = flood_fill(mask)
    expected = [np.count_nonzero(label == own) >= fewest for own in label]
    kept = without_specks(mask, fewest)
    np.testing.assert_array_equal(kept[mask], expected)
    assert not kept[~mask].any()


@given(masks)
def test_pixels_touch_when_they_are_at_most_one_step_apart(mask):
    ink = np.argwhere(mask)
    steps = np.abs(ink[:, None] - ink[None]).max(axis=2)
    expected = {(a, b) for a, b in np.argwhere(steps == 1) if a < b}
    pairs = [tuple(sorted(pair)) for pair in touching(mask).T]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected


def test_a_line_that_winds_through_the_whole_picture_is_one_component():
    snake = np.zeros((99, 99), dtype=np.bool_)
    snake[::2] = True
    snake[1::4, -1] = True
    snake[3::4, 0] = True
    assert not components(snake).any()
