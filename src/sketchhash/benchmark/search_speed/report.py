"""The run as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sketchhash.benchmark.search_speed.aims import Verdict
from sketchhash.benchmark.search_speed.comparison import Comparison

# Table 2 of the paper, by gallery size and bits: seconds a query, and megabytes of 2**20 bytes.
PAPER = {
    (204_489, 32): (5.57e-4, 0.78),
    (204_489, 64): (7.03e-4, 1.56),
    (204_489, 128): (1.05e-3, 3.12),
    (73_002, 32): (2.55e-4, 0.28),
    (73_002, 64): (2.82e-4, 0.56),
    (73_002, 128): (3.53e-4, 1.11),
}


def speed_table(comparisons: Iterable[Comparison]) -> str:
    """Write one row for each engine and gallery; "× scan" is the time in terms of the scan's in the same run."""
    head = (
        "codes", "N", "bits", "engine", "p50 ms", "best ms", "× scan", "batch /s", "× scan", "all cores /s",
        "build s", "load s", "MB", "hits",
    )  # fmt: skip
    return _table(head, (row for comparison in comparisons for row in _rows(comparison)))


def paper_table(comparisons: Iterable[Comparison]) -> str:
    """Write the paper's times and memory beside ours on clustered codes of the same size; ids are counted apart."""
    head = ("N", "bits", "paper ms", "scan ms", "pruned ms", "paper MB", "codes MB", "with ids MB")
    return _table(head, (row for comparison in comparisons for row in _paper_rows(comparison)))


def aims_list(verdicts: Iterable[Verdict]) -> str:
    """Write a line for each aim and gallery."""
    return "\n".join(
        f"- {'met' if verdict.is_met else 'missed'}: {verdict.claim}, {verdict.size:,} {verdict.kind} codes of "
        f"{verdict.bits} bits: {verdict.figure:.2f} (aim {verdict.least:g})"
        for verdict in verdicts
    )


def _rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    codes = (comparison.kind, f"{comparison.size:,}", str(comparison.bits))
    read, scan = comparison.read, comparison.result("scan")
    scan_seconds = (scan.one.p50, 1 / scan.per_second) if scan else (None, None)
    times = (_milliseconds(read.p50), _milliseconds(read.best), _ratio(read.p50, scan_seconds[0]))
    yield (*codes, "read", *times, *[""] * 7)
    for result in comparison.results:
        spread, is_right = result.per_second_on_all_cores, result.has_reference_hits
        yield (
            *codes,
            result.engine,
            _milliseconds(result.one.p50),
            _milliseconds(result.one.best),
            _ratio(result.one.p50, scan_seconds[0]),
            f"{result.per_second:,.0f}",
            _ratio(1 / result.per_second, scan_seconds[1]),
            "" if spread is None else f"{spread:,.0f}",
            f"{result.build_seconds:.2f}",
            f"{result.load_seconds:.2f}",
            f"{result.nbytes / 2**20:.2f}",
            "" if is_right is None else "equal" if is_right else "WRONG",
        )


def _paper_rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    size, bits = comparison.size, comparison.bits
    scan, pruned = comparison.result("scan"), comparison.result("pruned")
    if comparison.kind == "clustered" and (size, bits) in PAPER and scan and pruned:
        seconds, megabytes = PAPER[size, bits]
        times = (_milliseconds(seconds), _milliseconds(scan.one.p50), _milliseconds(pruned.one.p50))
        memory = (f"{each:.2f}" for each in (megabytes, size * bits / 8 / 2**20, scan.nbytes / 2**20))
        yield (f"{size:,}", str(bits), *times, *memory)


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3f}"


def _ratio(seconds: float, of: float | None) -> str:
    return f"{seconds / of:.2f}" if of else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
