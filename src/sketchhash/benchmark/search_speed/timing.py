"""Time several things so that their times compare, on a machine that does other things too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

FEWEST_CALLS = 3


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median, the best, and of how many calls."""

    p50: float
    best: float
    calls: int


@dataclass(frozen=True)
class Schedule:
    """How many turns everything has, how many calls a turn has at most, and the seconds for all turns of one."""

    rounds: int
    calls_a_turn: int
    seconds: float


def interleaved(calls: Mapping[str, Callable[[int], object]], schedule: Schedule) -> dict[str, Timing]:
    """Time calls in turns, each with the number of its call, so that a disturbance meets all alike.

    A turn has several calls, because the first finds the caches full of what the others left. What is slow has
    fewer: each round adds its share of the seconds, and no call starts when they are used up. Only the last turn
    goes on, as far as it may, until there are three calls.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(1, schedule.rounds + 1):
        for name, call in calls.items():
            for _ in range(schedule.calls_a_turn):
                some = times[name]
                is_over = sum(some) >= schedule.seconds * number / schedule.rounds
                if is_over and (number < schedule.rounds or len(some) >= FEWEST_CALLS):
                    break
                start = perf_counter()
                call(len(some))
                some.append(perf_counter() - start)
    return {name: Timing(median(some), min(some), len(some)) for name, some in times.items()}
