"""What a piece of work takes, by the clock and in processor time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """The cost of one call.

    Attributes:
        milliseconds: By the clock, the median of all calls.
        cpu_milliseconds: Processor time, the mean; it hardly depends on what else the machine does.
        per_second: Calls a second of all threads together, by the clock.
        calls: How many were made.
    """

    milliseconds: float
    cpu_milliseconds: float
    per_second: float
    calls: int


def cost(work: Callable[[T], object], inputs: Sequence[T], seconds: float, threads: int = 1) -> Cost:
    """Repeat work over the inputs, on so many threads, until the time is over; at least once a thread.

    One call that does not count comes first: it loads and builds what is loaded and built at first use.
    """
    work(inputs[0])
    start, cpu_start = perf_counter(), process_time()

    def keep_busy(first: int) -> list[float]:
        times: list[float] = []
        while not times or perf_counter() - start < seconds:
            begun = perf_counter()
            work(inputs[(first + len(times)) % len(inputs)])
            times.append(1000 * (perf_counter() - begun))
        return times

    with ThreadPoolExecutor(threads) as pool:
        times = [time for some in pool.map(keep_busy, range(threads)) for time in some]
    elapsed, cpu = perf_counter() - start, process_time() - cpu_start
    return Cost(median(times), 1000 * cpu / len(times), len(times) / elapsed, len(times))
