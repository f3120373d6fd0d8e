from dataclasses import replace

import numpy as np
import pytest

from sketchhash.benchmark.contours.sheet import _pairs, token_sheet
from sketchhash.datasets import synthetic
from sketchhash.errors import DatasetProblem
from sketchhash.tokens import detector


@pytest.fixture(scope="module")
def world():
    return synthetic.load(sketches_per_category=2, photos_per_category=2, seed=0)


def test_photos_are_spread_over_the_categories_and_sketches_share_their_category(world):
    pairs = _pairs(world, 6)
    assert len({photo.label for photo, _ in pairs}) == 6
    assert all(photo.label == sketch.label for photo, sketch in pairs)


def test_more_photos_than_categories_show_second_photos(world):
    few = replace(
        world,
        photos=[photo for photo in world.photos if photo.label < 2],
        sketches=[sketch for sketch in world.sketches if sketch.label < 2],
    )
    assert len({photo.id for photo, _ in _pairs(few, 4)}) == 4


def test_the_sheet_has_pictures_in_it(world):
    sheet = token_sheet(world, detector("gradient"), 3)
    assert sheet.dtype == np.uint8
    assert sheet.shape[2] == 3
    assert (sheet < 128).mean() > 0.02


def test_a_dataset_without_sketches_is_refused(world):
    with pytest.raises(DatasetProblem, match="no category with both"):
        token_sheet(replace(world, sketches=[]), detector("gradient"), 3)
