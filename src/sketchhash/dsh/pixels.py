"""Pixels of all photos of a dataset, read and resized once and kept on disk: an epoch then only copies rows.

A photo of 227 pixels takes 155 kB and its token map of 200 pixels 40 kB, so the 204,489 photos of the paper take 40 GB.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from sketchhash.datasets import Item
from sketchhash.devices import on_device
from sketchhash.dsh.progress import Progress
from sketchhash.errors import BadArgument, DamagedState, UnwritableState

_PART = 256  # items that are read and written at once
_THREADS = 4  # that copy rows: a disk answers several at once
_COPIED = 4  # rows that a thread copies at once


@dataclass(frozen=True)
class Kept:
    """Some rows of pixels ``(n, channels, side, side)`` on disk."""

    pixels: Tensor
    rows: Tensor
    augment: Callable[[Tensor, Generator], Tensor]

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Copy these rows."""
        chosen = self.rows[rows]
        with torch.inference_mode(False):  # which the threads do not know of, and could not write otherwise
            pixels = self.pixels.new_empty(len(chosen), *self.pixels.shape[1:])

        def copy(start: int) -> None:
            part = slice(start, start + _COPIED)
            torch.index_select(self.pixels, 0, chosen[part], out=pixels[part])

        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(copy, range(0, len(chosen), _COPIED)))
        shown = on_device(pixels)
        return shown if generator is None else self.augment(shown, generator)


@dataclass(frozen=True)
class PixelFile:
    """Pixels ``(n, *shape)`` of items in a file; one that was interrupted while it was written is gone on with.

    ``read`` turns some items into pixels.
    """

    path: Path
    items: Sequence[Item]
    shape: tuple[int, ...]
    read: Callable[[Sequence[Item]], NDArray[np.uint8]]

    @property
    def missing_bytes(self) -> int:
        """The room that is needed to write what is not there yet."""
        whole = len(self._header) + len(self.items) * prod(self.shape)
        return whole - next((path.stat().st_size for path in (self.path, self._partial) if path.exists()), 0)

    def open(self, name: str, progress: Progress) -> Tensor:
        """Open the pixels, written first if they are not there; what is used is in memory as long as there is room."""
        if not self.path.exists():
            with progress.stage(f"keeping pixels of {name}", len(self.items)) as advance:
                self._write(advance)
        try:
            # Read only: the system refuses a writable map that is larger than the memory.
            pixels = np.load(self.path, mmap_mode="r")
        except (OSError, EOFError, ValueError) as problem:
            raise DamagedState(f"{self.path} cannot be read: remove it to write it anew.") from problem
        if pixels.shape != (len(self.items), *self.shape) or pixels.dtype != np.uint8:
            raise DamagedState(f"{self.path} holds other pixels than it should: remove it to write it anew.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch warns that nothing may be written to them
            return torch.from_numpy(pixels)

    def _write(self, advance: Callable[[], None]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._partial.open("r+b" if self._partial.exists() else "w+b") as file:
                first = self._finished(file.seek(0, os.SEEK_END))
                file.seek(0)
                file.write(self._header)
                file.truncate(len(self._header) + first * prod(self.shape))
                file.seek(0, os.SEEK_END)
                for _ in range(first):
                    advance()
                for start in range(first, len(self.items), _PART):
                    part = self.items[start : start + _PART]
                    file.write(np.ascontiguousarray(self.read(part)).data)
                    for _ in part:
                        advance()
                file.flush()
                os.fsync(file.fileno())
            self._partial.replace(self.path)
        except OSError as problem:
            raise UnwritableState(
                f"{self.path} cannot be written: {problem}. Make room, then --resume: it goes on where it stopped."
            ) from problem

    def _finished(self, size: int) -> int:
        """Return how many items a file of this size holds, without the last part: it may not have reached the disk."""
        parts = max(0, size - len(self._header)) // (_PART * prod(self.shape))
        return max(0, parts - 1) * _PART

    @property
    def _partial(self) -> Path:
        return self.path.with_suffix(".partial")

    @property
    def _header(self) -> bytes:
        file = BytesIO()
        facts = {"descr": "|u1", "fortran_order": False, "shape": (len(self.items), *self.shape)}
        np.lib.format.write_array_header_1_0(file, facts)
        return file.getvalue()


def check_room(folder: Path, files: Sequence[PixelFile]) -> None:
    """Raise if the disk has no room for what is not written yet."""
    needed = sum(file.missing_bytes for file in files)
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise BadArgument(
            f"{there} has {free / 1e9:.1f} GB free; the pixels to keep need {needed / 1e9:.1f} GB. Make room, choose "
            "another --cache, or leave --keep-pixels out."
        )
