import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.codes import hamming
from sketchhash.index.blocks import BLOCK, Rows, blocks_for, empty_blocks

sizes = st.integers(0, 3 * BLOCK)
widths = st.integers(1, 20)


def random_rows(size, width):
    codes = np.random.default_rng(size).integers(0, 256, (size, width), dtype=np.uint8)
    return codes, Rows.of(np.arange(size), codes)


@given(sizes, widths, st.data())
def test_codes_come_back_as_they_were(size, width, data):
    codes, rows = random_rows(size, width)
    first = data.draw(st.integers(0, size))
    np.testing.assert_array_equal(rows.codes(), codes)
    np.testing.assert_array_equal(rows.codes(first), codes[first:])
    some = np.random.default_rng(first).permutation(size)[:first]
    np.testing.assert_array_equal(rows.codes_at(some), codes[some])


@given(sizes, widths)
def test_distances_are_those_of_packed_codes(size, width):
    codes, rows = random_rows(size, width)
    query = np.arange(width, dtype=np.uint8)
    np.testing.assert_array_equal(rows.distances(query), hamming(query[None], codes)[0])


def test_a_plane_holds_one_byte_of_each_code_and_zeros_after_the_last():
    rows = Rows.of(np.arange(2), np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint8))
    assert rows.blocks.shape == (1, 3, BLOCK)
    assert rows.blocks[0, :, :3].tolist() == [[1, 4, 0], [2, 5, 0], [3, 6, 0]]
    assert not rows.blocks[0, :, 2:].any()


@given(st.integers(1, 5), widths)
def test_blocks_start_at_a_cache_line(count, width):
    blocks = empty_blocks(count, width)
    assert blocks.shape == (count, width, BLOCK)
    assert blocks.ctypes.data % BLOCK == 0


def test_blocks_are_counted_up():
    assert [blocks_for(rows) for rows in (0, 1, BLOCK, BLOCK + 1)] == [0, 1, 1, 2]
