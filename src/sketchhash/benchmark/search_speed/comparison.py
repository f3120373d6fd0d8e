"""All engines on the same codes, in one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from sketchhash.benchmark.search_speed.engines import Build, Codes, Engine
from sketchhash.benchmark.search_speed.galleries import TestGallery
from sketchhash.benchmark.search_speed.timing import Schedule, Timing, interleaved
from sketchhash.index import Hits
from sketchhash.index.reference import ReferenceIndex

K = 100
ROUNDS, CALLS_A_TURN = 30, 10
BATCH_ROUNDS = 5
CHECKED = 4  # queries of which every hit is compared with the reference's


@dataclass(frozen=True)
class Result:
    """What one engine took.

    Args:
        engine: Its name.
        build_seconds: From packed codes in memory to the first search.
        load_seconds: The same from codes in a file.
        nbytes: The memory it keeps.
        one: One query.
        batch_queries: The queries of a batch: 1,000, or fewer where they would take too long.
        per_second: Queries of a batch a second, on one thread.
        per_second_on_all_cores: The same on every core; of our indexes only.
        has_reference_hits: Whether ids and distances are those of the reference; of our indexes only.
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
class Comparison:
    """Every engine on one gallery; ``read`` is the time to read all codes once, the limit of a scan."""

    kind: str
    size: int
    bits: int
    read: Timing
    results: tuple[Result, ...]

    def result(self, engine: str) -> Result | None:
        """Give what an engine took, or nothing if it did not take part."""
        return next((result for result in self.results if result.engine == engine), None)


def compare(gallery: TestGallery, builds: Mapping[str, Build], seconds: float) -> Comparison:
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
    return Comparison(gallery.kind, gallery.size, gallery.bits, one["read"], tuple(results))


def _single_queries(gallery: TestGallery, engines: Mapping[str, Engine]) -> dict[str, Callable[[int], object]]:
    def of(engine: Engine) -> Callable[[int], object]:
        return lambda number: engine.search(gallery.queries[number : number + 1], K)

    # The largest byte, because NumPy finds it as fast as memory gives the bytes.
    return {"read": lambda number: gallery.codes.max(), **{name: of(engine) for name, engine in engines.items()}}


def _batch(search: Callable[[Codes, int], object], queries: Codes) -> Callable[[int], object]:
    return lambda number: search(queries, K)


def _reference_hits(gallery: TestGallery) -> list[Hits]:
    reference = ReferenceIndex(gallery.bits)
    reference.add(np.arange(gallery.size), gallery.codes)
    return reference.search(gallery.queries[:CHECKED], K)


def _same(found: list[Hits], right: list[Hits]) -> bool:
    return all(
        np.array_equal(some.ids, other.ids) and np.array_equal(some.distances, other.distances)
        for some, other in zip(found, right, strict=True)
    )
