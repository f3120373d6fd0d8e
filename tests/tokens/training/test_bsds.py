import numpy as np
import pytest
from PIL import Image

from sketchhash.errors import DatasetProblem
from sketchhash.tokens.channels import RADIUS
from sketchhash.tokens.training import TracedPhoto, read_split
from sketchhash.tokens.training.bsds import background_pixels, contour_places


def test_a_split_comes_back_as_it_was_traced(bsds_folder, photos):
    read = read_split(bsds_folder, "train")
    assert [traced.id for traced in read] == [traced.id for traced in photos]
    for got, expected in zip(read, photos, strict=True):
        np.testing.assert_array_equal(got.photo, expected.photo)
        np.testing.assert_array_equal(got.contours, expected.contours)
        assert got.contours.dtype == np.bool_


def test_a_split_that_is_not_there_is_named_with_the_layout(bsds_folder):
    with pytest.raises(DatasetProblem, match=r"no photos in .*val.*boundaries/<split>"):
        read_split(bsds_folder, "val")


def test_a_photo_that_nobody_traced_is_named(bsds_folder):
    for path in (bsds_folder / "boundaries" / "train" / "photo-2").iterdir():
        path.unlink()
    with pytest.raises(DatasetProblem, match=r"Nobody traced .*photo-2\.jpg"):
        read_split(bsds_folder, "train")


def test_contours_of_another_size_are_refused_with_both_sizes(bsds_folder):
    Image.new("1", (30, 20)).save(bsds_folder / "boundaries" / "train" / "photo-1" / "0.png")
    with pytest.raises(DatasetProblem, match=r"0\.png is 30 × 20 .* is 72 × 72"):
        read_split(bsds_folder, "train")


@pytest.mark.parametrize("broken", ["images/train/photo-0.jpg", "boundaries/train/photo-0/1.png"])
def test_a_broken_picture_is_a_problem_of_the_dataset(bsds_folder, broken):
    (bsds_folder / broken).write_bytes(b"junk")
    with pytest.raises(DatasetProblem, match=broken.rsplit("/", 1)[1]):
        read_split(bsds_folder, "train")


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
