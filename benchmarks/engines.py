"""How fast Milvus and pgvector search the same codes, beside the scan in this process.

python benchmarks/engines.py milvus://localhost:19530/speed postgresql://localhost/test?gallery=speed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter, sleep
from typing import Annotated

import numpy as np
import typer

from code_galleries import CodeGallery, clustered_gallery
from sketchhash.engines.addresses import Address
from sketchhash.engines.milvus import Collection, CollectionLayout, Kind, MilvusServer
from sketchhash.engines.milvus_index import MilvusIndex
from sketchhash.engines.postgres import Database, PgvectorIndex
from sketchhash.errors import BadArgument
from sketchhash.index import Hits, Index
from sketchhash.index.reference import ReferenceIndex
from sketchhash.index.scan import ScanIndex
from sketchhash.results import markdown_table
from timing import RecordFile, Schedule, Timing, finish, interleaved, run, say

K = 100
CHECKED = 4  # queries whose hits are compared with the reference's
SCAN = "scan, in this process"

_ROUNDS, _CALLS_A_TURN = 10, 5
_WRITTEN_AT_ONCE = 20_000
_SETTLING_SECONDS = 20.0  # until Milvus searches what it has indexed


@dataclass(frozen=True)
class EngineResult:
    """What one engine took to be filled and for one query; ``found`` is the share of the right hits."""

    engine: str
    fill_seconds: float
    one: Timing
    found: float


def main(
    addresses: Annotated[
        list[str],
        typer.Argument(
            metavar="ADDRESS", help="milvus://host:port/name or postgresql://host/database?gallery=name, new."
        ),
    ],
    size: Annotated[int, typer.Option(min=1, help="Codes to search.")] = 204_489,
    bits: Annotated[int, typer.Option(help="Their length.")] = 64,
    seconds: Annotated[float, typer.Option(min=0.01, help="Time for the searches of one engine.")] = 5.0,
    out: RecordFile = None,
) -> None:
    """Fill engines with the same clustered codes, time the 100 nearest of one query in turns, and empty them again."""
    say(f"{size:,} clustered codes of {bits} bits ...")
    results = compare_engines(clustered_gallery(size, bits, np.random.default_rng(0)), addresses, seconds)
    finish(engine_table(results), {"size": size, "bits": bits, "engines": [asdict(each) for each in results]}, out)


def compare_engines(gallery: CodeGallery, addresses: Sequence[str], seconds: float) -> list[EngineResult]:
    """Fill every engine, time it for about ``seconds`` on single queries in turns with the others, and empty it again.

    Raises:
        BadArgument: If there are codes at an address already.
    """
    ids = np.arange(gallery.size)
    with ExitStack() as stack:
        indexes: dict[str, Index] = {SCAN: ScanIndex(gallery.bits)}
        for address in addresses:
            name, index = stack.enter_context(_open(address, gallery.bits))
            if len(index):
                raise BadArgument(f"{name} holds {len(index):,} codes already. Name one that is empty, or new.")
            indexes[name] = index
        fill_seconds = {}
        for name, index in indexes.items():
            if name != SCAN:
                stack.callback(index.remove, ids)
            start = perf_counter()
            for first in range(0, gallery.size, _WRITTEN_AT_ONCE):
                block = slice(first, first + _WRITTEN_AT_ONCE)
                index.add(ids[block], gallery.codes[block])
            while len(index) < gallery.size:
                sleep(0.1)
            fill_seconds[name] = perf_counter() - start
            if isinstance(index, MilvusIndex):
                index.settle()
                sleep(_SETTLING_SECONDS)
        shares = _shares_found(gallery, indexes)
        times = interleaved(
            {name: _single(gallery, index) for name, index in indexes.items()},
            Schedule(_ROUNDS, _CALLS_A_TURN, seconds),
        )
    return [EngineResult(name, fill_seconds[name], times[name], shares[name]) for name in indexes]


def engine_table(results: Sequence[EngineResult]) -> str:
    """Return the results as Markdown; "× scan" is the time in terms of the scan's in the same run."""
    scan = next(result.one.p50 for result in results if result.engine == SCAN)
    rows = (
        (
            each.engine,
            f"{1000 * each.one.p50:.2f}",
            f"{1000 * each.one.best:.2f}",
            f"{each.one.p50 / scan:.0f}",
            f"{each.fill_seconds:.1f}",
            f"{each.found:.3f}",
        )
        for each in results
    )
    return markdown_table(("engine", "p50 ms", "best ms", "× scan", "fill s", "right hits"), rows)


@contextmanager
def _open(text: str, bits: int) -> Iterator[tuple[str, Index]]:
    address = Address.parse(text)
    if address.scheme == "milvus":
        with MilvusServer(address) as server:
            kind: Kind = "BIN_IVF_FLAT" if address.options.get("index") == "BIN_IVF_FLAT" else "BIN_FLAT"
            # As a service reads it: each search for itself, without waiting for the server's next tick.
            collection = Collection.create(server, address.name, CollectionLayout(bits, kind=kind), "Bounded")
            yield f"Milvus, {kind}", MilvusIndex(collection)
        return
    hnsw = address.options.get("hnsw", "0") != "0"
    with Database(address) as database:
        yield f"pgvector, {'HNSW' if hnsw else 'exact'}", PgvectorIndex(database, bits, hnsw)


def _single(gallery: CodeGallery, index: Index) -> Callable[[int], object]:
    return lambda number: index.search(gallery.queries[number : number + 1], K)


def _shares_found(gallery: CodeGallery, indexes: Mapping[str, Index]) -> dict[str, float]:
    reference = ReferenceIndex(gallery.bits)
    reference.add(np.arange(gallery.size), gallery.codes)
    queries = gallery.queries[:CHECKED]
    right = reference.search(queries, K)
    return {name: _share(index.search(queries, K), right) for name, index in indexes.items()}


def _share(found: list[Hits], right: list[Hits]) -> float:
    return float(np.mean([np.isin(best.ids, hits.ids).mean() for hits, best in zip(found, right, strict=True)]))


if __name__ == "__main__":
    run(main)
