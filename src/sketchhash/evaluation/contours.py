"""Score detectors of contours by the benchmark of BSDS500.

    photo ──► detector ──► scores ──► count (thin, sweep thresholds, match) ──► summarise (ODS, OIS, AP)

Defined by Arbeláez, Maire, Fowlkes and Malik, "Contour detection and hierarchical image segmentation", PAMI 2011.

A detected pixel is right if it is matched, one to one, with a pixel that a person traced: a line detected twice is
right once. Martin, Fowlkes and Malik (PAMI 2004) look for the cheapest assignment, where a pixel without a partner
costs a hundred times the longest distance allowed: as many pixels as possible get partners, and distances only break
ties. Scores count partners alone, so we look for a largest matching and no further. It is a largest flow through
pipes of width one, source → traced → detected → sink. SciPy's flow (Dinic) takes about 5 ms a tracing; its matching
(Hopcroft–Karp) took up to 20 s on some.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from sketchhash.errors import BadArgument
from sketchhash.files import replacing
from sketchhash.imaging.sketches import skeletonise
from sketchhash.tokens import Detector, thin
from sketchhash.tokens.training.bsds import TracedPhoto

Pairs = NDArray[np.int32]
Shares = NDArray[np.float64]

_VERSION = 1  # raise whenever `count`, or the thinning it rests on, gives other counts


@dataclass(frozen=True)
class Sweep:
    """Thresholds and tolerance; the defaults are the standard of BSDS500.

    Args:
        steps: How many thresholds, evenly between 0 and 1; both ends are left out.
        tolerance: How far a right pixel may be from a traced one, as a share of the photo's diagonal.
    """

    steps: int = 99
    tolerance: float = 0.0075

    def __post_init__(self) -> None:
        """Raise if there is no threshold."""
        if self.steps < 1:
            raise BadArgument(f"A sweep has at least 1 threshold; got steps={self.steps}.")

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The thresholds, ascending: ``(steps,)``."""
        return np.arange(1, self.steps + 1) / (self.steps + 1)


@dataclass(frozen=True, eq=False)
class Counts:
    """Pixels counted at each threshold, in one photo or summed over several; each ``(thresholds,)``.

    Args:
        found: Traced pixels with a partner, summed over the annotators.
        traced: All traced pixels, summed over the annotators.
        right: Detected pixels with a partner in at least one annotator's tracing.
        detected: All detected pixels.
    """

    found: NDArray[np.int64]
    traced: NDArray[np.int64]
    right: NDArray[np.int64]
    detected: NDArray[np.int64]

    @classmethod
    def total(cls, counts: Sequence[Counts]) -> Self:
        """Sum the counts of several photos."""
        return cls(
            found=np.sum([each.found for each in counts], axis=0),
            traced=np.sum([each.traced for each in counts], axis=0),
            right=np.sum([each.right for each in counts], axis=0),
            detected=np.sum([each.detected for each in counts], axis=0),
        )

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the traced pixels that are found; 0 where nothing was traced."""
        return self.found / np.maximum(self.traced, 1)

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the detected pixels that are right; 0 where nothing is detected."""
        return self.right / np.maximum(self.detected, 1)


def count(scores: NDArray[np.float32], tracings: NDArray[np.bool_], sweep: Sweep) -> Counts:
    """Compare scores ``(h, w)`` with what each annotator traced, ``(annotators, h, w)``.

    The lines left at each threshold are thinned once more, as the standard does: steps of a staircase would
    count as wrong. Each annotator is matched alone; a pixel is right if anyone traced it.
    """
    ridges = thin(scores)
    reach = sweep.tolerance * math.hypot(*scores.shape)
    candidates = ridges >= sweep.thresholds[0]
    pairs = [close_pairs(candidates, traced, reach) for traced in tracings]

    found, right, detected = np.zeros((3, sweep.steps), dtype=np.int64)
    for step, threshold in enumerate(sweep.thresholds):
        is_detected = skeletonise(ridges >= threshold)[candidates]
        is_right = np.zeros_like(is_detected)
        for near in pairs:
            matched = match(near[:, is_detected[near[0]]])
            found[step] += len(matched)
            is_right[matched] = True
        right[step] = is_right.sum()
        detected[step] = is_detected.sum()
    return Counts(found, np.full(sweep.steps, tracings.sum()), right, detected)


def close_pairs(detected: NDArray[np.bool_], traced: NDArray[np.bool_], reach: float) -> Pairs:
    """Pair the pixels of two masks ``(h, w)`` that are at most ``reach`` pixels apart: ``(2, pairs)``.

    The first row numbers the detected pixels, the second the traced ones, each in reading order.
    """
    frame = math.floor(reach)
    number = np.full(np.add(detected.shape, 2 * frame), -1, dtype=np.int32)
    height, width = detected.shape
    number[frame : frame + height, frame : frame + width][detected] = np.arange(np.count_nonzero(detected))

    rows, columns = np.nonzero(traced)
    tracing = np.arange(len(rows), dtype=np.int32)
    pairs = []
    for down in range(2 * frame + 1):
        for right in range(2 * frame + 1):
            if math.hypot(down - frame, right - frame) <= reach:
                near = number[rows + down, columns + right]
                pairs.append(np.stack((near, tracing))[:, near >= 0])
    return np.concatenate(pairs, axis=1)


