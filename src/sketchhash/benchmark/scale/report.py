"""Large galleries as Markdown."""

from __future__ import annotations

from sketchhash.benchmark.index_speed import IndexingFigures
from sketchhash.benchmark.index_speed.report import table
from sketchhash.benchmark.scale.figures import Constants, ScaleFigures, Simulation
from sketchhash.benchmark.scale.planning import AIM_SECONDS, USABLE, Kind, Machine, plan

_SIZES = (1e6, 1e7, 1e8, 1e9, 1e10)
_KINDS: tuple[Kind, ...] = ("scan", "pruned")
_HOUR = 3600


def page(figures: ScaleFigures, machine: Machine, indexing: IndexingFigures | None = None) -> str:
    """Set everything as Markdown."""
    parts = [
        _constants(figures.constants),
        _simulation(figures.simulation),
        _memory(figures.constants, indexing),
        _plans(figures, machine),
    ]
    if indexing is not None:
        parts.append(_indexing(indexing, machine))
    return "\n\n".join(parts)


def _constants(constants: tuple[Constants, ...]) -> str:
    rows = [
        (
            f"{each.codes:,}",
            each.bits,
            kind,
            f"{1000 * index.query_seconds:.2f} ms",
            f"{1000 * index.batch_seconds:.3f} ms",
            f"{index.build_seconds:.1f} s",
            f"{index.nbytes / each.codes:.1f}",
        )
        for each in constants
        for kind, index in (("scan", each.scan), ("pruned", each.pruned))
    ]
    heading = ("codes", "bits", "index", "one query", "among 32", "build", "bytes a code")
    return f"{table(heading, rows)}\n\nOne shard in memory, one core, clustered codes, the 100 nearest; processor time."


def _simulation(sim: Simulation) -> str:
    gigabytes = sim.codes * sim.bits / 8 / 1e9
    rows = [
        ("codes", f"{sim.codes:,} of {sim.bits} bits in {sim.shards} shards"),
        ("on disk, with ids", f"{sim.disk_bytes / 1e9:.2f} GB"),
        ("making and writing them (by the clock)", f"{sim.write_seconds:.0f} s"),
        ("first query, nothing in memory (by the clock)", f"{1000 * sim.cold_seconds:,.0f} ms"),
        (
            "one query, one core (processor time)",
            f"{1000 * sim.query_seconds:.1f} ms ({gigabytes / sim.query_seconds:.1f} GB/s)",
        ),
        (f"one query, {sim.cores} cores (by the clock, best)", f"{1000 * sim.spread_seconds:.1f} ms"),
        ("a query among 32, one core (processor time)", f"{1000 * sim.batch_seconds:.2f} ms"),
        (f"one list of the hits of {sim.shards} shards", f"{1e6 * sim.merge_seconds:.0f} µs"),
        ("memory that is not a map of files", f"{sim.own_bytes / 1e6:.0f} MB"),
        ("hits against brute force over all codes", f"{_verdict(sim)}, {sim.checked} queries"),
    ]
    return table(("simulation", "measured"), rows)


def _verdict(sim: Simulation) -> str:
    return "equal" if sim.is_exact else "WRONG"


def _memory(constants: tuple[Constants, ...], indexing: IndexingFigures | None) -> str:
    rows = [
        (
            f"{photos:,.0f}",
            each.bits,
            size(photos * each.bits / 8),
            size(photos * each.scan.nbytes / each.codes),
            size(photos * each.pruned.nbytes / each.codes),
            size(photos * indexing.gallery_bytes) if indexing else "–",
        )
        for photos in _SIZES
        for each in constants
    ]
    heading = ("photos", "bits", "codes alone", "scan", "pruned", "gallery file with thumbnails")
    return table(heading, rows)


def _plans(figures: ScaleFigures, machine: Machine) -> str:
    rows = []
    for photos in _SIZES:
        for each in figures.constants:
            for kind in _KINDS:
                made = plan(photos, kind, each, figures.simulation, machine)
                rows.append(
                    (
                        f"{photos:,.0f}",
                        each.bits,
                        kind,
                        made.machines,
                        f"{1000 * made.seconds:.1f} ms",
                        f"{made.per_second:,.0f}",
                        f"{made.price:,.0f}",
                        f"{made.price_a_million:,.3f}",
                    )
                )
    assumed = (
        f"Assumed, not measured: machines of {machine.cores} cores and {size(machine.memory_bytes)}, of which "
        f"{USABLE:.0%} hold codes, read at {machine.bytes_per_second / 1e9:.0f} GB/s, at {machine.price:g} a month "
        f"each; {1000 * machine.round_trip_seconds:g} ms between machines; as many as search their part within "
        f"{1000 * AIM_SECONDS:.0f} ms."
    )
    heading = ("photos", "bits", "index", "machines", "one query", "queries/s", "a month", "a million queries")
    return f"{table(heading, rows)}\n\n{assumed}"


def _indexing(indexing: IndexingFigures, machine: Machine) -> str:
    rows = []
    for photos in _SIZES:
        hours = photos * indexing.worker_seconds / _HOUR
        price = hours / machine.cores * machine.price / (30 * 24)
        days = photos * indexing.writer_seconds / _HOUR / 24
        rows.append((f"{photos:,.0f}", f"{hours:,.0f}", f"{price:,.0f}", f"{days:,.2f}"))
    return table(("photos", "core-hours to encode", "cost of those", "days of one writer"), rows)


def size(nbytes: float) -> str:
    """Write a number of bytes with three figures.

    >>> size(8e8), size(1.28e11)
    ('800 MB', '128 GB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if nbytes >= unit:
            return f"{nbytes / unit:.3g} {name}"
    return f"{nbytes / 1e3:.3g} kB"
