"""Galleries of a million to ten thousand million photos: what they need, from what is measured on this machine.

    python benchmarks/scale.py --codes 100000000 --shards 20

One shard is timed in memory (constants), many are searched on disk and checked by brute force (simulation), and a
plan for larger galleries follows: measured constants, assumed machines. A scan takes time in proportion to the codes,
up to the speed of memory. A pruned index is planned as shards of the size that was measured, side by side: larger
ones would do better, and how much better depends on the photos.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Annotated, Any, Literal, Self

import numpy as np
import typer
from numpy.typing import NDArray

from code_galleries import ClusteredCodes, Codes, whole_pieces
from indexing import IndexingCosts
from shards import ShardedIndex, merged, write_shard
from sketchhash.codes import hamming
from sketchhash.index.kernel import QUERIES_AT_ONCE
from sketchhash.index.protocol import Hits
from sketchhash.index.pruned import PrunedIndex
from sketchhash.index.scan import ScanIndex
from sketchhash.results import NO_VALUE, markdown_table
from timing import RecordFile, ShownRecord, best_time, finish, processor_time, read_record, run, say

Kind = Literal["scan", "pruned"]

K = 100
AIM_SECONDS = 0.1  # a person who draws notices more
USABLE = 0.75  # of a machine's memory

_KINDS: tuple[Kind, ...] = ("scan", "pruned")
_LENGTHS = (32, 64, 128)
_SIZES = (1e6, 1e7, 1e8, 1e9, 1e10)
_HOUR = 3600
_MONTH = 30 * 24 * _HOUR
_STATUS = Path("/proc/self/status")
_WRONG_HITS = 1


@dataclass(frozen=True)
class IndexConstants:
    """One index over the codes of one shard, on one core, the 100 nearest.

    Attributes:
        query_seconds: One query; processor time, median.
        batch_seconds: A query among 32 that are searched together; likewise.
        build_seconds: From codes in memory to an index; processor time.
        nbytes: Memory.
    """

    query_seconds: float
    batch_seconds: float
    build_seconds: float
    nbytes: int


@dataclass(frozen=True)
class Constants:
    """Both indexes over clustered codes of one length."""

    bits: int
    codes: int
    scan: IndexConstants
    pruned: IndexConstants


@dataclass(frozen=True)
class Simulation:
    """Clustered codes in shards on disk, searched through memory maps, the 100 nearest.

    Attributes:
        codes: How many.
        bits: Of each.
        shards: How many files they are in.
        disk_bytes: What those take, ids included.
        write_seconds: Making codes and writing them.
        cold_seconds: The first query, when nothing is in memory, on all cores.
        query_seconds: One query on one core, when all is in memory; processor time, median.
        spread_seconds: One query on all cores, by the clock; the best.
        batch_seconds: A query among 32 that are searched together, on one core; processor time.
        merge_seconds: Merging the hits of all shards.
        cores: How many there were.
        own_bytes: Memory of the process that is not a map of files.
        checked: Queries whose hits were compared with brute force over all codes.
        is_exact: Whether all of those were equal, id by id.
    """

    codes: int
    bits: int
    shards: int
    disk_bytes: int
    write_seconds: float
    cold_seconds: float
    query_seconds: float
    spread_seconds: float
    batch_seconds: float
    merge_seconds: float
    cores: int
    own_bytes: int
    checked: int
    is_exact: bool


@dataclass(frozen=True)
class ScaleRecord:
    """All that was measured."""

    constants: tuple[Constants, ...]
    simulation: Simulation

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        constants = (
            Constants(each["bits"], each["codes"], IndexConstants(**each["scan"]), IndexConstants(**each["pruned"]))
            for each in record["constants"]
        )
        return cls(tuple(constants), Simulation(**record["simulation"]))


@dataclass(frozen=True)
class Machine:
    """What is assumed of a rented machine, and of the network between several."""

    cores: int = 16
    memory_bytes: float = 128e9
    bytes_per_second: float = 100e9
    price: float = 600.0
    round_trip_seconds: float = 0.0005


@dataclass(frozen=True)
class Plan:
    """A gallery on machines that hold all codes and answer in time.

    Attributes:
        nbytes: Memory for codes and ids, on all machines together.
        machines: As many as memory and time need.
        seconds: One query, when there is no other.
        per_second: Queries a second when there are many at once.
        price: A month, in the currency of a machine's price.
        price_a_million: Of a million queries, when there are always enough.
    """

    nbytes: float
    machines: int
    seconds: float
    per_second: float
    price: float
    price_a_million: float


def main(
    codes: Annotated[int, typer.Option(min=1, help="Codes of the simulation, in shards on disk.")] = 100_000_000,
    bits: Annotated[int, typer.Option(help="Their length.")] = 64,
    shards: Annotated[int, typer.Option(min=1, help="Into how many shards they are divided.")] = 20,
    shard_codes: Annotated[
        int, typer.Option(min=1, help="Codes of the one shard that is timed in memory.")
    ] = 5_000_000,
    checked: Annotated[int, typer.Option(min=1, max=32, help="Queries to compare with brute force.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often each time is taken.")] = 20,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Where shards are written temporarily."),
    ] = None,
    indexing: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add what indexing takes: a record of indexing.py.")
    ] = None,
    price: Annotated[float, typer.Option(min=0, help="What a machine costs a month.")] = 600.0,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Search shards on disk, and compute memory, time and cost for a million to ten thousand million photos."""
    encoding = None if indexing is None else read_record(indexing, IndexingCosts.from_record)
    if show is not None:
        record = read_record(show, ScaleRecord.from_record)
    else:
        simulation = simulate(codes, bits, shards, checked, repeats, say, folder)
        constants = []
        for length in _LENGTHS:
            say(f"Timing {shard_codes:,} codes of {length} bits ...")
            constants.append(measure_constants(length, shard_codes, repeats))
        record = ScaleRecord(tuple(constants), simulation)
    finish(page(record, Machine(price=price), encoding), asdict(record), out)
    if not record.simulation.is_exact:
        say("Hits differ from those of brute force: do not trust the times.")
        raise typer.Exit(_WRONG_HITS)


