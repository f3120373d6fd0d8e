"""How fast codes are searched: the package's indexes beside faiss, usearch and NumPy in the same run.

    python benchmarks/search.py --quick

Every engine searches for the 100 nearest on one thread; "× scan" is its time in terms of the scan's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated

import numpy as np
import typer

from code_galleries import CodeGallery, Codes, clustered_gallery, random_gallery, stored_gallery
from sketchhash.codes import hamming
from sketchhash.errors import MissingExtra, require
from sketchhash.index import Hits
from sketchhash.index.kernel import QUERIES_AT_ONCE
from sketchhash.index.pruned import PrunedIndex
from sketchhash.index.reference import ReferenceIndex
from sketchhash.index.scan import ScanIndex
from sketchhash.paper.published import DSH_COSTS
from sketchhash.results import markdown_table, write_figure
from timing import RecordFile, Schedule, Timing, finish, interleaved, run, say

K = 100
TU_BERLIN, MILLION = 204_489, 1_000_000
ROUNDS, CALLS_A_TURN = 30, 10
BATCH_ROUNDS = 5
CHECKED = 4  # queries whose every hit is compared with the reference's

_SIZES, _QUICK_SIZES = (73_002, TU_BERLIN, MILLION, 10_000_000), (73_002, TU_BERLIN)
_BITS = (32, 64, 128)
_SECONDS, _QUICK_SECONDS = 1.5, 0.3
_WRONG_HITS = 1
_NOTES = """\
The 100 nearest, on one thread. Load is build plus reading the codes from a file. MB are 2^20 bytes.
Hits are compared, id by id, with those of the reference."""


@dataclass(frozen=True)
class Engine:
    """Codes ready to be searched.

    Attributes:
        nbytes: The memory of codes, ids and whatever else it keeps.
        search: Finds the k nearest of each query, on one thread.
        search_on_all_cores: The same on every core; of the package's indexes only.
    """

    nbytes: int
    search: Callable[[Codes, int], object]
    search_on_all_cores: Callable[[Codes, int], list[Hits]] | None = None


Build = Callable[[Codes], Engine]


@dataclass(frozen=True)
class Result:
    """What one engine took.

    Attributes:
        engine: Its name.
        build_seconds: From packed codes in memory to the first search.
        load_seconds: The same from codes in a file.
        nbytes: The memory it keeps.
        one: One query.
        batch_queries: The queries of a batch: 1,000, or fewer where they would take too long.
        per_second: Queries of a batch a second, on one thread.
        per_second_on_all_cores: The same on every core; of the package's indexes only.
        has_reference_hits: Whether ids and distances are those of the reference; of the package's indexes only.
    """

    engine: str
    build_seconds: float
    load_seconds: float
    nbytes: int
    one: Timing
    batch_queries: int
    per_second: float
    per_second_on_all_cores: float | None
    has_reference_hits: bool | None


@dataclass(frozen=True)
class SearchTimes:
    """Every engine on one gallery; ``read`` is the time to read all codes once, the limit of a scan."""

    kind: str
    size: int
    bits: int
    read: Timing
    results: tuple[Result, ...]

    def result(self, engine: str) -> Result | None:
        """Return what an engine took, or None if it did not take part."""
        return next((result for result in self.results if result.engine == engine), None)


@dataclass(frozen=True)
class Aim:
    """A ratio to reach on galleries of one size: how many times as fast as something else."""

    claim: str
    size: int
    least: float
    ratio: Callable[[SearchTimes], float | None]
    bits: int | None = None
    kind: str | None = None

    def concerns(self, times: SearchTimes) -> bool:
        """Return whether the claim is about these codes; none is about stored ones, which are of any size."""
        return (
            times.size == self.size
            and times.bits == (self.bits or times.bits)
            and times.kind == (self.kind or times.kind)
        )


@dataclass(frozen=True)
class AimResult:
    """The ratio that was reached for an aim on one gallery."""

    claim: str
    kind: str
    size: int
    bits: int
    least: float
    ratio: float

    @property
    def is_met(self) -> bool:
        """Whether the aim was reached."""
        return self.ratio >= self.least


def main(
    size: Annotated[
        list[int] | None, typer.Option(min=1, help="Codes in a gallery; repeat for several.  [default: up to 10^7]")
    ] = None,
    bits: Annotated[
        list[int] | None, typer.Option(help="Length of the codes; repeat for several.  [default: 32, 64, 128]")
    ] = None,
    gallery: Annotated[Path | None, typer.Option(metavar="FILE", help="Search this gallery's codes too.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The paper's two sizes, in about a minute.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the times.")] = None,
    out: RecordFile = None,
) -> None:
    """Time exact search beside faiss, usearch, NumPy and a pure read, each on one thread."""
    if plot:
        require("matplotlib", "bench")
    engines, notes = available_engines()
    for note in notes:
        say(note)
    seconds = _QUICK_SECONDS if quick else _SECONDS
    measured = []
    for codes in _galleries(size or (_QUICK_SIZES if quick else _SIZES), bits or _BITS, gallery):
        say(f"{codes.size:,} {codes.kind} codes of {codes.bits} bits ...")
        measured.append(compare(codes, engines, seconds))
    if plot:
        draw(measured, plot)
    aims = [{**asdict(each), "is_met": each.is_met} for each in check_aims(measured)]
    finish(page(measured), {"galleries": [asdict(each) for each in measured], "aims": aims, "notes": notes}, out)
    if any(result.has_reference_hits is False for each in measured for result in each.results):
        say("Hits differ from those of the reference: do not trust the times.")
        raise typer.Exit(_WRONG_HITS)


def available_engines() -> tuple[dict[str, Build], list[str]]:
    """Return the engines by name, and a note for each peer that is not installed."""
    engines: dict[str, Build] = {
        "scan": partial(_ours, ScanIndex),
        "pruned": partial(_ours, PrunedIndex),
    }
    notes = []
    for name, module, build in (("faiss", "faiss", _faiss), ("usearch", "usearch.index", _usearch)):
        try:
            require(module, "bench")
        except MissingExtra as missing:
            notes.append(f"{name} is left out. {missing}")
        else:
            engines[name] = build
    return {**engines, "NumPy": _numpy}, notes


def compare(gallery: CodeGallery, builds: Mapping[str, Build], seconds: float) -> SearchTimes:
    """Build every engine, and time it for about ``seconds`` on single queries and as long on batches."""
    engines: dict[str, Engine] = {}
    build_seconds: dict[str, float] = {}
    for name, build in builds.items():
        start = perf_counter()
        engines[name] = build(gallery.codes)
        build_seconds[name] = perf_counter() - start
    one = interleaved(_single_queries(gallery, engines), Schedule(ROUNDS, CALLS_A_TURN, seconds))
    batch_queries = {name: max(1, min(len(gallery.queries), int(seconds / one[name].p50))) for name in engines}
    batches = {name: gallery.queries[:count] for name, count in batch_queries.items()}
    schedule = Schedule(BATCH_ROUNDS, 1, 2 * seconds)
    on_one = interleaved({name: _batch(engines[name].search, batches[name]) for name in engines}, schedule)
    ours = {name: search for name, engine in engines.items() if (search := engine.search_on_all_cores)}
    on_all = interleaved({name: _batch(ours[name], batches[name]) for name in ours}, schedule)
    right = _reference_hits(gallery)
    results = (
        Result(
            engine=name,
            build_seconds=build_seconds[name],
            load_seconds=gallery.read_seconds + build_seconds[name],
            nbytes=engine.nbytes,
            one=one[name],
            batch_queries=batch_queries[name],
            per_second=batch_queries[name] / on_one[name].p50,
            per_second_on_all_cores=batch_queries[name] / on_all[name].p50 if name in ours else None,
            has_reference_hits=_same(ours[name](gallery.queries[:CHECKED], K), right) if name in ours else None,
        )
        for name, engine in engines.items()
    )
    return SearchTimes(gallery.kind, gallery.size, gallery.bits, one["read"], tuple(results))


def check_aims(measured: Sequence[SearchTimes]) -> list[AimResult]:
    """Compare the ratios of a run with the aims; an aim whose gallery or peer was left out has no result."""
    return [
        AimResult(aim.claim, times.kind, times.size, times.bits, aim.least, ratio)
        for aim in AIMS
        for times in filter(aim.concerns, measured)
        if (ratio := aim.ratio(times)) is not None
    ]


def page(measured: Sequence[SearchTimes]) -> str:
    """Return all tables as Markdown."""
    aims = aims_list(check_aims(measured)) or "No aim is about these sizes."
    return "\n\n".join((speed_table(measured), _NOTES, aims, "Beside the paper's Table 2:", paper_table(measured)))


def speed_table(measured: Iterable[SearchTimes]) -> str:
    """Return one row for each engine and gallery."""
    heading = (
        "codes", "N", "bits", "engine", "p50 ms", "best ms", "× scan", "batch /s", "× scan", "all cores /s",
        "build s", "load s", "MB", "hits",
    )  # fmt: skip
    return markdown_table(heading, (row for times in measured for row in _rows(times)))


def paper_table(measured: Iterable[SearchTimes]) -> str:
    """Return the paper's times and memory beside ours on clustered codes of the same size; ids are counted apart."""
    heading = ("N", "bits", "paper ms", "scan ms", "pruned ms", "paper MB", "codes MB", "with ids MB")
    return markdown_table(heading, (row for times in measured for row in _paper_rows(times)))


