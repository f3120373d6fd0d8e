import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.errors import BadArgument
from sketchhash.imaging.ink import MAX_COORDINATE, MAX_POINTS, MAX_STROKES, Drawing, InkStyle, rasterise


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


SIZE = 96
STYLE = InkStyle(line_width=0.03, margin=0.1)


def drawing_of(*strokes):
    return Drawing(tuple(np.array(stroke, dtype=np.float32) for stroke in strokes))


def moved(drawing, change):
    return Drawing(tuple(change(stroke).astype(np.float32) for stroke in drawing.strokes))


def ink_box(page):
    """Give the first and last row and column with any ink."""
    rows, columns = np.flatnonzero((page < 255).any(axis=1)), np.flatnonzero((page < 255).any(axis=0))
    return rows[0], rows[-1], columns[0], columns[-1]


def assert_same_to_one_level(one, other):
    assert np.abs(one.astype(int) - other.astype(int)).max() <= 1


# Even integers: translation by an integer, scaling by a power of two and halving are exact in float32, so
# that a difference can only come from the rasteriser.
coordinates = st.integers(-500, 500).map(lambda number: 2 * number)
strokes = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8)
drawings = st.lists(strokes, min_size=1, max_size=4).map(lambda many: drawing_of(*many))
quickly = settings(max_examples=60, deadline=None)


@quickly
@given(drawings, st.integers(-10_000, 10_000), st.integers(-10_000, 10_000))
def test_where_it_was_drawn_does_not_matter(drawing, right, down):
    elsewhere = moved(drawing, lambda stroke: stroke + np.float32([right, down]))
    assert_same_to_one_level(rasterise(drawing, SIZE, STYLE), rasterise(elsewhere, SIZE, STYLE))


@quickly
@given(drawings, st.integers(-10, 20))
def test_how_large_it_was_drawn_does_not_matter(drawing, power):
    larger = moved(drawing, lambda stroke: stroke * np.float32(2.0**power))
    assert_same_to_one_level(rasterise(drawing, SIZE, STYLE), rasterise(larger, SIZE, STYLE))


@quickly
@given(drawings)
def test_the_direction_and_order_of_strokes_do_not_matter(drawing):
    backwards = Drawing(tuple(stroke[::-1] for stroke in reversed(drawing.strokes)))
    assert_same_to_one_level(rasterise(drawing, SIZE, STYLE), rasterise(backwards, SIZE, STYLE))


@quickly
@given(drawings)
def test_how_finely_a_stroke_was_sampled_does_not_matter(drawing):
    def split(stroke):
        halfway = (stroke[:-1] + stroke[1:]) / 2
        return np.insert(stroke, np.arange(1, len(stroke)), halfway, axis=0)

    assert_same_to_one_level(rasterise(drawing, SIZE, STYLE), rasterise(moved(drawing, split), SIZE, STYLE))


@quickly
@given(drawings, st.integers(16, 128), st.floats(0, 0.3), st.floats(0.005, 0.2))
def test_ink_stays_inside_the_margin(drawing, size, margin, line_width):
    page = rasterise(drawing, size, InkStyle(line_width, margin))
    top, bottom, left, right = ink_box(page)
    assert page.shape == (size, size)
    assert page.dtype == np.uint8
    # Antialiasing may touch the pixel the margin ends in, and the next when the edge lies near its border.
    outermost = margin * size - 1
    assert min(top, left) >= outermost
    assert max(bottom, right) + 1 <= size - outermost


@quickly
@given(drawings)
def test_ink_is_centred(drawing):
    top, bottom, left, right = ink_box(rasterise(drawing, SIZE, STYLE))
    assert abs(top + bottom - (SIZE - 1)) <= 1
    assert abs(left + right - (SIZE - 1)) <= 1


def test_the_longer_side_reaches_the_margin():
    top, bottom, left, right = ink_box(rasterise(drawing_of([[0, 0], [30, 10]], [[30, 0], [0, 10]]), 100, STYLE))
    assert (left, right) == (10, 89)
    assert bottom - top + 1 == pytest.approx((80 - 3) / 3 + 3, abs=2)


@pytest.mark.parametrize("size", [128, 224])
@pytest.mark.parametrize("line_width", [1 / 100, 1 / 80, 1 / 20])
@pytest.mark.parametrize("end", [[1, 0], [0, 1], [1, 1], [3, 1]])
def test_lines_are_as_wide_as_the_style_says(size, line_width, end):
    page = rasterise(drawing_of([[0, 0], end]), size, InkStyle(line_width, margin=0.1))
    ink = (255 - page.astype(float)).sum() / 255
    width = line_width * size
    length = (0.8 * size - width) * np.hypot(*end) / max(end)
    assert ink == pytest.approx(length * width + np.pi * width**2 / 4, rel=0.04)


def test_a_line_thinner_than_a_pixel_is_grey():
    page = rasterise(drawing_of([[0, 0], [1, 0]]), 51, InkStyle(line_width=0.4 / 51))
    assert page.min() == round(255 * 0.6)


def test_the_thinnest_dot_leaves_a_trace():
    assert rasterise(drawing_of([[0, 0]]), 16, InkStyle(line_width=0.01)).min() < 255


@pytest.mark.parametrize("stroke", [[[3, 4]], [[3, 4], [3, 4]]])
def test_a_dot_is_a_disc_in_the_middle(stroke):
    page = rasterise(drawing_of(stroke), 101, InkStyle(line_width=0.1))
    ink = (255 - page.astype(float)) / 255
    assert page[50, 50] == 0
    assert ink.sum() == pytest.approx(np.pi * 10.1**2 / 4, rel=0.03)
    np.testing.assert_array_equal(page, page.T)
    np.testing.assert_array_equal(page, page[::-1])


def test_a_flat_drawing_is_a_line_through_the_middle():
    lying = rasterise(drawing_of([[0, 5], [40, 5], [90, 5]]), SIZE, STYLE)
    upright = rasterise(drawing_of([[5, 0], [5, 90]]), SIZE, STYLE)
    np.testing.assert_array_equal(lying, upright.T)
    assert (lying[SIZE // 2, SIZE // 4 : -SIZE // 4] == 0).all()


def test_huge_coordinates_are_drawn():
    square = drawing_of([[-3e38, -3e38], [3e38, -3e38], [3e38, 3e38], [-3e38, 3e38], [-3e38, -3e38]])
    small = drawing_of([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    assert_same_to_one_level(rasterise(square, SIZE, STYLE), rasterise(small, SIZE, STYLE))


def test_a_drawing_needs_a_finite_point():
    with pytest.raises(BadArgument, match="no points"):
        rasterise(Drawing(()), SIZE)
    with pytest.raises(BadArgument, match="not finite"):
        rasterise(drawing_of([[0, 0], [np.nan, 1]]), SIZE)


def test_a_picture_needs_a_side():
    with pytest.raises(BadArgument, match="at least one pixel"):
        rasterise(drawing_of([[0, 0]]), 0)


@pytest.mark.parametrize(("line_width", "margin"), [(0, 0.1), (-1, 0), (0.1, -0.1), (0.1, 0.45), (float("nan"), 0)])
def test_a_style_leaves_room_to_draw(line_width, margin):
    with pytest.raises(BadArgument, match="no room to draw"):
        InkStyle(line_width, margin)
