"""A detector over all photos of BSDS500: detected here, matched in other processes, kept photo by photo."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.contours.counting import Counts, Sweep, count
from sketchhash.files import replacing
from sketchhash.tokens import Detector
from sketchhash.tokens.training.bsds import TracedPhoto

_VERSION = 1  # raise whenever `count`, or the thinning it rests on, gives other counts


@dataclass(frozen=True)
class Evaluation:
    """Judges one detector. Counts are kept in a folder, so that an interrupted evaluation goes on where it was.

    Args:
        detector: Runs in this process, with the threads it likes.
        kept: The folder of counts; evaluations of other kinds may share it.
        sweep: How to judge.
        processes: How many photos are matched at once.
    """

    detector: Detector
    kept: Path
    sweep: Sweep = field(default_factory=Sweep)
    processes: int = 2

    def run(self, photos: Sequence[TracedPhoto]) -> Iterator[Counts]:
        """Yield the counts of each photo, in order, as they become known."""
        self.kept.mkdir(parents=True, exist_ok=True)
        waiting: deque[Counts | Future[Counts]] = deque()
        with ProcessPoolExecutor(self.processes, mp_context=get_context("spawn")) as pool:
            for photo in photos:
                path = self._path(photo)
                known = _read(path, self.sweep)
                waiting.append(
                    known or pool.submit(_count, self.detector.detect(photo.photo), photo.contours, self.sweep, path)
                )
                if len(waiting) > 2 * self.processes:
                    yield _result(waiting.popleft())
            while waiting:
                yield _result(waiting.popleft())

    def _path(self, photo: TracedPhoto) -> Path:
        recipe = repr((_VERSION, self.detector.fingerprint, self.sweep, photo.photo.shape)).encode()
        name = hashlib.sha256(recipe + photo.photo.tobytes() + photo.contours.tobytes()).hexdigest()
        return self.kept / f"{photo.id}-{name[:16]}.npy"


def _count(scores: NDArray[np.float32], contours: NDArray[np.bool_], sweep: Sweep, path: Path) -> Counts:
    counts = count(scores, contours, sweep)
    with replacing(path, durable=False) as file:
        np.save(file, np.stack((counts.found, counts.traced, counts.right, counts.detected)))
    return counts


def _read(path: Path, sweep: Sweep) -> Counts | None:
    """Read kept counts, or nothing if they are absent or damaged."""
    try:
        rows = np.load(path, allow_pickle=False)
    except (FileNotFoundError, EOFError, ValueError):
        return None
    return Counts(*rows) if rows.shape == (4, sweep.steps) else None


def _result(counts: Counts | Future[Counts]) -> Counts:
    return counts.result() if isinstance(counts, Future) else counts
