import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.baselines.handcrafted.gradient_field import gradient_field, harmonic


def solve_densely(fixed, values):
    """One equation a pixel: a fixed one has its value, a free one the mean of the neighbours it has."""
    height, width = fixed.shape
    matrix, right = np.eye(height * width), np.where(fixed, values, 0).ravel()
    for row, column in np.argwhere(~fixed):
        beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        beside = [y * width + x for y, x in beside if 0 <= y < height and 0 <= x < width]
        matrix[row * width + column, beside] = -1 / len(beside)
    return np.linalg.solve(matrix, right.astype(float)).reshape(height, width)


@given(st.integers(0, 2**32), st.integers(1, 33), st.integers(2, 33), st.floats(0.01, 0.6))
@settings(max_examples=25)
def test_it_is_the_dense_solution(seed, height, width, share):
    rng = np.random.default_rng(seed)
    fixed = rng.random((height, width)) < share
    fixed.flat[rng.integers(fixed.size)] = True
    values = rng.uniform(-4, 4, fixed.shape).astype(np.float32)
    found = harmonic(fixed, values, tolerance=1e-6)
    np.testing.assert_array_equal(found[fixed], values[fixed])
    np.testing.assert_allclose(found, solve_densely(fixed, values), atol=2e-3)


def test_every_free_pixel_of_a_large_picture_is_the_mean_of_its_neighbours():
    rng = np.random.default_rng(0)
    fixed = np.zeros((170, 220), dtype=bool)
    fixed[30:140, 50] = fixed[60, 40:200] = fixed[20:80, 180] = True
    values = rng.uniform(-4, 4, fixed.shape).astype(np.float32)
    framed = np.pad(harmonic(fixed, values), 1, mode="edge")
    mean = (framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:]) / 4
    assert np.abs(mean - framed[1:-1, 1:-1])[~fixed].max() < 4e-3


def test_equal_values_fill_the_picture_and_no_values_leave_it_empty():
    fixed = np.zeros((60, 45), dtype=bool)
    assert not harmonic(fixed, np.ones((60, 45), dtype=np.float32)).any()
    fixed[10, 20] = True
    np.testing.assert_allclose(harmonic(fixed, np.full((60, 45), 3.0, dtype=np.float32), 1e-6), 3, atol=1e-2)


def test_the_field_points_away_from_an_upright_line_on_both_sides():
    edges = np.zeros((80, 80), dtype=bool)
    edges[:, 40] = True
    field = gradient_field(edges)
    np.testing.assert_allclose(field[10:70, :38], 1, atol=1e-3)
    np.testing.assert_allclose(field[10:70, 43:], 0, atol=1e-3)
    assert field.min() >= 0 and field.max() <= 1
