import numpy as np
import pytest

from sketchhash.baselines.handcrafted.shelo import SHELO, cell_orientations


def shares(place, fine, coarse):
    """The cells next to a place of a finer grid, as a dictionary of cell and share."""
    position = (place + 0.5) * coarse / fine - 0.5
    lower = int(np.floor(position))
    found = {}
    for cell, share in ((lower, 1 - (position - lower)), (lower + 1, position - lower)):
        cell = min(max(cell, 0), coarse - 1)
        found[cell] = found.get(cell, 0) + share
    return found


def sums_by_definition(ink):
    """Loop over pixels: S, C and M of every cell."""
    darkness = np.pad(255 - ink.astype(float), 1, mode="reflect")
    sums = np.zeros((25, 25, 3))
    for row in range(200):
        for column in range(200):
            near = darkness[row : row + 3, column : column + 3]
            right = near[:, 2] @ [1, 2, 1] - near[:, 0] @ [1, 2, 1]
            down = near[2] @ [1, 2, 1] - near[0] @ [1, 2, 1]
            if not right and not down:
                continue
            strength, angle = np.hypot(right, down), np.arctan2(down, right)
            vote = strength * np.array([np.sin(2 * angle), np.cos(2 * angle), 1])
            for cell_row, row_share in shares(row, 200, 25).items():
                for cell_column, column_share in shares(column, 200, 25).items():
                    sums[cell_row, cell_column] += row_share * column_share * vote
    return sums


def shelo_by_definition(ink):
    """Loop over cells."""
    sums = sums_by_definition(ink)
    histogram = np.zeros((6, 6, 36))
    for row in range(25):
        for column in range(25):
            sine, cosine, weight = sums[row, column]
            if weight < 0.1 * sums[:, :, 2].max():
                continue
            turn = 36 * ((np.arctan2(sine, cosine) / 2 + np.pi / 2) % np.pi) / np.pi
            below = int(turn)
            for block_row, row_share in shares(row, 25, 6).items():
                for block_column, column_share in shares(column, 25, 6).items():
                    for direction, share in ((below, below + 1 - turn), (below + 1, turn - below)):
                        vote = weight * row_share * column_share * share
                        histogram[block_row, block_column, direction % 36] += vote
    totals = histogram.sum(axis=2, keepdims=True)
    return np.sqrt(histogram / np.where(totals, totals, 1)).ravel()


def line(angle):
    """A sheet with a straight line through its middle."""
    rows, columns = np.mgrid[:200, :200] - 99.5
    distance = np.abs(columns * np.sin(angle) - rows * np.cos(angle))
    return (255 * np.clip(distance - 1, 0, 1)).astype(np.uint8)


def test_it_is_the_definition_looped_over_pixels_and_cells():
    rng = np.random.default_rng(0)
    ink = np.full((200, 200), 255, dtype=np.uint8)
    ink[5:120:9, 10:] = rng.integers(0, 256, (13, 190))
    ink[90:, 40:44] = 0
    np.testing.assert_allclose(SHELO(1296).describe(ink), shelo_by_definition(ink), atol=1e-9)


@pytest.mark.parametrize("degrees", [0, 30, 45, 90, 135, 170])
def test_a_cell_on_a_line_has_its_orientation(degrees):
    orientation, weight = cell_orientations(line(np.deg2rad(degrees)))
    found = orientation[1:-1, 1:-1][weight[1:-1, 1:-1] > 0.5 * weight.max()]
    apart = np.abs(np.sin(found - np.deg2rad(degrees)))
    assert apart.max() < 0.05


def test_turning_the_sheet_turns_the_votes():
    upright, turned = SHELO(1296).describe(line(0.3)), SHELO(1296).describe(np.rot90(line(0.3)).copy())
    votes = np.rot90(upright.reshape(6, 6, 36))
    np.testing.assert_allclose(turned.reshape(6, 6, 36), np.roll(votes, 18, axis=2), atol=1e-6)


def test_the_squares_of_a_block_sum_to_one_or_to_nothing():
    sums = np.square(SHELO(1296).describe(line(0.0))).reshape(36, 36).sum(axis=1)
    np.testing.assert_allclose(np.unique(sums.round(9)), [0, 1])
