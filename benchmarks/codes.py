"""The time and memory of one round of code learning, D → B^I → B^S, beside the textbook equations.

    python benchmarks/codes.py

Codes, labels and network outputs are random: no data is needed, and every first sweep has everything to do.
"""

from __future__ import annotations

import hashlib
import resource
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum
from time import perf_counter, process_time
from typing import Annotated, Protocol

import numpy as np
import typer

from sketchhash.dsh import discrete, textbook
from sketchhash.dsh.objective import Matrix, Problem, Samples, one_blas_thread, paper_similarity
from sketchhash.results import markdown_table
from timing import RecordFile, finish, in_another_process, run, say


class Solver(StrEnum):
    """Who takes the steps: `discrete`, in linear time, or `textbook`, which forms W."""

    DISCRETE = "discrete"
    TEXTBOOK = "textbook"


@dataclass(frozen=True)
class Size:
    """How much there is to learn codes for."""

    photos: int
    sketches: int
    bits: int = 128
    classes: int = 250
    word_dimensions: int = 1000


TU_BERLIN = Size(photos=204_489, sketches=17_500)
COMPARABLE = Size(photos=20_000, sketches=5_000)  # W takes 0.8 GB here, 28.6 GB at full size


@dataclass(frozen=True)
class Round:
    """The cost of one round D → B^I → B^S, and a fingerprint of the codes.

    Seconds are of the clock on the wall; ``cpu_seconds``, of all threads together, hardly depend on what else the
    machine does.
    """

    basis_seconds: float
    photo_seconds: float
    sketch_seconds: float
    cpu_seconds: float
    peak_bytes: int
    fingerprint: str

    @property
    def seconds(self) -> float:
        """The whole round."""
        return self.basis_seconds + self.photo_seconds + self.sketch_seconds


@dataclass(frozen=True)
class SolverComparison:
    """The same round by both solvers."""

    discrete: Round
    textbook: Round

    @property
    def speedup(self) -> float:
        """Processor time of the textbook in terms of the discrete solver's."""
        return self.textbook.cpu_seconds / self.discrete.cpu_seconds

    @property
    def has_equal_codes(self) -> bool:
        """Whether both gave the same codes, bit for bit."""
        return self.textbook.fingerprint == self.discrete.fingerprint


def main(
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the round at TU-Berlin's size.")] = False,
    photos: Annotated[int, typer.Option(min=1, help="Photos of the comparison.")] = COMPARABLE.photos,
    sketches: Annotated[int, typer.Option(min=1, help="Sketches of the comparison.")] = COMPARABLE.sketches,
    out: RecordFile = None,
) -> None:
    """Time one round at TU-Berlin Extension size, and a smaller one beside the textbook equations."""
    size = Size(photos, sketches)
    rows, record = [], {}
    if not quick:
        say(f"One round for {TU_BERLIN.photos:,} photos and {TU_BERLIN.sketches:,} sketches ...")
        full = measure()
        rows.append(_row("sketchhash", TU_BERLIN, full))
        record["full"] = asdict(full)
    say(f"One round for {size.photos:,} and {size.sketches:,}, then by the textbook ...")
    both = compare(size)
    rows += [_row("sketchhash", size, both.discrete), _row("textbook", size, both.textbook)]
    same = "the same codes" if both.has_equal_codes else "OTHER codes"
    heading = ("solver", "photos", "sketches", "D", "B^I", "B^S", "round", "CPU", "peak memory")
    text = f"The textbook takes {both.speedup:.0f} times the processor time, for {same}."
    record["comparison"] = {**asdict(both), "speedup": both.speedup, "has_equal_codes": both.has_equal_codes}
    finish(f"{markdown_table(heading, rows)}\n\n{text}", record, out)


def measure(size: Size = TU_BERLIN, solver: Solver = Solver.DISCRETE) -> Round:
    """Run one round in a fresh process, so that its peak memory is its own."""
    return in_another_process(_round, size, solver)


def compare(size: Size = COMPARABLE) -> SolverComparison:
    """Run the same round by both solvers, one after the other."""
    return SolverComparison(measure(size, Solver.DISCRETE), measure(size, Solver.TEXTBOOK))


class _Steps(Protocol):
    def solve_basis(self, problem: Problem, photos: Samples, sketches: Samples) -> Matrix: ...

    def update_codes(self, problem: Problem, samples: Samples, given: Samples, basis: Matrix) -> Samples: ...


def _round(size: Size, solver: Solver) -> Round:
    rng = np.random.default_rng(0)
    problem = Problem(rng.standard_normal((size.classes, size.word_dimensions)), paper_similarity(size.classes))
    photos, sketches = (_random_samples(count, size, rng) for count in (size.photos, size.sketches))
    steps: _Steps = discrete if solver is Solver.DISCRETE else textbook

    with one_blas_thread():  # for both: idle BLAS threads spin, and would be counted
        start, cpu_start = perf_counter(), process_time()
        basis = steps.solve_basis(problem, photos, sketches)
        basis_done = perf_counter()
        photos = steps.update_codes(problem, photos, sketches, basis)
        photos_done = perf_counter()
        sketches = steps.update_codes(problem, sketches, photos, basis)
        sketches_done, cpu_done = perf_counter(), process_time()

    return Round(
        basis_seconds=basis_done - start,
        photo_seconds=photos_done - basis_done,
        sketch_seconds=sketches_done - photos_done,
        cpu_seconds=cpu_done - cpu_start,
        peak_bytes=_peak_bytes(),
        fingerprint=hashlib.sha256(photos.codes.tobytes() + sketches.codes.tobytes()).hexdigest(),
    )


def _random_samples(count: int, size: Size, rng: np.random.Generator) -> Samples:
    return Samples(
        labels=rng.integers(0, size.classes, count),
        codes=discrete.random_codes(count, size.bits, rng),
        values=rng.standard_normal((count, size.bits), dtype=np.float32),
    )


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, Linux KiB


def _row(solver: str, size: Size, cost: Round) -> tuple[str, ...]:
    times = (cost.basis_seconds, cost.photo_seconds, cost.sketch_seconds, cost.seconds, cost.cpu_seconds)
    seconds = (f"{each:.2f} s" for each in times)
    return (solver, f"{size.photos:,}", f"{size.sketches:,}", *seconds, f"{cost.peak_bytes / 1e9:.2f} GB")


if __name__ == "__main__":
    run(main)
