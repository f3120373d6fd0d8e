"""What the search should reach, and what it reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sketchhash.benchmark.search_speed.comparison import Comparison, Result

TU_BERLIN = 204_489
MILLION = 1_000_000


@dataclass(frozen=True)
class Aim:
    """A figure to reach on galleries of one size: how often as fast as something else."""

    claim: str
    size: int
    least: float
    figure: Callable[[Comparison], float | None]
    bits: int | None = None
    kind: str | None = None

    def concerns(self, comparison: Comparison) -> bool:
        """Say whether the claim is about these codes; none is about stored ones, which are of any size."""
        return (
            comparison.size == self.size
            and comparison.bits == (self.bits or comparison.bits)
            and comparison.kind == (self.kind or comparison.kind)
        )


@dataclass(frozen=True)
class Verdict:
    """The figure that was reached for an aim on one gallery."""

    claim: str
    kind: str
    size: int
    bits: int
    least: float
    figure: float

    @property
    def is_met(self) -> bool:
        """Whether the aim was reached."""
        return self.figure >= self.least


def judge(comparisons: Sequence[Comparison]) -> list[Verdict]:
    """Hold the figures of a run against the aims; an aim whose gallery or peer was left out has none."""
    return [verdict for aim in AIMS for verdict in _verdicts(aim, comparisons)]


def _verdicts(aim: Aim, comparisons: Sequence[Comparison]) -> Iterator[Verdict]:
    for comparison in filter(aim.concerns, comparisons):
        if (figure := aim.figure(comparison)) is not None:
            yield Verdict(aim.claim, comparison.kind, comparison.size, comparison.bits, aim.least, figure)


def _ratio(slow: str, fast: str, seconds: Callable[[Result], float]) -> Callable[[Comparison], float | None]:
    def figure(comparison: Comparison) -> float | None:
        one, other = comparison.result(slow), comparison.result(fast)
        return seconds(one) / seconds(other) if one and other else None

    return figure


def _share_of_reading(comparison: Comparison) -> float | None:
    scan = comparison.result("scan")
    return comparison.read.p50 / scan.one.p50 if scan else None


def _seconds_for_one(result: Result) -> float:
    return result.one.p50


def _seconds_in_batch(result: Result) -> float:
    return 1 / result.per_second


AIMS = (
    Aim("one query, scan against faiss", TU_BERLIN, 2, _ratio("faiss", "scan", _seconds_for_one)),
    Aim("batch, scan against faiss", TU_BERLIN, 4, _ratio("faiss", "scan", _seconds_in_batch)),
    Aim("one query, scan against reading", MILLION, 0.8, _share_of_reading, bits=128),
    Aim("one query, pruned against scan", MILLION, 15, _ratio("scan", "pruned", _seconds_for_one), kind="clustered"),
)
