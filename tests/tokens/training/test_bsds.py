import numpy as np
import pytest
from PIL import Image

from sketchhash.errors import DatasetProblem
from sketchhash.tokens.training import read_split


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