def aims_list(aims: Iterable[AimResult]) -> str:
    """Return a line for each aim and gallery."""
    return "\n".join(
        f"- {'met' if aim.is_met else 'missed'}: {aim.claim}, {aim.size:,} {aim.kind} codes of "
        f"{aim.bits} bits: {aim.ratio:.2f} (aim {aim.least:g})"
        for aim in aims
    )


def draw(measured: Sequence[SearchTimes], path: Path) -> None:
    """Draw the median time of one query over the size of the gallery: a row a kind of codes, a column a length."""
    require("matplotlib", "bench")
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(times.kind for times in measured))
    widths = sorted({times.bits for times in measured})
    figure = Figure(figsize=(4 * len(widths), 3.5 * len(kinds)), layout="constrained")
    panels = figure.subplots(len(kinds), len(widths), sharex=True, sharey=True, squeeze=False)
    for kind, row in zip(kinds, panels, strict=True):
        for bits, panel in zip(widths, row, strict=True):
            some = sorted((t for t in measured if (t.kind, t.bits) == (kind, bits)), key=lambda t: t.size)
            sizes = [times.size for times in some]
            panel.loglog(sizes, [1000 * times.read.p50 for times in some], "k--", label="read")
            for name in dict.fromkeys(result.engine for times in some for result in times.results):
                points = [(t.size, 1000 * result.one.p50) for t in some if (result := t.result(name))]
                panel.loglog(*zip(*points, strict=True), "o-", label=name)
            panel.set_title(f"{kind} codes, {bits} bits")
            panel.grid(alpha=0.3)
    for panel in panels[-1]:
        panel.set_xlabel("codes")
    for panel in panels[:, 0]:
        panel.set_ylabel("ms for one query, median")
    panels[0, 0].legend()
    write_figure(path, figure.savefig)


