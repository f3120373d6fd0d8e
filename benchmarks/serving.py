"""How the service answers while several people draw at once, on this machine alone.

    python benchmarks/serving.py --users 8 --seconds 60

A server runs in a process of its own over a gallery of random codes; users are threads of this one. The peer is the
same work without a service: a drawing is encoded and searched for in this process, by one user alone. With
``--uploads 2`` two more clients send pictures all the time that take long to decode.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from io import BytesIO
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Annotated, Self

import numpy as np
import typer
from PIL import Image

from sketchhash.codes import pack
from sketchhash.datasets.synthetic import CATEGORIES, draw_sketch
from sketchhash.errors import SketchHashError
from sketchhash.gallery import GalleryFile
from sketchhash.imaging import Drawing, InkStyle, rasterise
from sketchhash.index import scan_index
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from sketchhash.server import Access, create_app, create_server, listen, open_service
from timing import Cost, RecordFile, cost, finish, run, say

OK = 200
MEMORY = re.compile(r"^process_resident_memory_bytes (\S+)$", re.MULTILINE)
PHOTOS = re.compile(r"^sketchhash_photos (\S+)$", re.MULTILINE)

_HITS = 40
_TIMEOUT = 10.0  # seconds
_HEADERS = {"Content-Type": "application/json"}
_STARTING_SECONDS = 120.0
_WARMING_SECONDS = 3.0
_STOPPING_SECONDS = 20.0
_METRICS_SECONDS = 300.0  # on a busy machine
_ALONE_SECONDS = 2.0
_HOSTILE_SIDE = 7000  # pixels, of sixteen bits
_ALONE_DRAWINGS = 8

_NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)"
_INSERT_PHOTOS = f"""{_NUMBERS}
    INSERT INTO photos (path, sha256, size, mtime_ns, indexed_at)
    SELECT CAST(printf('/nowhere/%03d/%09d.jpg', n / 10000, n) AS BLOB), randomblob(32), 0, 0, 0 FROM numbers
"""
_INSERT_CODES = "INSERT INTO codes (photo, code) SELECT id, randomblob(?) FROM photos"

Strokes = list[list[list[float]]]


@dataclass(frozen=True)
class Pace:
    """The page searches when nothing was drawn for 120 ms, or that often; a mouse gives about 100 points a second."""

    seconds: float = 0.12
    points: int = 12


@dataclass(frozen=True)
class Reply:
    """When a request was sent, how long its answer took, and its HTTP status: 0 if there was none."""

    sent_at: float
    seconds: float
    status: int


@dataclass(frozen=True)
class Memory:
    """Bytes that the server's process holds: when it has warmed up, and at the end."""

    warm: int
    end: int


@dataclass(frozen=True)
class ServingTimes:
    """A run in numbers; seconds are those of answers that came, as their users saw them."""

    users: int
    seconds: float
    photos: int
    requests: int
    per_second: float
    p50_seconds: float
    p99_seconds: float
    worst_seconds: float
    errors: Mapping[int, int]
    memory: Memory
    uploads: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, replies: Sequence[Reply], users: int, seconds: float, photos: int, memory: Memory) -> Self:
        """Summarise the replies of a run; ``errors`` counts those other than 200, by status."""
        times = [reply.seconds for reply in replies if reply.status == OK] or [float("nan")]
        p50, p99, worst = np.percentile(times, (50, 99, 100)).tolist()
        errors = dict(Counter(reply.status for reply in replies if reply.status != OK))
        return cls(users, seconds, photos, len(replies), len(replies) / seconds, p50, p99, worst, errors, memory)


