import numpy as np
import pytest

from sketchhash.baselines.handcrafted.descriptors import photo_edges, photo_ink, sketch_edges, sketch_ink
from sketchhash.errors import BadArgument

from .conftest import draw_sketch


def square_photo(side):
    photo = np.full((side, side, 3), 200, dtype=np.uint8)
    photo[side // 4 : -side // 4, side // 4 : -side // 4] = 40
    return photo


@pytest.mark.parametrize("side", [100, 200, 500])
def test_the_edges_of_a_square_are_its_outline_at_any_size(side):
    found = np.argwhere(photo_edges(square_photo(side)))
    from_middle = np.abs(found - 99.5).max(axis=1)
    assert 350 < len(found) < 450
    assert np.abs(from_middle - 50).max() < 4


def test_the_longest_side_becomes_200_pixels_and_the_aspect_stays():
    assert photo_edges(np.zeros((50, 80, 3), dtype=np.uint8)).shape == (125, 200)
    assert photo_edges(np.zeros((1, 900, 3), dtype=np.uint8)).shape == (32, 200)


def test_a_busy_photo_keeps_its_strongest_edges_only():
    noise = np.random.default_rng(0).integers(0, 60, (200, 200, 3), dtype=np.uint8)
    noise[:, 100:] += 150
    edges = photo_edges(noise)
    assert edges.mean() < 0.01
    assert edges[10:-10, 97:103].any(axis=1).mean() > 0.9


def test_a_photo_without_edges_gives_blank_paper():
    assert (photo_ink(np.full((40, 60, 3), 128, dtype=np.uint8), 64) == 255).all()


def test_photos_and_sketches_become_ink_of_one_width():
    photo, sketch = photo_ink(square_photo(300), 224), sketch_ink(draw_sketch(2, side=200), 224)
    widths = [(255 - row.astype(float)).sum() / 255 / 2 for row in (photo[112], sketch[112])]  # two upright lines
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


def test_the_lines_of_a_sketch_are_thinned():
    edges = sketch_edges(draw_sketch(2))
    assert 0 < edges.mean() < 0.03
    assert edges[100].sum() == 2


def test_what_is_no_sketch_is_refused():
    with pytest.raises(BadArgument, match="side, side"):
        sketch_ink(np.zeros((5, 5, 3), dtype=np.uint8), 10)