def _galleries(sizes: Sequence[int], lengths: Sequence[int], stored: Path | None) -> Iterator[CodeGallery]:
    rng = np.random.default_rng(0)
    if stored:
        yield stored_gallery(stored, rng)
    for size in sizes:
        for bits in lengths:
            yield random_gallery(size, bits, rng)
            yield clustered_gallery(size, bits, rng)


def _ours(make: type[ScanIndex | PrunedIndex], codes: Codes) -> Engine:
    index = make(codes.shape[1] * 8)
    index.add(np.arange(len(codes)), codes)

    def search(queries: Codes, k: int) -> list[Hits]:
        # So many queries stay on one thread; more would be spread over all cores.
        starts = range(0, len(queries), QUERIES_AT_ONCE)
        return [hits for start in starts for hits in index.search(queries[start : start + QUERIES_AT_ONCE], k)]

    return Engine(index.nbytes, search, index.search)


def _faiss(codes: Codes) -> Engine:
    faiss = require("faiss", "bench")
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexBinaryFlat(codes.shape[1] * 8)
    flat.add(codes)
    return Engine(codes.nbytes, flat.search)


def _usearch(codes: Codes) -> Engine:
    usearch = require("usearch.index", "bench")

    def search(queries: Codes, k: int) -> object:
        # It needs no index: it reads the array it is given.
        return usearch.search(codes, queries, k, usearch.MetricKind.Hamming, exact=True, threads=1, dtype="b1")

    return Engine(codes.nbytes, search)


