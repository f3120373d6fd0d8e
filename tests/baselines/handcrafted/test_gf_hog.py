import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.baselines.handcrafted.descriptors import sketch_edges
from sketchhash.baselines.handcrafted.gf_hog import GFHOG, gradient_field, harmonic, local_descriptors
from sketchhash.errors import BadArgument

from .conftest import draw_sketch, paint_photo


def windows_by_definition(edges):
    """Loop over scales, edge pixels, windows and the pixels in them."""
    field = gradient_field(edges)
    height, width = field.shape
    found = []
    for window in (5, 10, 15):
        for row, column in np.argwhere(edges):
            top, left = row - 3 * window // 2, column - 3 * window // 2
            if top < 0 or left < 0 or top + 3 * window > height or left + 3 * window > width:
                continue
            histograms = np.zeros((3, 3, 9))
            for y in range(top, top + 3 * window):
                for x in range(left, left + 3 * window):
                    down = field[y + 1, x] - field[y - 1, x] if 0 < y < height - 1 else 0
                    right = field[y, x + 1] - field[y, x - 1] if 0 < x < width - 1 else 0
                    direction = int((np.arctan2(down, right) + np.pi) / (2 * np.pi) * 9) % 9
                    histograms[(y - top) // window, (x - left) // window, direction] += np.hypot(down, right)
            found.append(histograms.ravel() / np.linalg.norm(histograms))
    return np.array(found)


def test_descriptors_are_histograms_of_the_windows_that_fit():
    edges = np.zeros((40, 60), dtype=bool)
    edges[15, 20:40:7] = edges[20:30:3, 45] = edges[2, 2] = True
    framed = np.pad(edges, [(2, 2), (3, 3)])  # five per cent
    expected = windows_by_definition(framed)
    assert 7 < len(expected) < 3 * edges.sum()
    np.testing.assert_allclose(local_descriptors(edges, 500, 0), expected, atol=1e-5)


def test_no_more_pixels_are_described_than_asked_for():
    edges = sketch_edges(draw_sketch(0))
    some, most = local_descriptors(edges, 20, 0), local_descriptors(edges, 10**6, 0)
    assert len(some) <= 3 * 20 < len(most)
    assert {row.tobytes() for row in some} <= {row.tobytes() for row in most}


def test_a_shape_keeps_its_words_wherever_it_stands(shapes):
    method = GFHOG(40).fit(shapes)
    photos = [paint_photo(shape, side=240, at=at, radius=0.2) for shape in (1, 3) for at in ((0.3, 0.35), (0.65, 0.6))]
    here, there, other, _ = method.encode_photos(photos)
    assert np.minimum(here, there).sum() > np.minimum(here, other).sum() + 0.15


def test_more_words_than_descriptors_are_refused(shapes):
    with pytest.raises(BadArgument, match="ask for a smaller size"):
        GFHOG(100_000).fit(shapes)


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