def main(
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="How long they draw.")] = 60,
    users: Annotated[int, typer.Option(min=1, max=64, help="How many people draw at once.")] = 8,
    photos: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many random codes to search.")] = 1_000_000,
    uploads: Annotated[int, typer.Option(min=0, max=8, help="How many clients send hostile pictures.")] = 0,
    model: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The model folder; otherwise the default one.")
    ] = None,
    out: RecordFile = None,
) -> None:
    """Let users draw against a server on this machine, and time its answers as they see them."""
    folder = default_model_folder() if model is None else model
    with TemporaryDirectory() as place:
        path = Path(place) / "random.gallery"
        say(f"Making a gallery of {photos:,} random codes ...")
        with GalleryFile.create(path, Model.load(folder)) as gallery:
            fill_with_random_codes(gallery, photos)
        alone = search_alone(path, folder)
        say(f"{users} users draw for {seconds:g} seconds ...")
        times = measure(path, folder, users, seconds, uploads=uploads)
    finish(serving_table(times, alone), {"service": asdict(times), "alone": asdict(alone)}, out)


def measure(
    gallery: Path, model_folder: Path, users: int, seconds: float, pace: Pace | None = None, uploads: int = 0
) -> ServingTimes:
    """Let so many users draw for so long, after some seconds of warming up that do not count."""
    with serving(gallery, model_folder) as port, ThreadPoolExecutor(users + uploads) as threads:
        begin = perf_counter() + _WARMING_SECONDS
        end = begin + seconds
        seeds = np.random.default_rng(0).spawn(users)
        drawn = [threads.submit(draw_until, end, port, pace or Pace(), rng) for rng in seeds]
        sent = [threads.submit(_upload_until, end, port) for _ in range(uploads)]
        sleep(max(begin - perf_counter(), 0))
        warm = read_metric(port, MEMORY)
        replies: list[Reply] = [reply for future in drawn for reply in future.result() if reply.sent_at >= begin]
        memory = Memory(warm, read_metric(port, MEMORY))
        times = ServingTimes.of(replies, users, seconds, read_metric(port, PHOTOS), memory)
        return replace(times, uploads=dict(sum((future.result() for future in sent), Counter[int]())))


def search_alone(gallery: Path, model_folder: Path, seconds: float = _ALONE_SECONDS) -> Cost:
    """Time encoding a drawing and scanning the gallery's codes in this process."""
    model = Model.load(model_folder)
    with GalleryFile.open(gallery) as opened:
        index = scan_index(*opened.read_codes())
    ink = model.manifest.ink
    style = InkStyle(ink.line_width, ink.margin)

    def search(drawing: Drawing) -> object:
        values = model.encode_sketches(rasterise(drawing, ink.size, style)[None])
        return index.search(pack(values), min(_HITS, len(index)))

    rng = np.random.default_rng(0)
    return cost(search, [draw_sketch(category, rng) for category in CATEGORIES[:_ALONE_DRAWINGS]], seconds)


