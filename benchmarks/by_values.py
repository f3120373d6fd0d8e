"""What a search by a drawing's real values costs and gains, over all photos, beside a search by its code.

    python benchmarks/by_values.py --out results/by-values.json
    python benchmarks/by_values.py --data BERLIN --out results/by-values.json

Codes are searched for the thousand best, as for a drawing whose shape decides afterwards. "Code" compares bits; "code,
then values" orders the nearest thousand by the values, as galleries on engines do; "values" compares all codes with
the values. All on one thread, in turns; ratios are of the best times, which other jobs on the machine disturb least.
faiss and NumPy compare the values with signs in single precision, which take 32 times the memory of codes.

With a dataset, the query sketches of its split search all its photos with the model, and mAP is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import typer
from numpy.typing import NDArray

from code_galleries import clustered_gallery, random_gallery
from sketchhash.cli.console import progress
from sketchhash.codes import hamming, pack, unpack
from sketchhash.datasets import draw_split, open_dataset
from sketchhash.errors import MissingExtra, require
from sketchhash.evaluation.encodings import Encodings, Medium
from sketchhash.evaluation.metrics import mean_average_precision
from sketchhash.evaluation.quality import rank_one_sided
from sketchhash.evaluation.ranking import labels, rank_codes, rank_distances
from sketchhash.files import user_cache
from sketchhash.index import rerank
from sketchhash.index.pruned import PrunedIndex
from sketchhash.index.scan import ScanIndex
from sketchhash.index.weighing import weigh, weighed_distances
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from timing import RecordFile, Schedule, ShownRecord, finish, interleaved, read_record, run, say

K = 1000
QUERIES = 100
SCAN = "code, scan"

_SIZES = (200_000, 1_000_000)
_BITS = 256
_SCHEDULE = Schedule(rounds=20, calls_a_turn=5, seconds=2.0)
_CANDIDATES = (200, 1000)

Values = NDArray[np.float32]


@dataclass(frozen=True)
class ByValues:
    """All that was measured.

    Attributes:
        milliseconds: One query, by gallery and way to search: the median of all calls, and the best.
        precision: mAP by way to search; empty without a dataset.
        searched: What the mAP is of.
    """

    milliseconds: Mapping[str, Mapping[str, Sequence[float]]]
    precision: Mapping[str, float]
    searched: str

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        return cls(**{name: record[name] for name in ("milliseconds", "precision", "searched")})


def page(measured: ByValues) -> str:
    """Return both tables."""
    rows = [
        (gallery, way, f"{median:.3f}", f"{best:.3f}", f"{best / times[SCAN][1]:.2f}")
        for gallery, times in measured.milliseconds.items()
        for way, (median, best) in times.items()
    ]
    tables = [markdown_table(("gallery", "way", "one query, p50 ms", "best ms", "× scan"), rows)] if rows else []
    if measured.precision:
        found = [(way, f"{value:.4f}") for way, value in measured.precision.items()]
        tables.append(f"{markdown_table(('ordered by', 'mAP'), found)}\n\n{measured.searched}")
    return "\n\n".join(tables)


def time_ways(
    codes: NDArray[np.uint8], queries: NDArray[np.uint8], schedule: Schedule = _SCHEDULE
) -> dict[str, tuple[float, float]]:
    """Return the milliseconds of one query by way, the median and the best.

    Values are drawn for packed queries ``(queries, bits // 8)``.
    """
    rng = np.random.default_rng(0)
    values = (rng.exponential(size=(len(queries), queries.shape[1] * 8)) * unpack(queries)).astype(np.float32)
    ids, bits = np.arange(len(codes)), codes.shape[1] * 8
    scan, pruned = ScanIndex(bits), PrunedIndex(bits)
    for index in (scan, pruned):
        index.add(ids, codes)

    def one(rows: NDArray[Any], call: int) -> NDArray[Any]:
        row: NDArray[Any] = rows[call % len(rows)]
        return row[np.newaxis]

    def reranked(call: int) -> object:
        (hits,) = scan.search(one(queries, call), K)
        return rerank(hits.ids, codes[hits.ids], values[call % len(values)])

    ways: dict[str, Callable[[int], object]] = {
        SCAN: lambda call: scan.search(one(queries, call), K),
        "code, then values": reranked,
        "values, scan": lambda call: scan.search_by_values(one(values, call), K),
        "code, pruned": lambda call: pruned.search(one(queries, call), K),
        "values, pruned": lambda call: pruned.search_by_values(one(values, call), K),
    }
    signs = unpack(codes).astype(np.float32)
    ways["values, NumPy"] = lambda call: np.argpartition(-(signs @ values[call % len(values)]), K)[:K]
    try:
        faiss = require("faiss", "bench")
    except MissingExtra as missing:
        say(str(missing))
    else:
        faiss.omp_set_num_threads(1)
        binary, products = faiss.IndexBinaryFlat(bits), faiss.IndexFlatIP(bits)
        binary.add(codes)
        products.add(signs)
        ways["code, faiss"] = lambda call: binary.search(one(queries, call), K)
        ways["values, faiss"] = lambda call: products.search(one(values, call), K)
    with require("threadpoolctl", "bench").threadpool_limits(1):
        timed = interleaved(ways, schedule)
    return {name: (round(1000 * each.p50, 4), round(1000 * each.best, 4)) for name, each in timed.items()}


def compare_rankings(
    sketches: Values, photos: Values, sketch_labels: NDArray[Any], photo_labels: NDArray[Any]
) -> dict[str, float]:
    """Return the mAP of values ``(sketches, bits)`` that search codes of ``(photos, bits)``, by way."""
    queries, codes = pack(sketches), pack(photos)
    weights = weigh(sketches)
    sides = (sketch_labels, photo_labels)

    def weighed(number: int) -> NDArray[np.int64]:
        return weighed_distances(queries[number], weights[number], codes).astype(np.int64)

    def first_by_values(number: int, count: int) -> NDArray[np.int64]:
        """Put the nearest by code first, in the order of the values; then the others as they are."""
        distances: NDArray[np.int64] = hamming(queries[number : number + 1], codes)[0].astype(np.int64)
        first = np.argsort(distances, kind="stable")[:count]
        distances[first] = weighed(number)[first] - (1 << 16)
        return distances

    def ranked(distances: Callable[[int], NDArray[np.int64]]) -> float:
        return mean_average_precision(rank_distances((distances(n)[None] for n in range(len(queries))), *sides)).value

    return {
        "code": mean_average_precision(rank_codes(queries, codes, *sides)).value,
        **{
            f"code, the first {count:,} by values": ranked(partial(first_by_values, count=count))
            for count in _CANDIDATES
        },
        "values, as weights of 6 bits": ranked(weighed),
        "values, in full precision": mean_average_precision(rank_one_sided(sketches, photos, *sides)).value,
    }


def measure_precision(data: Path, cache: Path) -> tuple[dict[str, float], str]:
    """Return mAP by way, of the query sketches of a dataset that search all its photos, and what was searched."""
    model, dataset = Model.load(default_model_folder()), open_dataset(data)
    parts = draw_split(dataset, seed=0).apply(dataset)
    encodings = Encodings(model, cache)
    sides: list[tuple[NDArray[Any], Values]] = []
    for medium, items in ((Medium.SKETCH, parts.queries), (Medium.PHOTO, parts.gallery)):
        missing = encodings.missing(medium, items)
        with progress(f"encoding {medium}s", len(missing)) as advance:
            encodings.encode(medium, missing, advance)
        encoded, values = encodings.values(medium, items)
        sides.append((labels(encoded), values))
    (sketch_labels, sketches), (photo_labels, photos) = sides
    searched = (
        f"{len(sketches):,} query sketches search {len(photos):,} photos of {dataset.name}; "
        f"model {model.fingerprint[:12]}, {model.bits} bits."
    )
    return compare_rankings(sketches, photos, sketch_labels, photo_labels), searched


def main(
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="A dataset to measure mAP on.")] = None,
    times: Annotated[bool, typer.Option(help="Measure times.")] = True,
    size: Annotated[list[int] | None, typer.Option(help="Number of codes; repeat for several.")] = None,
    bits: Annotated[int, typer.Option(help="Length of the codes.")] = _BITS,
    cache: Annotated[Path | None, typer.Option(metavar="DIR", help="Where to keep encodings.")] = None,
    out: RecordFile = None,
    show: ShownRecord = None,
) -> None:
    """Time searches by code and by values, and compare their mAP."""
    if show is not None:
        typer.echo(page(read_record(show, ByValues.from_record)))
        return
    rng, milliseconds = np.random.default_rng(0), {}
    for make in (clustered_gallery, random_gallery) if times else ():
        for each in size or _SIZES:
            gallery = make(each, bits, rng)
            name = f"{each:,} {gallery.kind} codes of {bits} bits"
            say(name)
            milliseconds[name] = time_ways(gallery.codes, gallery.queries[:QUERIES])
    precision, searched = measure_precision(data, cache or user_cache()) if data else ({}, "")
    measured = ByValues(milliseconds, precision, searched)
    finish(page(measured), asdict(measured), out)


if __name__ == "__main__":
    run(main)
