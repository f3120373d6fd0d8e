import numpy as np
import pytest

from sketchhash.tokens.training.daisy import DESCRIPTOR_LENGTH, REACH, describe


@pytest.fixture(scope="module")
def lines():
    """A vertical line, a horizontal one below it, and a diagonal to the right."""
    contours = np.zeros((120, 160), dtype=np.bool_)
    contours[10:60, 40] = True
    contours[95, 20:70] = True
    steps = np.arange(60)
    contours[30 + steps, 90 + steps] = True
    return contours


def test_the_numbers_are_scikit_images(lines):
    daisy = pytest.importorskip("skimage.feature").daisy
    rows, columns = np.nonzero(lines[REACH:-REACH, REACH:-REACH])
    expected = daisy(lines.astype(np.float32), step=1, radius=REACH, rings=3, histograms=8, orientations=8)
    by_length = expected[rows, columns]
    by_length /= np.linalg.norm(by_length, axis=1, keepdims=True)
    np.testing.assert_allclose(describe(lines, rows + REACH, columns + REACH), by_length, atol=1e-5)


def test_descriptors_have_unit_length(lines):
    descriptors = describe(lines, np.array([35, 95]), np.array([40, 45]))
    assert descriptors.shape == (2, DESCRIPTOR_LENGTH)
    np.testing.assert_allclose(np.linalg.norm(descriptors, axis=1), 1, rtol=1e-5)


def test_a_shift_changes_less_than_another_direction(lines):
    on_line, beside, other = describe(lines, np.array([35, 35, 95]), np.array([40, 41, 45]))
    assert np.linalg.norm(on_line - beside) < 0.5 * np.linalg.norm(on_line - other)


def test_empty_paper_has_a_descriptor_of_zeros():
    assert not describe(np.zeros((40, 40), dtype=np.bool_), np.array([20]), np.array([20])).any()
