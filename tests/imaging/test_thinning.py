import numpy as np
import pytest

from sketchhash.imaging.centrelines import centrelines
from sketchhash.imaging.thinning import thin


def disc(size, *circles):
    rows, columns = np.mgrid[:size, :size]
    mask = np.zeros((size, size), dtype=bool)
    for x, y, radius in circles:
        mask |= (columns - x) ** 2 + (rows - y) ** 2 <= radius**2
    return mask


def ring(size, radius, width):
    middle = size // 2
    return disc(size, (middle, middle, radius + width / 2)) & ~disc(size, (middle, middle, radius - width / 2))


def pieces(mask):
    """Count the connected pieces of a mask, corners included."""
    left, count = {(int(row), int(column)) for row, column in np.argwhere(mask)}, 0
    while left:
        count += 1
        border = [left.pop()]
        while border:
            row, column = border.pop()
            around = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} & left
            left -= around
            border.extend(around)
    return count


@pytest.mark.parametrize("width", [2, 3, 4, 7])
def test_a_ring_becomes_a_closed_line_along_its_middle(width):
    thinned = thin(ring(101, 35, width))
    assert pieces(thinned) == 1
    assert pieces(~thinned) >= 1
    rows, columns = np.nonzero(thinned)
    assert np.abs(np.hypot(rows - 50, columns - 50) - 35).max() < 1.5
    assert thinned.sum() < 2 * np.pi * 35
    inside = np.zeros_like(thinned)
    inside[50, :] = thinned[50, :]
    assert inside[:, :50].any()
    assert inside[:, 51:].any()


@pytest.mark.parametrize("slope", [-1.0, -0.3, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("width", [1.0, 2.0, 5.0])
def test_a_line_is_never_broken(slope, width):
    rows, columns = np.mgrid[:80, :80]
    distance = np.abs((rows - 40) - slope * (columns - 40)) / np.hypot(1, slope)
    line = (distance <= width / 2) & disc(80, (40, 40, 35))
    thinned = thin(line)
    assert (thinned <= line).all()
    assert pieces(thinned) == pieces(line)
    extent = [np.ptp(np.nonzero(mask), axis=1).max() for mask in (thinned, line)]
    assert extent[0] >= extent[1] - width - 1


def test_a_solid_area_among_lines_stays_an_area():
    ink = ring(200, 90, 3) | disc(200, (100, 100, 25))
    thinned = thin(ink)
    assert thinned[85:115, 85:115].all()


def test_nothing_becomes_nothing():
    assert not thin(np.zeros((20, 20), dtype=bool)).any()


def test_centrelines_run_through_the_middle():
    ink = np.zeros((21, 60), dtype=bool)
    ink[8:13, 5:55] = True
    lines = centrelines(ink)
    ends = np.concatenate([lines.starts, lines.ends])
    assert np.abs(ends[:, 1] - 10.5).max() <= 1.0
    assert np.ptp(ends[:, 0]) == pytest.approx(45, abs=3)


def test_specks_are_left_out_and_dots_of_the_pen_are_kept():
    line = ring(200, 60, 8)
    speck, dot = disc(200, (10, 10, 1.5)), disc(200, (100, 100, 4))
    alone = centrelines(line)
    with_speck = centrelines(line | speck)
    with_dot = centrelines(line | dot)
    np.testing.assert_array_equal(alone.starts, with_speck.starts)
    assert len(with_dot.starts) > len(alone.starts)
