"""Time pieces of work so that their times can be compared, and run a benchmark script from the command line.

Machines are shared, so things that are compared are timed in turns, and processor time, which hardly depends on what
else the machine does, is reported beside the time of the clock.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Annotated, Any, TypeVar

import typer

from sketchhash.errors import BadArgument, SketchHashError
from sketchhash.files import replacing

T = TypeVar("T")

FEWEST_CALLS = 3
_STATUS = Path("/proc/self/statm")

RecordFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the record as JSON here.")]
ShownRecord = Annotated[
    Path | None, typer.Option("--show", metavar="FILE", help="Measure nothing: print the tables of this record.")
]


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median, the best, and the number of calls."""

    p50: float
    best: float
    calls: int


@dataclass(frozen=True)
class Schedule:
    """The number of turns, the largest number of calls a turn, and the seconds for all turns of one thing."""

    rounds: int
    calls_a_turn: int
    seconds: float


def interleaved(
    calls: Mapping[str, Callable[[int], object]], schedule: Schedule, clock: Callable[[], float] = perf_counter
) -> dict[str, Timing]:
    """Time calls in turns, each with the number of its call, so that a disturbance affects all alike.

    By the time of the clock, long calls are interrupted more often than short ones on a busy machine: to compare such,
    give ``thread_time``.

    A turn has several calls, because the first finds the caches full of what the others left. Slow things get fewer
    calls: each round adds its share of the seconds, and no call starts when they are used up. Only the last turn
    continues, as far as it may, until there are three calls.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(1, schedule.rounds + 1):
        for name, call in calls.items():
            for _ in range(schedule.calls_a_turn):
                some = times[name]
                is_over = sum(some) >= schedule.seconds * number / schedule.rounds
                if is_over and (number < schedule.rounds or len(some) >= FEWEST_CALLS):
                    break
                start = clock()
                call(len(some))
                some.append(clock() - start)
    return {name: Timing(median(some), min(some), len(some)) for name, some in times.items()}


@dataclass(frozen=True)
class Cost:
    """The cost of one call.

    Attributes:
        milliseconds: Time of the clock, the median of all calls.
        cpu_milliseconds: Processor time of all threads, the mean.
        per_second: Calls a second of all threads together.
        calls: The number of calls.
    """

    milliseconds: float
    cpu_milliseconds: float
    per_second: float
    calls: int

    def each_of(self, size: int) -> Cost:
        """Return the cost of one item, if a call takes a batch of ``size``."""
        return Cost(self.milliseconds / size, self.cpu_milliseconds / size, self.per_second * size, self.calls * size)


def cost(work: Callable[[T], object], inputs: Sequence[T], seconds: float, threads: int = 1) -> Cost:
    """Repeat work over the inputs on so many threads until the time is up, at least once a thread.

    One call that does not count comes first, for what is loaded and built at first use.
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


def processor_time(call: Callable[[int], object], repeats: int) -> float:
    """Return the median processor time of some calls, in seconds; the first call does not count."""
    return median(_times(call, repeats, process_time))


def best_time(call: Callable[[int], object], repeats: int) -> float:
    """Return the shortest time of some calls by the clock, in seconds; the first call does not count."""
    return min(_times(call, repeats, perf_counter))


def resident_bytes() -> int:
    """Return the memory that this process holds, or 0 where the system does not tell (all but Linux)."""
    if not _STATUS.exists():
        return 0
    return int(_STATUS.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_another_process(work: Callable[..., T], *arguments: object) -> T:
    """Call a function in a fresh process, so that its memory is its own."""
    context = get_context("spawn")  # a fork would start with all that this process has loaded
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *arguments).result()


def say(text: str) -> None:
    """Print a message that is not data."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def finish(page: str, measured: Mapping[str, object], out: Path | None) -> None:
    """Print tables, and write what was measured as a record if ``out`` is given."""
    typer.echo(page)
    if out is not None:
        write_record(measured, out)


def write_record(measured: Mapping[str, object], out: Path) -> None:
    """Write what was measured, and on what."""
    versions = {package: version(package) for package in ("numpy", "sketchhash")}
    made_on = {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version(), **versions}
    with replacing(out) as file:
        file.write((json.dumps({**measured, "made_on": made_on}, indent=1, ensure_ascii=False) + "\n").encode())


def read_record(path: Path, parse: Callable[[dict[str, Any]], T]) -> T:
    """Read a record that `finish` wrote, or raise if it is of another benchmark."""
    try:
        return parse(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BadArgument(f"{path} is not a record of this benchmark ({problem}). Make one with --out.") from problem


def run(command: Callable[..., None]) -> None:
    """Run a benchmark's command; an error of the package becomes one message."""
    try:
        typer.run(command)
    except SketchHashError as error:
        say(f"Error: {error}")
        raise SystemExit(2 if isinstance(error, BadArgument) else 1) from error


def _times(call: Callable[[int], object], repeats: int, clock: Callable[[], float]) -> list[float]:
    times = []
    for number in range(repeats + 1):
        start = clock()
        call(number)
        times.append(clock() - start)
    return times[1:]
