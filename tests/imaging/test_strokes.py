import json

import numpy as np
import pytest

from sketchhash.errors import BadArgument
from sketchhash.imaging.strokes import MAX_COORDINATE, MAX_POINTS, MAX_STROKES, Drawing


def test_strokes_survive_json():
    drawing = Drawing((np.array([[0, 1], [2.5, -3]], dtype=np.float32), np.array([[7, 7]], dtype=np.float32)))
    again = Drawing.from_json(json.loads(json.dumps(drawing.to_json())))
    assert len(again.strokes) == 2
    for before, after in zip(drawing.strokes, again.strokes, strict=True):
        assert after.dtype == np.float32
        np.testing.assert_array_equal(before, after)


def test_strokes_without_points_are_left_out():
    assert Drawing.from_json([[], [[1, 2]], []]).to_json() == [[[1.0, 2.0]]]


@pytest.mark.parametrize("value", [None, {}, "strokes", 3, {"strokes": []}])
def test_a_drawing_is_a_list(value):
    with pytest.raises(BadArgument, match="list of strokes"):
        Drawing.from_json(value)


@pytest.mark.parametrize("value", [[], [[]], [[], []]])
def test_a_drawing_has_a_point(value):
    with pytest.raises(BadArgument, match="no points"):
        Drawing.from_json(value)


def test_a_stroke_is_a_list():
    with pytest.raises(BadArgument, match="Stroke 2 is not a list of points"):
        Drawing.from_json([[[1, 2]], "line"])


@pytest.mark.parametrize(
    "point",
    [
        [1],
        [1, 2, 3],
        7,
        None,
        "12",
        ["1", "2"],
        [True, 2],
        [None, 2],
        [[1], 2],
        {"x": 1, "y": 2},
        [float("nan"), 0],
        [float("inf"), 0],
        [0, 10**400],
        [0, -2 * MAX_COORDINATE],
    ],
)
def test_a_point_is_two_finite_numbers(point):
    with pytest.raises(BadArgument, match="Stroke 1 holds something that is not a point"):
        Drawing.from_json([[[0, 0], point]])


def test_the_number_of_points_is_limited():
    stroke = [[0, 0]] * MAX_POINTS
    assert len(Drawing.from_json([stroke]).strokes[0]) == MAX_POINTS
    with pytest.raises(BadArgument, match="20,000 points, this one has 20,001"):
        Drawing.from_json([stroke, [[1, 1]]])


def test_the_number_of_strokes_is_limited():
    with pytest.raises(BadArgument, match="2,000 strokes, this one has 2,001"):
        Drawing.from_json([[[0, 0]]] * (MAX_STROKES + 1))