def measure_constants(bits: int, codes: int, repeats: int) -> Constants:
    """Build both indexes over so many clustered codes, one after the other, and search them."""
    scan, pruned = (_measure(kind, bits, codes, repeats) for kind in (ScanIndex, PrunedIndex))
    return Constants(bits, codes, scan, pruned)


def simulate(
    codes: int, bits: int, shards: int, checked: int, repeats: int, tell: Callable[[str], None], folder: Path | None
) -> Simulation:
    """Write clustered codes in shards to a temporary folder in ``folder``, search them, and remove them.

    While codes are made, brute force finds the hits of the first ``checked`` queries, without using a shard.
    """
    source = ClusteredCodes(bits)
    queries = source.queries(QUERIES_AT_ONCE)
    expected: list[list[Hits]] = [[] for _ in range(checked)]
    with TemporaryDirectory(prefix="shards-", dir=folder) as name:
        place = Path(name)
        seconds, size = 0.0, whole_pieces(-(-codes // shards))
        for number, first in enumerate(range(0, codes, size)):
            tell(f"Writing shard {number + 1} of {-(-codes // size)} ...")
            start = perf_counter()
            some = source.some(first, min(size, codes - first))
            ids = np.arange(first, first + len(some))
            write_shard(place, f"{number:05}", ids, some)
            seconds += perf_counter() - start
            for row, found in enumerate(expected):
                found.append(brute_force(ids, some, queries[row]))
        del some, ids
        tell("Searching ...")
        alone, spread = ShardedIndex.open(place, threads=1), ShardedIndex.open(place)
        _drop_from_memory(place)
        start = perf_counter()
        spread.search(queries[:1], K)
        cold = perf_counter() - start
        hits = [spread.search(queries[row : row + 1], K)[0] for row in range(checked)]
        parts = [Hits(hits[0].ids + codes * number, hits[0].distances) for number in range(len(alone.shards))]
        return Simulation(
            codes=len(spread),
            bits=bits,
            shards=len(spread.shards),
            disk_bytes=sum(path.stat().st_size for path in place.iterdir()),
            write_seconds=seconds,
            cold_seconds=cold,
            query_seconds=processor_time(lambda number: alone.search(_one(queries, number), K), repeats),
            spread_seconds=best_time(lambda number: spread.search(_one(queries, number), K), repeats),
            batch_seconds=processor_time(lambda _: alone.search(queries, K), max(1, repeats // 4)) / len(queries),
            merge_seconds=processor_time(lambda _: merged(parts, K), repeats),
            cores=os.cpu_count() or 1,
            own_bytes=_own_bytes(),
            checked=checked,
            is_exact=all(_are_equal(one, merged(some, K)) for one, some in zip(hits, expected, strict=True)),
        )


def brute_force(ids: NDArray[np.int64], codes: Codes, query: Codes) -> Hits:
    """Return the 100 nearest by (distance, id), without an index."""
    distances = hamming(query[None], codes)[0]
    near = np.flatnonzero(distances <= np.partition(distances, min(K, len(distances)) - 1)[min(K, len(distances)) - 1])
    order = near[np.lexsort((ids[near], distances[near]))][:K]
    return Hits(ids[order], distances[order])


def plan(photos: float, kind: Kind, constants: Constants, simulation: Simulation, machine: Machine) -> Plan:
    """Plan machines for so many photos."""
    index = constants.scan if kind == "scan" else constants.pruned
    nbytes = photos * index.nbytes / constants.codes
    shards = ceil(photos / constants.codes)
    whole_shards = photos / constants.codes if kind == "scan" else shards
    cores = min(machine.cores, shards)
    query = whole_shards * index.query_seconds / cores
    batch = whole_shards * index.batch_seconds / machine.cores
    if kind == "scan":  # a batch of 32 reads the codes once
        read = photos * constants.bits / 8 / machine.bytes_per_second
        query, batch = max(query, read), max(batch, read / 32)
    machines = max(ceil(nbytes / (USABLE * machine.memory_bytes)), ceil(query / AIM_SECONDS))
    merge = simulation.merge_seconds / simulation.shards * max(shards / machines, machines)
    seconds = query / machines + merge + (machine.round_trip_seconds if machines > 1 else 0)
    per_second = machines / batch
    price = machines * machine.price
    return Plan(nbytes, machines, seconds, per_second, price, 1e6 * price / (per_second * _MONTH))


def page(record: ScaleRecord, machine: Machine, indexing: IndexingCosts | None = None) -> str:
    """Return everything as Markdown."""
    parts = [
        _constants_table(record.constants),
        _simulation_table(record.simulation),
        _memory_table(record.constants, indexing),
        _plan_table(record, machine),
    ]
    if indexing is not None:
        parts.append(_indexing_table(indexing, machine))
    return "\n\n".join(parts)


def byte_size(nbytes: float) -> str:
    """Return a number of bytes with three digits.

    >>> byte_size(8e8), byte_size(1.28e11)
    ('800 MB', '128 GB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if nbytes >= unit:
            return f"{nbytes / unit:.3g} {name}"
    return f"{nbytes / 1e3:.3g} kB"


def _measure(kind: type[ScanIndex] | type[PrunedIndex], bits: int, codes: int, repeats: int) -> IndexConstants:
    source = ClusteredCodes(bits)
    some, queries = source.some(0, codes), source.queries(QUERIES_AT_ONCE)
    start = process_time()
    index = kind(bits)
    index.add(np.arange(codes), some)
    built = process_time() - start
    del some
    return IndexConstants(
        processor_time(lambda number: index.search(queries[number % len(queries)][None], K), repeats),
        processor_time(lambda _: index.search(queries, K), max(1, repeats // 4)) / len(queries),
        built,
        index.nbytes,
    )


def _one(queries: Codes, number: int) -> Codes:
    row = number % len(queries)
    return queries[row : row + 1]


def _are_equal(one: Hits, other: Hits) -> bool:
    return np.array_equal(one.ids, other.ids) and np.array_equal(one.distances, other.distances)


def _drop_from_memory(folder: Path) -> None:
    """Ask the system to drop what it caches of some files."""
    if hasattr(os, "posix_fadvise"):
        for path in folder.iterdir():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _own_bytes() -> int:
    """Return the memory of this process that is not a map of files, or 0 where the system does not tell."""
    if not _STATUS.exists():
        return 0
    lines = dict(line.split(":", 1) for line in _STATUS.read_text(encoding="ascii").splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024


def _constants_table(constants: tuple[Constants, ...]) -> str:
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
    note = "One shard in memory, one core, clustered codes, the 100 nearest; processor time."
    return f"{markdown_table(heading, rows)}\n\n{note}"


def _simulation_table(sim: Simulation) -> str:
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
        (
            "hits against brute force over all codes",
            f"{'equal' if sim.is_exact else 'WRONG'}, {sim.checked} queries",
        ),
    ]
    return markdown_table(("simulation", "measured"), rows)


def _memory_table(constants: tuple[Constants, ...], indexing: IndexingCosts | None) -> str:
    rows = [
        (
            f"{photos:,.0f}",
            each.bits,
            byte_size(photos * each.bits / 8),
            byte_size(photos * each.scan.nbytes / each.codes),
            byte_size(photos * each.pruned.nbytes / each.codes),
            byte_size(photos * indexing.gallery_bytes) if indexing else NO_VALUE,
        )
        for photos in _SIZES
        for each in constants
    ]
    return markdown_table(("photos", "bits", "codes alone", "scan", "pruned", "gallery file with thumbnails"), rows)


def _plan_table(record: ScaleRecord, machine: Machine) -> str:
    rows = [
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
        for photos in _SIZES
        for each in record.constants
        for kind in _KINDS
        for made in (plan(photos, kind, each, record.simulation, machine),)
    ]
    assumed = (
        f"Assumed, not measured: machines of {machine.cores} cores and {byte_size(machine.memory_bytes)}, of which "
        f"{USABLE:.0%} hold codes, read at {machine.bytes_per_second / 1e9:.0f} GB/s, at {machine.price:g} a month "
        f"each; {1000 * machine.round_trip_seconds:g} ms between machines; as many as search their part within "
        f"{1000 * AIM_SECONDS:.0f} ms."
    )
    heading = ("photos", "bits", "index", "machines", "one query", "queries/s", "a month", "a million queries")
    return f"{markdown_table(heading, rows)}\n\n{assumed}"


def _indexing_table(indexing: IndexingCosts, machine: Machine) -> str:
    rows = []
    for photos in _SIZES:
        hours = photos * indexing.worker_seconds / _HOUR
        price = hours / machine.cores * machine.price / (30 * 24)
        days = photos * indexing.writer_seconds / _HOUR / 24
        rows.append((f"{photos:,.0f}", f"{hours:,.0f}", f"{price:,.0f}", f"{days:,.2f}"))
    return markdown_table(("photos", "core-hours to encode", "cost of those", "days of one writer"), rows)


if __name__ == "__main__":
    run(main)
