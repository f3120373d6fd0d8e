"""QR codes (ISO/IEC 18004) of addresses, so that a phone opens the page by its camera.

As much of the standard as an address needs: bytes, the lowest level of error correction, and the six smallest sizes,
which hold 134 bytes. It is written here because it is this short: a library would be one more package for everyone who
searches.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument

# For each version, from 1 on: data codewords, blocks they are split into, codewords of error correction for each block.
_VERSIONS = ((19, 1, 7), (34, 1, 10), (55, 1, 15), (80, 1, 20), (108, 1, 26), (136, 2, 18))
MOST_BYTES = _VERSIONS[-1][0] - 2

_Grid = NDArray[np.intp]

_QUIET = 4  # modules of light around the code
_BYTE_MODE = 0b0100
_LEVEL_L = 0b01
_PADDING = (0xEC, 0x11)

_MASKS: tuple[Callable[[_Grid, _Grid], _Grid], ...] = (
    lambda y, x: (y + x) % 2,
    lambda y, x: y % 2,
    lambda y, x: x % 3,
    lambda y, x: (y + x) % 3,
    lambda y, x: (y // 2 + x // 3) % 2,
    lambda y, x: y * x % 2 + y * x % 3,
    lambda y, x: (y * x % 2 + y * x % 3) % 2,
    lambda y, x: ((y + x) % 2 + y * x % 3) % 2,
)


def qr_code(text: str) -> NDArray[np.bool_]:
    """Return the modules of a QR code, ``(side, side)``, dark ones True, with the light margin that readers need.

    Raises:
        BadArgument: If the text has more than 134 bytes.
    """
    content = text.encode()
    if len(content) > MOST_BYTES:
        raise BadArgument(f"A QR code holds {MOST_BYTES} bytes here, and this address has {len(content)}.")
    version = next(number for number, (room, _, _) in enumerate(_VERSIONS, 1) if len(content) + 2 <= room)
    fixed, is_fixed = _fixed_patterns(version)
    places = _zigzag(is_fixed)
    bits = np.unpackbits(np.array(_codewords(content, version), dtype=np.uint8))
    page = np.zeros_like(fixed)
    page[tuple(places[: len(bits)].T)] = bits
    x = np.arange(len(page))
    y = x[:, np.newaxis]
    masked = [
        _with_format(np.where(is_fixed, fixed, page ^ (mask(y, x) == 0)), number) for number, mask in enumerate(_MASKS)
    ]
    return np.pad(min(masked, key=_penalty), _QUIET)


def as_blocks(modules: NDArray[np.bool_]) -> str:
    """Return a code as text to be shown black on white, two rows a line."""
    rows = np.pad(modules, ((0, len(modules) % 2), (0, 0)))
    signs = np.array([" ", "▄", "▀", "█"])
    lines = signs[2 * rows[::2] + rows[1::2]]
    return "\n".join("".join(line) for line in lines)


def as_path(modules: NDArray[np.bool_]) -> str:
    """Return the dark modules as the path of an SVG whose side is that of the code."""
    return "".join(f"M{x} {y}h1v1h-1z" for y, x in np.argwhere(modules).tolist())


def _codewords(content: bytes, version: int) -> list[int]:
    room, blocks, correction = _VERSIONS[version - 1]
    head = _BYTE_MODE << 8 | len(content)
    packed = (head << 8 * len(content) | int.from_bytes(content)) << 4
    data = list(packed.to_bytes(len(content) + 2))
    data += [_PADDING[number % 2] for number in range(room - len(data))]
    size = room // blocks
    parts = [data[start : start + size] for start in range(0, room, size)]
    checks = [_remainder(part, correction) for part in parts]
    return [word for words in (zip(*parts, strict=True), zip(*checks, strict=True)) for row in words for word in row]


def _multiply(a: int, b: int) -> int:
    """Multiply in the field of 256 elements with the polynomial 0x11D."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = a << 1 ^ (a >> 7) * 0x11D, b >> 1
    return product


