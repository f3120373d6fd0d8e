import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.errors import BadArgument
from sketchhash.evaluation.contours import (
    ContourEvaluation,
    Counts,
    Sweep,
    close_pairs,
    count,
    f_measure,
    match,
    summarise,
)
from sketchhash.tokens import detector
from sketchhash.tokens.training.bsds import TracedPhoto

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


def counts(found, right, traced=100, detected=100):
    steps = len(found)
    return Counts(
        np.array(found), np.full(steps, traced), np.array(right), np.broadcast_to(np.array(detected), (steps,))
    )


def test_a_perfect_detector_scores_one_everywhere():
    perfect = summarise([counts([100, 100], [100, 100])])
    assert (perfect.ods, perfect.ois) == (1, 1)


def test_one_threshold_for_all_is_worse_than_one_a_photo():
    first = counts([100, 0], [100, 0])
    second = counts([0, 100], [0, 100])
    both = summarise([first, second])
    assert both.ods == pytest.approx(0.5)
    assert both.ois == pytest.approx(1.0)


def test_the_best_f_may_lie_between_two_thresholds():
    # Recall 1 with precision 0.2, and the other way round: F is 1/3 at both, and 0.6 in the middle.
    assert summarise([counts([100, 20], [20, 100])]).ods == pytest.approx(0.6)


def test_average_precision_is_the_area_under_the_curve_within_its_reach():
    # Precision falls linearly from 1 at recall 0.2 to 0.5 at recall 0.8.
    area = summarise([counts([80, 20], [50, 100])]).average_precision
    assert area == pytest.approx(0.6 * 0.75, abs=0.01)


def test_photos_count_by_their_pixels():
    large, small = counts([900], [900], traced=1000, detected=1000), counts([0], [0], traced=10, detected=10)
    assert summarise([large, small]).ods == pytest.approx(900 / 1010)


def test_f_is_zero_without_recall_and_precision_and_the_harmonic_mean_otherwise():
    np.testing.assert_allclose(f_measure(np.array([0.0, 1.0, 0.5]), np.array([0.0, 0.5, 0.5])), [0, 2 / 3, 0.5])


SWEEP = Sweep(5, tolerance=0.03)  # the photos are small: two pixels


class Counting:
    """The gradient detector, which remembers how often it was asked."""

    def __init__(self):
        self.gradient = detector("gradient")
        self.name = "counting"
        self.fingerprint = self.gradient.fingerprint
        self.calls = 0

    def detect(self, photo):
        self.calls += 1
        return self.gradient.detect(photo)


@pytest.fixture(scope="module")
def photos():
    made = []
    for number in range(6):  # more than wait in line for two processes
        photo = np.full((48, 64, 3), 40, dtype=np.uint8)
        photo[:, 20 + 4 * number :] = 200
        contours = np.zeros((2, 48, 64), dtype=bool)
        contours[:, :, 20 + 4 * number] = True
        made.append(TracedPhoto(f"{number}", photo, contours))
    return made


def test_counts_come_in_order_are_kept_and_are_not_made_again(photos, tmp_path):
    judged = Counting()
    evaluation = ContourEvaluation(judged, tmp_path / "kept", SWEEP)
    first = list(evaluation.run(photos))
    assert judged.calls == len(photos)
    for photo, counts in zip(photos, first, strict=True):
        alone = count(judged.gradient.detect(photo.photo), photo.contours, SWEEP)
        np.testing.assert_array_equal(counts.found, alone.found)
        np.testing.assert_array_equal(counts.right, alone.right)
    assert sum(counts.found.sum() for counts in first) > 0

    damaged = next((tmp_path / "kept").glob("3-*.npy"))
    damaged.write_bytes(b"\x93NUMPY")
    calls = judged.calls
    again = list(evaluation.run(photos))
    assert judged.calls == calls + 1
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.detected, other.detected)
        np.testing.assert_array_equal(one.traced, other.traced)


def test_counts_are_kept_apart_by_detector_sweep_photo_and_tracings(photos, tmp_path):
    judged, other = Counting(), Counting()
    other.fingerprint = "other"
    photo = photos[0]
    less = TracedPhoto(photo.id, photo.photo, photo.contours[:1])
    darker = TracedPhoto(photo.id, photo.photo // 2, photo.contours)
    paths = {
        ContourEvaluation(judged, tmp_path)._path(photo),
        ContourEvaluation(judged, tmp_path)._path(less),
        ContourEvaluation(judged, tmp_path)._path(darker),
        ContourEvaluation(judged, tmp_path, Sweep(5))._path(photo),
        ContourEvaluation(other, tmp_path)._path(photo),
    }
    assert len(paths) == 5
