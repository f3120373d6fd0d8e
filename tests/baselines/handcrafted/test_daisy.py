import numpy as np
from skimage.feature import daisy

from sketchhash.baselines.handcrafted.daisy import REACH, describe

from .conftest import draw_sketch


def test_descriptors_are_close_to_those_of_scikit_image():
    ink = draw_sketch(3, side=100)
    points = np.argwhere(ink < 128)[::17]
    darkness = np.pad(1 - ink / 255.0, 2 * REACH)  # it describes pixels at least REACH from the border
    dense = daisy(darkness, step=1, radius=REACH, rings=2, histograms=8, orientations=8, normalization="l2")
    expected = dense[points[:, 0] + REACH, points[:, 1] + REACH]
    found = describe(ink, points)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    assert (found * expected).sum(axis=1).min() > 0.99  # the smoothing is cut off earlier


def test_a_moved_stroke_keeps_its_description():
    ink = np.full((60, 60), 255, dtype=np.uint8)
    ink[20:30, 20:23] = 0
    moved = np.roll(ink, (7, 11), axis=(0, 1))
    here, there = describe(ink, np.array([[25, 21]])), describe(moved, np.array([[32, 32]]))
    np.testing.assert_allclose(here, there, atol=1e-6)


def test_points_at_the_border_see_paper_beyond_it():
    ink = np.full((60, 60), 255, dtype=np.uint8)
    ink[:3, :] = 0
    inside = np.pad(ink, 10, constant_values=255)
    point = np.array([[1, 30]])
    np.testing.assert_allclose(describe(ink, point), describe(inside, point + 10), atol=1e-6)
