"""How many photos a second the contour detectors take, all in one run.

Photos are what runs in parallel, as in indexing: each thread has a photo of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Item, photo_pixels
from sketchhash.errors import BadArgument
from sketchhash.imaging.photos import fit_square
from sketchhash.tokens import Detector, token_map

Photo = NDArray[np.uint8]

_INDEXING_SIZE = 256  # the longest side at which indexing looks for contours
_TOKEN_SIZE = 200  # what the paper's network takes
_BSDS_WIDTH, _BSDS_HEIGHT = 480, 320  # at which Lim, Zitnick and Dollár report about a second


@dataclass(frozen=True)
class Pace:
    """Photos a second by the clock on the wall, and the processor time that one photo takes.

    Processor time, of all threads together, hardly depends on what else the machine does.
    """

    photos_per_second: float
    cpu_milliseconds: float


@dataclass(frozen=True)
class Speed:
    """The pace of a detector on so many threads.

    Args:
        detector: Its name.
        threads: Photos worked on at once.
        scored: Only scored, 256 × 256.
        drawn: Scored, thinned and drawn as token maps, 256 × 256.
        scored_large: Only scored, 480 × 320.
    """

    detector: str
    threads: int
    scored: Pace
    drawn: Pace
    scored_large: Pace


def measure(detector: Detector, items: Sequence[Item], threads: int, seconds: float) -> Speed:
    """Time a detector for about ``seconds`` on each of the three tasks; decoding is left out."""
    if not items:
        raise BadArgument("There is no photo to measure with.")
    decoded = [photo_pixels(item) for item in items]
    small = [fit_square(photo, _INDEXING_SIZE) for photo in decoded]
    large = [fit_square(photo, _BSDS_WIDTH)[:_BSDS_HEIGHT] for photo in decoded]
    detector.detect(small[0])  # whatever is loaded or built at first use

    def draw(photo: Photo) -> Photo:
        return token_map(photo, detector, _TOKEN_SIZE)

    return Speed(
        detector.name,
        threads,
        scored=pace(detector.detect, small, threads, seconds),
        drawn=pace(draw, small, threads, seconds),
        scored_large=pace(detector.detect, large, threads, seconds),
    )


def pace(work: Callable[[Photo], object], photos: Sequence[Photo], threads: int, seconds: float) -> Pace:
    """Repeat the work over the photos, on so many threads, until the time is over; at least once a thread."""
    start, cpu_start = perf_counter(), process_time()

    def keep_busy(first: int) -> int:
        done = 0
        while done == 0 or perf_counter() - start < seconds:
            work(photos[(first + done) % len(photos)])
            done += 1
        return done

    with ThreadPoolExecutor(threads) as pool:
        done = sum(pool.map(keep_busy, range(threads)))
    return Pace(done / (perf_counter() - start), 1000 * (process_time() - cpu_start) / done)
