"""The drawings that come with the package."""

import numpy as np
import pytest

from sketchhash.datasets import example_drawings
from sketchhash.datasets.synthetic import CATEGORIES
from sketchhash.imaging import rasterise

DRAWINGS = example_drawings()


def test_there_are_twenty_and_the_synthetic_world_has_them_all():
    assert len(DRAWINGS) == 20
    assert DRAWINGS.keys() <= set(CATEGORIES)


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_fills_the_pages_sheet_and_stays_on_it(name):
    points = np.concatenate(DRAWINGS[name].strokes)
    assert points.min() >= 0 and points.max() <= 512
    assert np.ptp(points, axis=0).max() > 400


def test_no_two_drawings_look_alike():
    ink = np.stack([rasterise(drawing, 64).ravel() for drawing in DRAWINGS.values()]) < 128
    shared = ink.astype(int) @ ink.T
    assert (shared / np.minimum.outer(ink.sum(1), ink.sum(1)) - np.eye(len(ink))).max() < 0.6
