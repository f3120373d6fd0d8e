import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.codes import MAX_BITS, hamming, pack, sign, unpack
from sketchhash.errors import BadArgument

WIDTHS = st.integers(1, 20).map(lambda width: 8 * width) | st.just(MAX_BITS)


def random_values(rows, bits, seed):
    return np.random.default_rng(seed).standard_normal((rows, bits)).astype(np.float32)


def test_zero_is_positive_on_both_sides_and_in_packed_form():
    values = np.array([[0.0, -0.0, 1e-30, -1e-30, 3, -3, 0, -1]])
    assert sign(values).tolist() == [[1, 1, 1, -1, 1, -1, 1, -1]]
    assert sign(values).dtype == np.int8
    assert pack(values).tolist() == [[0b11101010]]


def test_the_first_value_is_the_most_significant_bit():
    values = -np.ones((1, 16))
    values[0, [0, 15]] = 1
    assert pack(values).tolist() == [[0b10000000, 0b00000001]]


@given(WIDTHS, st.integers(0, 2**32 - 1))
def test_unpacking_gives_back_the_signs(bits, seed):
    values = random_values(5, bits, seed)
    packed = pack(values)
    assert packed.shape == (5, bits // 8)
    assert packed.dtype == np.uint8
    np.testing.assert_array_equal(unpack(packed), sign(values))
    np.testing.assert_array_equal(pack(unpack(packed)), packed)


@given(WIDTHS, st.integers(0, 2**32 - 1))
def test_hamming_counts_the_places_where_signs_differ(bits, seed):
    queries, gallery = sign(random_values(3, bits, seed)), sign(random_values(7, bits, seed + 1))
    distances = hamming(pack(queries), pack(gallery))
    assert distances.dtype == np.uint16
    np.testing.assert_array_equal(distances, (queries[:, None] != gallery[None]).sum(axis=2))


def test_opposite_codes_of_the_largest_width_differ_in_every_bit():
    ones = np.ones((1, MAX_BITS))
    assert hamming(pack(ones), pack(-ones)).tolist() == [[MAX_BITS]]


def test_hamming_reads_codes_that_are_not_contiguous():
    every_other = pack(random_values(6, 128, 0))[:, ::2]
    np.testing.assert_array_equal(hamming(every_other, every_other), hamming(every_other.copy(), every_other.copy()))


@pytest.mark.parametrize("shape", [(2, 12), (2, 0), (2, MAX_BITS + 8), (16,), (1, 1, 8)])
def test_pack_refuses_rows_that_are_no_code(shape):
    with pytest.raises(BadArgument, match="multiple of 8"):
        pack(np.ones(shape))


@pytest.mark.parametrize("kind", [bool, np.uint8])
def test_values_that_cannot_be_negative_are_refused(kind):
    with pytest.raises(BadArgument, match="signed"):
        pack(np.zeros((1, 8), dtype=kind))


@pytest.mark.parametrize(
    "packed",
    [
        np.zeros((1, MAX_BITS // 8 + 1), dtype=np.uint8),
        np.zeros((1, 0), dtype=np.uint8),
        np.zeros(8, dtype=np.uint8),
        np.zeros((1, 8), dtype=np.int8),
    ],
)
def test_hamming_and_unpack_refuse_what_is_not_packed(packed):
    with pytest.raises(BadArgument, match="Packed codes"):
        hamming(packed, packed)
    with pytest.raises(BadArgument, match="Packed codes"):
        unpack(packed)


def test_codes_of_different_widths_are_not_compared():
    with pytest.raises(BadArgument, match="64 bits and the gallery 32"):
        hamming(np.zeros((1, 8), dtype=np.uint8), np.zeros((1, 4), dtype=np.uint8))
