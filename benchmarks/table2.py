"""What a query costs at the sizes of the paper's Table 2: codes beside the real vectors of its methods, in one run.

    python benchmarks/table2.py --out results/table2-times.json

Galleries have as many photos as the paper's, and are drawn at random: time and memory do not depend on what vectors
mean, and nothing is said about quality. Codes are searched by the scan, vectors in single precision in NumPy by the
distance of their method, as in `sketchhash paper run`; both for the 200 nearest, query by query, on one thread. A
method's vectors and the codes of all lengths are timed in turns, so their ratio does not depend on when they ran, and
in processor time, since a busy machine interrupts long queries more often than short ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import thread_time
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from code_galleries import clustered_gallery
from sketchhash.baselines import Distance, card_of
from sketchhash.errors import require
from sketchhash.evaluation.metrics import DEPTH
from sketchhash.index import scan_index
from sketchhash.paper.published import GALLERIES, METHOD_COSTS, cost
from sketchhash.paper.runner import distances_from, nearest
from sketchhash.results import markdown_table
from timing import RecordFile, Schedule, ShownRecord, Timing, finish, interleaved, read_record, run, say

BITS = (32, 64, 128)
ROUNDS, CALLS_A_TURN = 10, 10
QUERIES = 100

_PAPER_PHOTOS = tuple(gallery.photos for gallery in GALLERIES)
_NOTES = (
    "The 200 nearest of one query, on one thread, in processor time; medians. MB are 2^20 bytes: a bit a bit, and 4 "
    "bytes a dimension (in the paper 8). The last columns say how many times as long, and as much memory, a method's "
    "vectors take as codes of 64 bits that were timed in turns with them."
)

Search = Callable[[int], object]


@dataclass(frozen=True)
class VectorCost:
    """A method's vectors and, timed in turns with them, codes of every length.

    Attributes:
        method: Its name in the catalogue.
        photos: In the gallery.
        dimensions: Of its vectors.
        distance: By which they are compared.
        one: One query among vectors.
        codes: One query among codes, by their length in bits.
    """

    method: str
    photos: int
    dimensions: int
    distance: str
    one: Timing
    codes: Mapping[int, Timing]

    @property
    def nbytes(self) -> int:
        """The memory of the vectors."""
        return 4 * self.photos * self.dimensions

    def times_longer(self, bits: int) -> float:
        """Return how many times as long a query among vectors takes as one among codes."""
        return self.one.p50 / self.codes[bits].p50

    def times_larger(self, bits: int) -> float:
        """Return how many times as much memory vectors take as codes."""
        return self.nbytes / code_bytes(self.photos, bits)

    @classmethod
    def from_record(cls, document: Mapping[str, Any]) -> VectorCost:
        """Parse what a record holds."""
        codes = {int(bits): Timing(**timing) for bits, timing in document["codes"].items()}
        return cls(**{**document, "one": Timing(**document["one"]), "codes": codes})


def main(
    photos: Annotated[
        list[int] | None,
        typer.Option(min=DEPTH, help="Photos in a gallery; repeat for several.  [default: 204489, 73002]"),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A method of Table 2; repeat.  [default: all]")
    ] = None,
    seconds: Annotated[float, typer.Option(help="For each kind of vectors and each code length.")] = 1.0,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Time queries among codes and among the vectors of Table 2's methods; the largest take 10 GB of memory."""
    if show is not None:
        costs = read_record(show, parse)
    else:
        costs = [
            each for count in photos or _PAPER_PHOTOS for each in measure(count, method or [*METHOD_COSTS], seconds)
        ]
    finish(page(costs), {"costs": [asdict(each) for each in costs]}, None if show else out)


