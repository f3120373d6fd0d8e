"""All near pairs of a set of codes: those that comparing each with each finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.codes import hamming
from sketchhash.errors import BadArgument
from sketchhash.index import near_pairs


def by_brute_force(codes, radius):
    rows, columns = np.nonzero(np.triu(hamming(codes, codes) <= radius, k=1))
    return np.stack((rows, columns), axis=1)


def clustered(rng, count, width, flips):
    """Return codes of which many are near others."""
    centres = rng.integers(0, 256, (max(count // 4, 1), width), dtype=np.uint8)
    codes = centres[rng.integers(0, len(centres), count)]
    bits = np.unpackbits(codes, axis=1)
    for row in bits:
        row[rng.integers(0, bits.shape[1], flips)] ^= 1
    return np.packbits(bits, axis=1)


@given(st.integers(0, 2**32), st.integers(0, 300), st.sampled_from([1, 4, 8]), st.integers(0, 12))
def test_it_finds_what_brute_force_finds(seed, count, width, radius):
    codes = clustered(np.random.default_rng(seed), count, width, 3)
    np.testing.assert_array_equal(near_pairs(codes, radius), by_brute_force(codes, radius))


def test_many_equal_codes_are_pairs_of_each_with_each():
    codes = np.zeros((200, 8), dtype=np.uint8)
    assert len(near_pairs(codes, 8)) == 200 * 199 // 2


def test_what_is_no_set_of_codes_is_refused():
    with pytest.raises(BadArgument, match="rows of bytes"):
        near_pairs(np.zeros(8, dtype=np.uint8), 1)
    with pytest.raises(BadArgument, match="radius"):
        near_pairs(np.zeros((2, 8), dtype=np.uint8), -1)
