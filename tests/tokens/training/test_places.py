import numpy as np

from sketchhash.tokens.channels import RADIUS
from sketchhash.tokens.training import TracedPhoto
from sketchhash.tokens.training.places import background_pixels, contour_places


def traced(*contours):
    stack = np.stack(contours)
    return TracedPhoto("traced", np.zeros((*stack.shape[1:], 3), dtype=np.uint8), stack)


def blank(height=50, width=60):
    return np.zeros((height, width), dtype=np.bool_)


def test_contours_are_listed_for_each_annotator_in_order():
    first, second = blank(), blank()
    first[20, 30] = first[21, 25] = second[20, 30] = True
    places = contour_places([traced(blank()), traced(first, second)])
    assert places.tolist() == [[1, 0, 20, 30], [1, 0, 21, 25], [1, 1, 20, 30]]


def test_contours_whose_patch_leaves_the_photo_are_left_out():
    contours = blank()
    contours[RADIUS - 1, 30] = contours[RADIUS, 30] = contours[-RADIUS, 30] = contours[-RADIUS - 1, 30] = True
    assert contour_places([traced(contours)])[:, 2].tolist() == [RADIUS, 50 - RADIUS - 1]


def test_a_photo_too_small_for_a_patch_has_no_places():
    everywhere = np.ones((2 * RADIUS, 60), dtype=np.bool_)
    assert len(contour_places([traced(everywhere)])) == 0
    assert len(background_pixels(traced(~everywhere))) == 0


def test_background_keeps_two_pixels_from_every_annotator():
    first, second = blank(), blank()
    first[25, 25] = second[30, 35] = True
    allowed = {tuple(pixel) for pixel in background_pixels(traced(first, second)).tolist()}
    inside = [(row, column) for row in range(RADIUS, 50 - RADIUS) for column in range(RADIUS, 60 - RADIUS)]
    for row, column in inside:
        nearest = min(np.hypot(row - 25, column - 25), np.hypot(row - 30, column - 35))
        assert ((row, column) in allowed) == (nearest >= 2)
    assert allowed <= set(inside)