def match(pairs: Pairs) -> NDArray[np.int32]:
    """Return the detected pixels that have a partner in a largest matching.

    >>> detected, traced = [0, 1, 2], [7, 7, 7]
    >>> match(np.array([detected, traced], dtype=np.int32)).size
    1
    """
    if pairs.size == 0:
        return np.empty(0, dtype=np.int32)
    detected, detected_end = np.unique_inverse(pairs[0])
    traced, traced_end = np.unique_inverse(pairs[1])
    source = len(traced) + len(detected)
    sink = source + 1
    starts = np.concatenate([np.full(len(traced), source), traced_end, np.arange(len(traced), source)])
    ends = np.concatenate([np.arange(len(traced)), len(traced) + detected_end, np.full(len(detected), sink)])
    pipes = csr_array((np.ones(len(starts), dtype=np.int32), (starts, ends)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(pipes, source, sink, method="dinic").flow

    traced_rows = slice(flow.indptr[len(traced)])
    partners = flow.indices[traced_rows][flow.data[traced_rows] > 0]
    matched: NDArray[np.int32] = detected[partners - len(traced)]
    return matched


@dataclass(frozen=True)
class ContourSummary:
    """How well a detector follows people's contours, from 0 to 1; people reach an F of 0.80 among themselves.

    Args:
        ods: Best F with one threshold for the whole dataset ("optimal dataset scale").
        ois: F with the best threshold of each photo ("optimal image scale").
        average_precision: Area under precision over recall.
    """

    ods: float
    ois: float
    average_precision: float


def summarise(counts: Sequence[Counts]) -> ContourSummary:
    """Summarise the counts of all photos, made with the same thresholds."""
    total = Counts.total(counts)
    return ContourSummary(
        ods=_best_f(total.recall, total.precision),
        ois=_f_at_own_thresholds(counts),
        average_precision=_area(total.recall, total.precision),
    )


def f_measure(recall: Shares, precision: Shares) -> Shares:
    """Return the harmonic mean of recall and precision; 0 where both are 0."""
    return 2 * recall * precision / np.maximum(recall + precision, np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class ContourEvaluation:
    """The evaluation of one detector; counts are cached, so that an interrupted one can go on.

    Args:
        detector: Runs in this process, on its own threads.
        cache: The folder of counts; evaluations of other detectors may share it.
        sweep: Thresholds and tolerance.
        processes: How many photos are matched at once.
    """

    detector: Detector
    cache: Path
    sweep: Sweep = field(default_factory=Sweep)
    processes: int = 2

    def run(self, photos: Sequence[TracedPhoto]) -> Iterator[Counts]:
        """Yield the counts of each photo, in order."""
        self.cache.mkdir(parents=True, exist_ok=True)
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
        return self.cache / f"{photo.id}-{name[:16]}.npy"


def _best_f(recall: Shares, precision: Shares) -> float:
    """Return the best F along the curve, also between thresholds, as the standard does."""
    at = np.linspace(0, len(recall) - 1, 100 * (len(recall) - 1) + 1)
    steps = np.arange(len(recall))
    return float(f_measure(np.interp(at, steps, recall), np.interp(at, steps, precision)).max())


def _f_at_own_thresholds(counts: Sequence[Counts]) -> float:
    best = [int(f_measure(each.recall, each.precision).argmax()) for each in counts]
    found, traced, right, detected = np.sum(
        [(c.found[i], c.traced[i], c.right[i], c.detected[i]) for c, i in zip(counts, best, strict=True)], axis=0
    )
    return float(f_measure(found / max(traced, 1), right / max(detected, 1)))


def _area(recall: Shares, precision: Shares) -> float:
    """Return the area under the curve, by hundredths of recall; recall that it does not reach counts as zero."""
    levels, first = np.unique(recall, return_index=True)
    return float(np.interp(np.linspace(0, 1, 101), levels, precision[first], left=0, right=0).sum() / 100)


def _count(scores: NDArray[np.float32], contours: NDArray[np.bool_], sweep: Sweep, path: Path) -> Counts:
    counts = count(scores, contours, sweep)
    with replacing(path, durable=False) as file:
        np.save(file, np.stack((counts.found, counts.traced, counts.right, counts.detected)))
    return counts


def _read(path: Path, sweep: Sweep) -> Counts | None:
    """Read cached counts, or None if they are absent or damaged."""
    try:
        rows = np.load(path, allow_pickle=False)
    except (FileNotFoundError, EOFError, ValueError):
        return None
    return Counts(*rows) if rows.shape == (4, sweep.steps) else None


def _result(counts: Counts | Future[Counts]) -> Counts:
    return counts.result() if isinstance(counts, Future) else counts
