import numpy as np
import pytest

from sketchhash.benchmark.contours import Counts, summarise
from sketchhash.benchmark.contours.summary import f_measure


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