def measure(photos: int, methods: Sequence[str], seconds: float) -> list[VectorCost]:
    """Time the vectors of some methods, each in turns with codes of every length; equal vectors are timed once."""
    rng = np.random.default_rng(0)
    codes = {str(bits): _search_codes(photos, bits, rng) for bits in BITS}
    spaces = {name: (card_of(name).sizes[0], card_of(name).distance) for name in methods}
    found: dict[tuple[int, Distance], dict[str, Timing]] = {}
    for dimensions, distance in spaces.values():
        if (dimensions, distance) in found:
            continue
        say(f"{photos:,} vectors of {dimensions:,} dimensions by {distance.value} ...")
        calls = {"vectors": _search_vectors(photos, dimensions, distance, rng), **codes}
        with require("threadpoolctl", "bench").threadpool_limits(1):
            for call in calls.values():
                call(0)
            found[dimensions, distance] = interleaved(calls, Schedule(ROUNDS, CALLS_A_TURN, seconds), thread_time)
    costs = []
    for name, (dimensions, distance) in spaces.items():
        times = found[dimensions, distance]
        beside = {bits: times[str(bits)] for bits in BITS}
        costs.append(VectorCost(name, photos, dimensions, distance.value, times["vectors"], beside))
    return costs


def code_bytes(photos: int, bits: int) -> int:
    """Return the memory of codes."""
    return photos * bits // 8


def page(costs: Sequence[VectorCost]) -> str:
    """Return a table for each number of photos."""
    tables = []
    for photos in dict.fromkeys(each.photos for each in costs):
        some = [each for each in costs if each.photos == photos]
        tables += [f"{photos:,} photos", cost_table(some)]
    return "\n\n".join((*tables, _NOTES))


def cost_table(costs: Sequence[VectorCost]) -> str:
    """Return what each method and each code length costs in one gallery, beside the paper's numbers."""
    heading = ("method", "encoding", "distance", "ms", "MB", "paper: ms", "paper: MB", "× time", "× memory")
    rows = [
        (
            card_of(each.method).title,
            f"{each.dimensions:,} × float32",
            each.distance,
            _milliseconds(each.one.p50),
            _megabytes(each.nbytes),
            *_published(each.method, each.dimensions, each.photos),
            f"{each.times_longer(64):,.0f}",
            f"{each.times_larger(64):,.0f}",
        )
        for each in costs
    ]
    photos = costs[0].photos
    for bits in BITS:
        seconds = median(each.codes[bits].p50 for each in costs)
        memory = _megabytes(code_bytes(photos, bits))
        encoding = f"{bits} bits"
        rows.append(
            ("DSH", encoding, "hamming", _milliseconds(seconds), memory, *_published("dsh", bits, photos), "", "")
        )
    return markdown_table(heading, rows)


def parse(document: Mapping[str, Any]) -> list[VectorCost]:
    """Read the costs of a record."""
    return [VectorCost.from_record(each) for each in document["costs"]]


def _search_codes(photos: int, bits: int, rng: np.random.Generator) -> Search:
    gallery = clustered_gallery(photos, bits, rng)
    index = scan_index(np.arange(photos), gallery.codes)
    queries = gallery.queries[:QUERIES]
    return lambda number: index.search(queries[number % QUERIES : number % QUERIES + 1], DEPTH)


def _search_vectors(photos: int, dimensions: int, distance: Distance, rng: np.random.Generator) -> Search:
    queries: NDArray[np.float32] = rng.random((QUERIES, dimensions), dtype=np.float32)
    distances = distances_from(distance, rng.random((photos, dimensions), dtype=np.float32))
    return lambda number: nearest(distances(queries[number % QUERIES]), DEPTH)


def _published(method: str, size: int, photos: int) -> tuple[str, str]:
    gallery = next((gallery for gallery in GALLERIES if gallery.photos == photos), None)
    found = None if gallery is None else cost(method, size, gallery)
    return ("", "") if found is None else (_milliseconds(found.seconds), f"{found.megabytes:,g}")


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def _megabytes(nbytes: int) -> str:
    return f"{nbytes / 2**20:,.2f}"


if __name__ == "__main__":
    run(main)
