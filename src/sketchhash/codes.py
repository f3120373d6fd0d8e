"""Binary codes: signs, their packed form and the Hamming distance between them.

A code of m bits is a row of m signs, or packed, a row of m/8 bytes. A bit is set where the value is >= 0, and
the first value is the most significant bit of the first byte. Zero counts as positive, everywhere.

This is the plain reference that faster implementations are proved equal to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument

MAX_BITS = 1024


def sign(values: NDArray[Any]) -> NDArray[np.int8]:
    """Replace every value by +1 or -1, and zero by +1.

    >>> sign(np.array([-0.5, 0.0, 2.0])).tolist()
    [-1, 1, 1]
    """
    return np.where(_is_set(values), 1, -1).astype(np.int8)


def pack(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Pack the signs of values ``(codes, bits)`` into ``(codes, bits // 8)`` bytes.

    >>> pack(np.array([[1, -1, -1, -1, -1, -1, -1, 1]])).tolist()
    [[129]]
    """
    if values.ndim != 2 or values.shape[1] not in range(8, MAX_BITS + 1, 8):
        raise BadArgument(
            f"Codes are rows of 8, 16, ... {MAX_BITS} values, got an array of shape {values.shape}. "
            "Choose a number of bits that is a multiple of 8."
        )
    return np.packbits(_is_set(values), axis=1)


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return the signs ``(codes, bits)``, +1 or -1, of packed codes.

    >>> unpack(np.array([[129]], dtype=np.uint8)).tolist()
    [[1, -1, -1, -1, -1, -1, -1, 1]]
    """
    _check_packed(packed)
    return np.unpackbits(packed, axis=1).astype(np.int8) * 2 - 1


def hamming(queries: NDArray[np.uint8], gallery: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Count the differing bits between every packed query and gallery code: ``(queries, gallery)``.

    Needs about ten bytes for each pair: pass many queries in blocks.

    >>> hamming(np.array([[0b1111]], dtype=np.uint8), np.array([[0b1111], [0b1000]], dtype=np.uint8)).tolist()
    [[0, 3]]
    """
    _check_packed(queries)
    _check_packed(gallery)
    if queries.shape[1] != gallery.shape[1]:
        raise BadArgument(
            f"Queries have {queries.shape[1] * 8} bits and the gallery {gallery.shape[1] * 8}: "
            "encode both with the same model."
        )
    distances = np.zeros((len(queries), len(gallery)), dtype=np.uint16)
    for query_word, gallery_word in zip(_words(queries), _words(gallery), strict=True):
        distances += np.bitwise_count(query_word[:, None] ^ gallery_word[None, :])
    return distances


def _is_set(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "bu":
        raise BadArgument(
            f"Every {values.dtype} value is >= 0, so all bits would be set. Give signed values: +1 and -1."
        )
    set_bits: NDArray[np.bool_] = values >= 0
    return set_bits


def _check_packed(packed: NDArray[np.uint8]) -> None:
    if packed.dtype != np.uint8 or packed.ndim != 2 or not 1 <= packed.shape[1] <= MAX_BITS // 8:
        raise BadArgument(
            f"Packed codes are rows of 1 to {MAX_BITS // 8} bytes, "
            f"got {packed.dtype} of shape {packed.shape}. Type: pack(values)"
        )


def _words(packed: NDArray[np.uint8]) -> NDArray[np.unsignedinteger[Any]]:
    """View each code as the fewest machine words: ``(words, codes)``."""
    size = next(size for size in (8, 4, 2, 1) if packed.shape[1] % size == 0)
    words: NDArray[np.unsignedinteger[Any]] = np.ascontiguousarray(packed).view(f"u{size}").T
    return words