def _remainder(data: list[int], length: int) -> list[int]:
    """Return the Reed-Solomon codewords of data."""
    generator, root = [1], 1
    for _ in range(length):
        shifted = [_multiply(each, root) for each in generator]
        generator = [a ^ b for a, b in zip([*generator, 0], [0, *shifted], strict=True)]
        root = _multiply(root, 2)
    rest = [0] * length
    for word in data:
        factor = word ^ rest[0]
        rest = [a ^ _multiply(b, factor) for a, b in zip([*rest[1:], 0], generator[1:], strict=True)]
    return rest


def _fixed_patterns(version: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the modules that do not depend on the content, and where they are."""
    side = 17 + 4 * version
    modules = np.zeros((side, side), dtype=bool)
    is_fixed = np.zeros_like(modules)
    is_fixed[6] = is_fixed[:, 6] = True
    modules[6, ::2] = modules[::2, 6] = True
    rings = np.maximum(*np.abs(np.indices((9, 9)) - 4))
    finder = (rings != 2) & (rings != 4)
    for top, left in ((-1, -1), (-1, side - 8), (side - 8, -1)):
        rows, columns = slice(max(top, 0), top + 9), slice(max(left, 0), left + 9)
        modules[rows, columns] = finder[max(-top, 0) :, max(-left, 0) :][: side - max(top, 0), : side - max(left, 0)]
    is_fixed[:9, :9] = is_fixed[:9, -8:] = is_fixed[-8:, :9] = True  # with the places of the format
    if version > 1:
        modules[-9:-4, -9:-4] = rings[2:7, 2:7] != 1
        is_fixed[-9:-4, -9:-4] = True
    modules[-8, 8] = True
    return modules, is_fixed


def _zigzag(is_fixed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the places of the content in order: up and down pairs of columns, from the right."""
    side = len(is_fixed)
    rights = [*range(side - 1, 6, -2), 5, 3, 1]
    places = [
        (row, column)
        for number, right in enumerate(rights)
        for row in (range(side) if number % 2 else range(side - 1, -1, -1))
        for column in (right, right - 1)
        if not is_fixed[row, column]
    ]
    return np.array(places)


def _with_format(modules: NDArray[np.bool_], mask: int) -> NDArray[np.bool_]:
    """Write the level of correction and the mask, twice, with the BCH code that protects them."""
    data = _LEVEL_L << 3 | mask
    rest = data << 10
    for bit in range(14, 9, -1):
        if rest >> bit & 1:
            rest ^= 0x537 << bit - 10
    bits = [((data << 10 | rest) ^ 0x5412) >> bit & 1 for bit in range(15)]  # the lowest first
    modules[[0, 1, 2, 3, 4, 5, 7, 8], 8] = bits[:8]
    modules[8, [7, 5, 4, 3, 2, 1, 0]] = bits[8:]
    modules[8, :-9:-1] = bits[:8]
    modules[-7:, 8] = bits[8:]
    return modules


# What could be taken for the corner of a code: its pattern, with light on either side.
_FALSE_CORNERS = ([1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1])


def _penalty(modules: NDArray[np.bool_]) -> float:
    """Measure what disturbs readers: runs and squares of one colour, false corners, more dark than light."""
    corner = modules[1:, 1:]
    is_square = (corner == modules[:-1, 1:]) & (corner == modules[1:, :-1]) & (corner == modules[:-1, :-1])
    penalty = 3 * is_square.sum() + 200 * abs(modules.mean() - 0.5)
    for lines in (modules, modules.T):
        starts = np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1)), constant_values=2), axis=1) != 0
        lengths = np.diff(np.flatnonzero(starts))
        penalty += (lengths[lengths >= 5] - 2).sum()
        windows = np.lib.stride_tricks.sliding_window_view(lines, 11, axis=1)
        penalty += 40 * sum((windows == pattern).all(axis=2).sum() for pattern in _FALSE_CORNERS)
    return float(penalty)
