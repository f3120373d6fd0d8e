import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from sketchhash.datasets import synthetic
from sketchhash.errors import DatasetProblem
from sketchhash.evaluation.contour_report import DetectorScore, _pairs, detector_table, token_sheet, write_scores
from sketchhash.evaluation.contours import Counts
from sketchhash.tokens import detector


def detector_score():
    numbers = ([80, 40], [100, 100], [60, 50], [120, 50])
    return DetectorScore.of("gradient", "f00d", [Counts(*map(np.array, numbers))])


def test_the_table_sets_the_measured_beside_the_published():
    lines = detector_table([detector_score()]).splitlines()
    assert lines[2].startswith("| gradient | 1 | 0.669 | 0.615 |")
    assert any(
        line == "| published: Sketch Tokens (Lim et al., 2013) | 200 | 0.730 | 0.750 | 0.780 |" for line in lines
    )
    assert all(line.count("|") == lines[0].count("|") for line in lines)


def test_scores_and_figure_are_written(tmp_path):
    write_scores([detector_score()], tmp_path)
    (kept,) = json.loads((tmp_path / "scores.json").read_text()).values()
    assert kept["detector"] == "gradient"
    assert kept["recall"] == [0.8, 0.4]
    assert kept["precision"] == [0.5, 1.0]
    drawn = np.asarray(Image.open(tmp_path / "precision_recall.png").convert("RGB"))
    blue = (drawn == [31, 119, 180]).all(axis=2)  # matplotlib's first colour: the curve and its sample
    assert blue.sum() > 100


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