def fill_with_random_codes(gallery: GalleryFile, photos: int) -> None:
    """Put so many photos with random codes into an empty gallery: a million in some ten seconds.

    SQLite draws the codes itself, others in every run: no time depends on which they are.
    """
    gallery.rows(_INSERT_PHOTOS, photos)
    gallery.rows(_INSERT_CODES, gallery.model.bits // 8)


def draw_until(end: float, port: int, pace: Pace, rng: np.random.Generator) -> list[Reply]:
    """Draw one thing after the other until a time of `perf_counter`; drawing goes on during a request."""
    replies: list[Reply] = []
    connection = HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    due = perf_counter() + pace.seconds * rng.random()
    for strokes in _growing_drawings(pace.points, rng):
        sleep(max(due - perf_counter(), 0))
        if perf_counter() >= end:
            break
        replies.append(_request(connection, strokes))
        due = max(due + pace.seconds, perf_counter())
    connection.close()
    return replies


def grow(drawing: Drawing, points: int) -> Iterator[Strokes]:
    """Yield the strokes after so many more points each time, and at last all of them."""
    strokes = drawing.to_json()
    total = sum(map(len, strokes))
    for drawn in (*range(points, total, points), total):
        left, shown = drawn, []
        for stroke in strokes:
            if left > 0:
                shown.append(stroke[:left])
            left -= len(stroke)
        yield shown


def serving_table(times: ServingTimes, alone: Cost | None = None) -> str:
    """Return a run as Markdown; "× alone" is the median answer in terms of the same search in this process."""
    errors, uploads = (
        ", ".join(f"{count} × {status or 'no answer'}" for status, count in sorted(counted.items()))
        for counted in (times.errors, times.uploads)
    )
    growth = times.memory.end - times.memory.warm
    rows = [
        ("photos", f"{times.photos:,}"),
        ("users", f"{times.users}"),
        ("seconds", f"{times.seconds:.0f}"),
        ("requests", f"{times.requests:,}"),
        ("requests/s", f"{times.per_second:.1f}"),
        ("p50", f"{1000 * times.p50_seconds:.1f} ms"),
        ("p99", f"{1000 * times.p99_seconds:.1f} ms"),
        ("worst", f"{1000 * times.worst_seconds:.1f} ms"),
        ("errors", errors or "none"),
        ("memory", f"{times.memory.end / 1e6:.0f} MB ({growth / 1e6:+.1f} MB since warm)"),
    ]
    if uploads:
        rows.append(("hostile pictures meanwhile", uploads))
    if alone is not None:
        rows.append(("the same search in one process, alone", f"{alone.milliseconds:.1f} ms"))
        rows.append(("p50 × alone", f"{1000 * times.p50_seconds / alone.milliseconds:.2f}"))
    return markdown_table(("what", "measured"), rows)


@contextmanager
def serving(gallery: Path, model_folder: Path) -> Iterator[int]:
    """Run a server in another process and yield its port."""
    context = get_context("spawn")  # a fork would share this process's threads and memory
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(gallery, model_folder, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield _await_port(ours)
    finally:
        process.terminate()
        process.join(_STOPPING_SECONDS)


def read_metric(port: int, metric: re.Pattern[str]) -> int:
    """Return a number that the service tells about itself."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_METRICS_SECONDS)
    try:
        connection.request("GET", "/metrics")
        found = metric.search(connection.getresponse().read().decode())
    finally:
        connection.close()
    return int(float(found[1])) if found else 0  # only Linux tells a process's memory


def _serve(gallery: Path, model_folder: Path, parent: Connection) -> None:
    with listen("127.0.0.1", 0) as listener, open_service(gallery, model_folder) as service:
        parent.send(listener.getsockname()[1])
        create_server(create_app(service, Access())).run(sockets=[listener])


def _await_port(child: Connection) -> int:
    try:
        if child.poll(_STARTING_SECONDS):
            return int(child.recv())
    except EOFError:
        pass
    raise SketchHashError("The server did not start; what it printed is above.")


def _upload_until(end: float, port: int) -> Counter[int]:
    """Send a picture again and again that takes seconds to decode; return how often which status came."""
    file = BytesIO()
    Image.new("I;16", (_HOSTILE_SIDE, _HOSTILE_SIDE)).save(file, "PNG")
    head = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="a"\r\n\r\n'
    body, headers = head + file.getvalue() + b"\r\n--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}
    statuses = Counter[int]()
    while perf_counter() < end:
        connection = HTTPConnection("127.0.0.1", port, timeout=_METRICS_SECONDS)
        connection.request("POST", "/api/search", body, headers)
        answer = connection.getresponse()
        answer.read()
        statuses[answer.status] += 1
        connection.close()
    return statuses


def _growing_drawings(points: int, rng: np.random.Generator) -> Iterator[Strokes]:
    for number in cycle(rng.permutation(len(CATEGORIES)).tolist()):
        yield from grow(draw_sketch(CATEGORIES[number], rng), points)


def _request(connection: HTTPConnection, strokes: Strokes) -> Reply:
    body = json.dumps({"strokes": strokes, "k": _HITS})
    start = perf_counter()
    try:
        connection.request("POST", "/api/search", body, _HEADERS)
        answer = connection.getresponse()
        answer.read()
        status = answer.status
    except (OSError, HTTPException):
        connection.close()  # the next request opens it again
        status = 0
    return Reply(start, perf_counter() - start, status)


if __name__ == "__main__":
    run(main)
