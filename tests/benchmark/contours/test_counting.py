import numpy as np
import pytest

from sketchhash.benchmark.contours import Counts, Sweep, count
from sketchhash.errors import BadArgument

SIDE = 100  # the diagonal is 141.4 pixels, so the standard tolerance reaches 1.06
ROWS = slice(10, 90)  # away from the border, where scores fade out


def vertical_line(*columns, score=1.0):
    picture = np.zeros((SIDE, SIDE), dtype=np.float32)
    for column in columns:
        picture[ROWS, column] = score
    return picture


def traced(*lines):
    return np.stack([line > 0 for line in lines])


def test_a_perfect_detection_finds_everything_and_is_all_right():
    counts = count(vertical_line(50), traced(vertical_line(50)), Sweep(9))
    np.testing.assert_array_equal(counts.recall, 1)
    np.testing.assert_array_equal(counts.precision, 1)


def test_a_line_one_pixel_off_is_right_and_one_two_pixels_off_is_not():
    near = count(vertical_line(51), traced(vertical_line(50)), Sweep(3))
    far = count(vertical_line(52), traced(vertical_line(50)), Sweep(3))
    assert (near.found.tolist(), near.right.tolist()) == ([80] * 3, [80] * 3)
    assert (far.found.tolist(), far.right.tolist()) == ([0] * 3, [0] * 3)


def test_the_tolerance_is_a_share_of_the_diagonal():
    wide = Sweep(3, tolerance=0.015)
    assert count(vertical_line(52), traced(vertical_line(50)), wide).found.tolist() == [80] * 3


def test_a_line_seen_twice_is_right_once():
    counts = count(vertical_line(48, 52), traced(vertical_line(50)), Sweep(3, tolerance=0.015))
    np.testing.assert_array_equal(counts.recall, 1)
    np.testing.assert_array_equal(counts.precision, 0.5)


def test_what_one_of_two_annotators_traced_is_right_but_only_half_of_what_there_is():
    counts = count(vertical_line(30), traced(vertical_line(30), vertical_line(70)), Sweep(3))
    np.testing.assert_array_equal(counts.precision, 1)
    np.testing.assert_array_equal(counts.recall, 0.5)


def test_what_both_annotators_traced_is_counted_twice_as_found_and_once_as_right():
    counts = count(vertical_line(30), traced(vertical_line(30), vertical_line(30)), Sweep(1))
    assert (counts.found[0], counts.traced[0], counts.right[0], counts.detected[0]) == (160, 160, 80, 80)


def test_faint_lines_are_gone_above_their_score():
    scores = vertical_line(30, score=0.4) + vertical_line(70, score=0.8)
    counts = count(scores, traced(vertical_line(30, 70)), Sweep(3))  # thresholds 0.25, 0.5 and 0.75
    assert counts.detected.tolist() == [160, 80, 80]
    assert counts.recall.tolist() == [1.0, 0.5, 0.5]


def test_the_corners_of_a_staircase_are_thinned_away():
    stairs = np.zeros((SIDE, SIDE), dtype=np.float32)
    steps = np.arange(20, 80)
    stairs[steps, steps] = stairs[steps, steps + 1] = 1
    diagonal = np.zeros_like(stairs)
    diagonal[steps, steps] = 1
    counts = count(stairs, traced(diagonal), Sweep(1))
    assert counts.detected[0] < 70
    assert counts.precision[0] > 0.9


def test_blank_scores_and_blank_tracings_count_as_zero():
    blank = np.zeros((SIDE, SIDE), dtype=np.float32)
    assert count(blank, traced(vertical_line(50)), Sweep(3)).precision.tolist() == [0, 0, 0]
    assert count(vertical_line(50), traced(blank), Sweep(3)).recall.tolist() == [0, 0, 0]


def test_the_standard_has_99_thresholds_from_a_hundredth_on():
    thresholds = Sweep().thresholds
    assert len(thresholds) == 99
    assert (thresholds[0], thresholds[-1]) == (0.01, 0.99)


def test_a_sweep_without_thresholds_is_refused():
    with pytest.raises(BadArgument, match="at least 1 threshold"):
        Sweep(0)


def test_totals_add_photo_by_photo():
    one = Counts(*(np.array([number, 10 * number]) for number in (1, 2, 3, 4)))
    total = Counts.total([one, one, one])
    assert [total.found.tolist(), total.detected.tolist()] == [[3, 30], [12, 120]]
    assert [total.traced.tolist(), total.right.tolist()] == [[6, 60], [9, 90]]
