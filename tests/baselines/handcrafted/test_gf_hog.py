import numpy as np
import pytest

from sketchhash.baselines.handcrafted.edges import sketch_edges
from sketchhash.baselines.handcrafted.gf_hog import GFHOG, local_descriptors
from sketchhash.baselines.handcrafted.gradient_field import gradient_field
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