def _numpy(codes: Codes) -> Engine:
    def search(queries: Codes, k: int) -> object:
        found = []
        for query in queries:
            distances = hamming(query[None], codes)[0]
            nearest = np.argpartition(distances, min(k, len(codes)) - 1)[:k]
            found.append(nearest[np.argsort(distances[nearest])])
        return found

    return Engine(codes.nbytes, search)


def _single_queries(gallery: CodeGallery, engines: Mapping[str, Engine]) -> dict[str, Callable[[int], object]]:
    def of(engine: Engine) -> Callable[[int], object]:
        return lambda number: engine.search(gallery.queries[number : number + 1], K)

    # The largest byte, because NumPy finds it as fast as memory gives the bytes.
    return {"read": lambda number: gallery.codes.max(), **{name: of(engine) for name, engine in engines.items()}}


def _batch(search: Callable[[Codes, int], object], queries: Codes) -> Callable[[int], object]:
    return lambda number: search(queries, K)


def _reference_hits(gallery: CodeGallery) -> list[Hits]:
    reference = ReferenceIndex(gallery.bits)
    reference.add(np.arange(gallery.size), gallery.codes)
    return reference.search(gallery.queries[:CHECKED], K)


def _same(found: list[Hits], right: list[Hits]) -> bool:
    return all(
        np.array_equal(some.ids, other.ids) and np.array_equal(some.distances, other.distances)
        for some, other in zip(found, right, strict=True)
    )


def _rows(times: SearchTimes) -> Iterator[tuple[str, ...]]:
    codes = (times.kind, f"{times.size:,}", str(times.bits))
    read, scan = times.read, times.result("scan")
    scan_seconds = (scan.one.p50, 1 / scan.per_second) if scan else (None, None)
    yield (
        *codes,
        "read",
        _milliseconds(read.p50),
        _milliseconds(read.best),
        _quotient(read.p50, scan_seconds[0]),
        *[""] * 7,
    )
    for result in times.results:
        spread, is_right = result.per_second_on_all_cores, result.has_reference_hits
        yield (
            *codes,
            result.engine,
            _milliseconds(result.one.p50),
            _milliseconds(result.one.best),
            _quotient(result.one.p50, scan_seconds[0]),
            f"{result.per_second:,.0f}",
            _quotient(1 / result.per_second, scan_seconds[1]),
            "" if spread is None else f"{spread:,.0f}",
            f"{result.build_seconds:.2f}",
            f"{result.load_seconds:.2f}",
            f"{result.nbytes / 2**20:.2f}",
            "" if is_right is None else "equal" if is_right else "WRONG",
        )


def _paper_rows(times: SearchTimes) -> Iterator[tuple[str, ...]]:
    size, bits = times.size, times.bits
    scan, pruned = times.result("scan"), times.result("pruned")
    if times.kind == "clustered" and (size, bits) in DSH_COSTS and scan and pruned:
        paper = DSH_COSTS[size, bits]
        seconds = (paper.seconds, scan.one.p50, pruned.one.p50)
        memory = (f"{each:.2f}" for each in (paper.megabytes, size * bits / 8 / 2**20, scan.nbytes / 2**20))
        yield (f"{size:,}", str(bits), *map(_milliseconds, seconds), *memory)


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3f}"


def _quotient(seconds: float, of: float | None) -> str:
    return f"{seconds / of:.2f}" if of else ""


def _ratio(slow: str, fast: str, seconds: Callable[[Result], float]) -> Callable[[SearchTimes], float | None]:
    def ratio(times: SearchTimes) -> float | None:
        one, other = times.result(slow), times.result(fast)
        return seconds(one) / seconds(other) if one and other else None

    return ratio


def _share_of_reading(times: SearchTimes) -> float | None:
    scan = times.result("scan")
    return times.read.p50 / scan.one.p50 if scan else None


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

if __name__ == "__main__":
    run(main)
