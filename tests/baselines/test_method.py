import numpy as np
import pytest

from sketchhash.baselines import Views
from sketchhash.errors import BadArgument


def test_pairs_share_their_category_and_skip_what_one_view_lacks():
    views = Views(np.zeros((4, 1)), np.array([0, 0, 1, 2]), np.zeros((3, 1)), np.array([0, 1, 3]))
    photo_rows, sketch_rows = views.pairs(5, np.random.default_rng(0))
    assert (views.photo_labels[photo_rows] == views.sketch_labels[sketch_rows]).all()
    assert set(views.photo_labels[photo_rows]) == {0, 1}


def test_views_without_a_common_category_give_no_pairs():
    views = Views(np.zeros((2, 1)), np.array([0, 0]), np.zeros((2, 1)), np.array([1, 1]))
    with pytest.raises(BadArgument, match="No category"):
        views.pairs(5, np.random.default_rng(0))


@pytest.mark.parametrize(
    "given", [[np.zeros((8, 8), np.uint8)], np.zeros((2, 8, 8), np.uint8), np.zeros((2, 8), np.uint8), np.zeros(8)]
)
def test_pictures_are_not_taken_for_features(given):
    with pytest.raises(BadArgument, match="features"):
        _ = Views(given, np.zeros(2), np.zeros((2, 3)), np.zeros(2)).matrices


def test_a_feature_that_is_no_number_is_refused():
    with pytest.raises(BadArgument, match="not a number"):
        _ = Views(np.array([[np.nan]]), np.zeros(1), np.zeros((1, 1)), np.zeros(1)).matrices
