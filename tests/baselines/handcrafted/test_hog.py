import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.baselines.handcrafted.hog import HOG


def hog_by_definition(ink):
    darkness = 1 - ink / 255
    cells = np.zeros((7, 7, 9))
    for row in range(224):
        for column in range(224):
            down = darkness[row + 1, column] - darkness[row - 1, column] if 0 < row < 223 else 0
            right = darkness[row, column + 1] - darkness[row, column - 1] if 0 < column < 223 else 0
            if down or right:
                direction = int(np.rad2deg(np.arctan2(down, right)) % 180 // 20)
                cells[row // 32, column // 32, direction] += np.hypot(down, right) / 32**2
    blocks = []
    for row in range(6):
        for column in range(6):
            block = cells[row : row + 2, column : column + 2].ravel()
            block = np.minimum(block / np.sqrt((block**2).sum() + 1e-10), 0.2)
            blocks.append(block / np.sqrt((block**2).sum() + 1e-10))
    return np.concatenate(blocks)


def test_it_is_dalal_and_triggs_definition():
    rng = np.random.default_rng(0)
    ink = np.full((224, 224), 255, dtype=np.uint8)
    ink[20:200:7, 30:190] = rng.integers(0, 256, (26, 160))
    np.testing.assert_allclose(HOG(1296).describe(ink), hog_by_definition(ink), atol=1e-5)


@given(st.integers(0, 6), st.integers(0, 6))
@settings(max_examples=10)
def test_a_mark_is_described_by_the_blocks_around_it_alone(row, column):
    ink = np.full((224, 224), 255, dtype=np.uint8)
    ink[row * 32 + 10 : row * 32 + 20, column * 32 + 10 : column * 32 + 20] = 0
    lengths = np.linalg.norm(HOG(1296).describe(ink).reshape(6, 6, 36), axis=2)
    rows, columns = np.ogrid[:6, :6]
    around = ((rows == row) | (rows == row - 1)) & ((columns == column) | (columns == column - 1))
    np.testing.assert_allclose(lengths, around, atol=1e-3)
