"""Codes in memory as the kernel reads them: blocks of 64 codes, byte by byte.

A block holds the first bytes of its codes, then their second bytes, and so on: ``(blocks, bits // 8, 64)``. The
last block is padded with zeros. A vector register meets one byte of many codes, and their distances add up lane
by lane; no number of bits needs padding.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

BLOCK = 64  # codes in a block, and the bytes of a cache line; native/hamming.c knows it too


class RowsView(ctypes.Structure):
    """`Rows`, as the kernel takes them."""

    _fields_ = (("blocks", ctypes.c_void_p), ("ids", ctypes.c_void_p), ("count", ctypes.c_int64))


@dataclass(frozen=True, eq=False)
class Rows:
    """Codes in blocks, and the id ``(rows,)`` of each; room for more may follow."""

    blocks: NDArray[np.uint8]
    ids: NDArray[np.int64]

    @classmethod
    def of(cls, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> Rows:
        """Lay out packed codes ``(rows, bits // 8)`` in the order given."""
        blocks = empty_blocks(blocks_for(len(codes)), codes.shape[1])
        write_codes(blocks, codes)
        return cls(blocks, ids)

    @cached_property
    def view(self) -> RowsView:
        """Point at these rows, which must outlive it. Kept: it takes as long as searching a thousand codes."""
        return RowsView(self.blocks.ctypes.data, self.ids.ctypes.data, len(self.ids))

    def codes(self, first: int = 0) -> NDArray[np.uint8]:
        """Give back the packed codes from row ``first`` on, ``(rows - first, bits // 8)``."""
        block, skipped = divmod(first, BLOCK)
        planes = self.blocks[block : blocks_for(len(self.ids))]
        codes = planes.transpose(0, 2, 1).reshape(-1, planes.shape[1])
        return codes[skipped : len(self.ids) - block * BLOCK]

    def codes_at(self, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Give back the packed codes of some rows, ``(some, bits // 8)``."""
        return self.blocks[rows // BLOCK, :, rows % BLOCK]

    def distances(self, query: NDArray[np.uint8]) -> NDArray[np.uint16]:
        """Count the bits in which each code differs from one packed query: ``(rows,)``."""
        planes = self.blocks[: blocks_for(len(self.ids))]
        differing = np.bitwise_count(planes ^ query[:, None])
        distances: NDArray[np.uint16] = differing.sum(axis=1, dtype=np.uint16).ravel()
        return distances[: len(self.ids)]


def blocks_for(rows: int) -> int:
    """Count the blocks that hold so many rows."""
    return -(-rows // BLOCK)


def empty_blocks(count: int, width: int) -> NDArray[np.uint8]:
    """Reserve blocks that start at a cache line, so that no vector is loaded across two."""
    size = count * width * BLOCK
    memory = np.empty(size + BLOCK, dtype=np.uint8)
    start = -memory.ctypes.data % BLOCK
    return memory[start : start + size].reshape(count, width, BLOCK)


def write_codes(blocks: NDArray[np.uint8], codes: NDArray[np.uint8]) -> None:
    """Write packed codes into the first blocks, and zeros after the last code of a block."""
    full = len(codes) // BLOCK
    width = codes.shape[1]
    blocks[:full] = codes[: full * BLOCK].reshape(full, BLOCK, width).transpose(0, 2, 1)
    if rest := len(codes) % BLOCK:
        blocks[full, :, :rest] = codes[full * BLOCK :].T
        blocks[full, :, rest:] = 0
