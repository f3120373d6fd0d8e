"""What happens when indexing is killed, a service gets nonsense, files are damaged, and people draw for an hour.

    python benchmarks/reliability.py --kills 500 --requests 20000 --files 3000 --galleries 400 --minutes 60 \
        --out record.json

All of it is done to this machine alone, to galleries and photos that it makes, and ends by itself. A fault is anything
but what is promised: a gallery that is damaged or has lost a photo, an answer of 500 or above other than 503, a drawing
that finds other photos than before, a file that is neither decoded nor refused, a damaged gallery that is neither read
nor explained, memory that grows. The record is
written as it goes, and ``--resume`` goes on with it.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any, Self

import numpy as np
import typer
from numpy.typing import NDArray
from PIL import Image

from drawing import draw_for, write_photo
from serving import MEMORY, read_metric, serving
from sketchhash.errors import BadArgument, SketchHashError, UnreadableImage
from sketchhash.gallery import GalleryFile, Searcher, find_copies, index_events, verify
from sketchhash.imaging import DecoderPool, read_small_photo
from sketchhash.imaging.formats import FORMATS
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from timing import RecordFile, ShownRecord, finish, read_record, resident_bytes, run, say, write_record

_PHOTOS = 48
_LONGEST_LIFE = 8.0  # seconds after the start of indexing
_LONGEST_LOOK = 60.0  # seconds that a damaged gallery may take, on a busy machine too
_PAGE_BYTES = 4096
_DRAWERS = 8
_FLAT_BYTES = 50_000_000  # by which the service may grow, once it has seen everything
_TIMEOUT = 300.0  # seconds: on a busy machine an answer is late, not lost
_LATE = "too late"
_BUSY = "503"
_EXPECTED = ("200", "422", _BUSY)  # to people who draw; 422: on a busy machine a photo's time may run out
_CHECK_EVERY = 50
_TOLD_EVERY = 250
_DRAWING = {"strokes": [[[0, 0], [80, 10], [40, 70], [0, 0]]], "k": 10}
_PATHS = ("/api/search", "/api/photos/1", "/api/photos/1/thumbnail", "/api/photos/1/details", "/api/gallery", "/health")
_PARTS = {
    "kills": "kills of indexing",
    "requests": "requests",
    "files": "damaged files",
    "galleries": "damaged galleries",
    "drawing": "questions of eight people who draw",
}

Random = np.random.Generator


@dataclass(frozen=True)
class Outcome:
    """How often what was done ended how, what was not as promised, and what it took.

    ``p99_seconds`` is what people who drew waited for hits; 0 where nobody did.
    """

    done: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0
    grown_bytes: int = 0
    p99_seconds: float = 0.0

    def __add__(self, other: Outcome) -> Outcome:
        """Return both together; of memory and waiting, the worse."""
        return Outcome(
            self.done + other.done,
            dict(Counter(self.ends) + Counter(other.ends)),
            self.faults + other.faults,
            self.seconds + other.seconds,
            max(self.grown_bytes, other.grown_bytes, key=abs),
            max(self.p99_seconds, other.p99_seconds),
        )


@dataclass(frozen=True)
class Reliability:
    """All that was tried."""

    kills: Outcome = Outcome()
    requests: Outcome = Outcome()
    files: Outcome = Outcome()
    galleries: Outcome = Outcome()
    drawing: Outcome = Outcome()

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Parse a record."""
        return cls(**{name: Outcome(**record[name]) for name in _PARTS if name in record})

    @property
    def faults(self) -> list[str]:
        """What was not as promised."""
        return [fault for part in _PARTS for fault in getattr(self, part).faults]


def main(
    kills: Annotated[int, typer.Option(min=0, help="How often indexing is killed.")] = 500,
    requests: Annotated[int, typer.Option(min=0, help="How many requests the service gets.")] = 20_000,
    files: Annotated[int, typer.Option(min=0, help="How many damaged pictures are decoded.")] = 3_000,
    galleries: Annotated[int, typer.Option(min=0, help="How many damaged galleries are opened.")] = 400,
    minutes: Annotated[float, typer.Option(min=0, help="How long eight people draw.")] = 60,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Do what the record of --out does not have yet.")] = False,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Kill indexing, send nonsense to a service, read damaged files, draw, and count what is not as promised."""
    if show is not None:
        found = read_record(show, Reliability.from_record)
    else:
        if resume and out is None:
            raise BadArgument("There is no record to go on with. Name it with --out.")
        begun = read_record(out, Reliability.from_record) if resume and out and out.exists() else Reliability()
        for found in _try_all(begun, Wanted(kills, requests, files, galleries, 60 * minutes), seed):
            if out is not None:
                write_record(asdict(found), out)
    finish(page(found), asdict(found), None if show else out)
    if found.faults:
        raise typer.Exit(1)


@dataclass(frozen=True)
class Wanted:
    """How much of each part is asked for; of drawing, seconds."""

    kills: int
    requests: int
    files: int
    galleries: int
    drawing: float


def _try_all(found: Reliability, wanted: Wanted, seed: int) -> Iterator[Reliability]:
    """Do what is missing, and yield what there is now and then."""
    folder = default_model_folder()
    yield found
    with TemporaryDirectory() as name:
        place = Path(name)
        write_photos(place / "photos", _PHOTOS, np.random.default_rng(seed))
        parts: dict[str, Callable[[Random], Iterator[Outcome]]] = {
            "files": lambda rng: decode_damage(wanted.files - found.files.done, rng),
            "galleries": lambda rng: open_damage(place, folder, wanted.galleries - found.galleries.done, rng),
            "requests": lambda rng: send_nonsense(place, folder, wanted.requests - found.requests.done, rng),
            "drawing": lambda rng: draw(place, folder, wanted.drawing - found.drawing.seconds, rng),
            "kills": lambda rng: kill_indexing(place, folder, wanted.kills - found.kills.done, rng),
        }
        for part, attempt in parts.items():
            before: Outcome = getattr(found, part)
            say(f"{_PARTS[part].capitalize()} ...")
            for outcome in attempt(np.random.default_rng([seed, *part.encode(), before.done])):
                found = replace(found, **{part: before + outcome})
                yield found


def page(found: Reliability) -> str:
    """Return everything as Markdown."""
    rows = []
    for part, name in _PARTS.items():
        outcome: Outcome = getattr(found, part)
        rows.append(
            (
                name,
                f"{outcome.done:,}",
                ", ".join(f"{end} {times:,}" for end, times in sorted(outcome.ends.items())),
                "; ".join(outcome.faults[:3]) or "none",
                f"{outcome.seconds:,.0f} s",
                f"{outcome.grown_bytes / 1e6:+.0f} MB",
                f"{1000 * outcome.p99_seconds:.0f} ms" if outcome.p99_seconds else "",
            )
        )
    return markdown_table(("what", "how many", "ends", "faults", "took", "memory", "p99"), rows)


def write_photos(folder: Path, count: int, rng: Random) -> None:
    """Write small photos, no two alike."""
    folder.mkdir()
    for number in range(count):
        write_photo(folder / f"{number:04}.jpg", rng)


def kill_indexing(place: Path, model_folder: Path, kills: int, rng: Random) -> Iterator[Outcome]:
    """Kill `sketchhash index` at random moments, and look at the gallery each time; at the end, let it finish.

    A run that finishes before it is killed does not count; the next one begins a new gallery.
    """
    if kills <= 0:
        return
    start, ends, faults = perf_counter(), Counter[str](), list[str]()
    model, gallery, before = Model.load(model_folder), place / "killed.gallery", 0
    command = [sys.executable, "-m", "sketchhash", "index", str(place / "photos"), "--gallery", str(gallery)]
    command += ["--model", str(model_folder)]
    total = sum(1 for _ in (place / "photos").iterdir())
    while ends["killed"] < kills:
        if before == total:
            gallery.unlink()
            before = 0
        worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            worker.wait(rng.uniform(0.2, _LONGEST_LIFE))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        ends["killed" if worker.returncode < 0 else "finished"] += 1
        photos, problem = _look_at(gallery, model)
        if problem or photos < before:
            faults.append(problem or f"kill {ends['killed']}: {before} photos became {photos}")
        before = photos
        yield Outcome(ends["killed"], dict(ends), list(faults), perf_counter() - start)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    photos, problem = _look_at(gallery, model)
    if problem or photos != total:
        faults.append(problem or f"at the end {photos} of {total} photos are there")
    yield Outcome(kills, dict(ends), faults, perf_counter() - start)


def send_nonsense(place: Path, model_folder: Path, requests: int, rng: Random) -> Iterator[Outcome]:
    """Send requests that are random, or good ones that were changed, and a good drawing now and then."""
    if requests <= 0:
        return
    start, ends, faults = perf_counter(), Counter[str](), list[str]()
    with serving(_make_gallery(place / "nonsense.gallery", place, model_folder), model_folder) as port:
        expected, before = _hits(port), 0
        for number in range(1, requests + 1):
            end = _send(port, *_request(rng))
            ends[end] += 1
            if end == _LATE or (end.startswith("5") and end != _BUSY):
                faults.append(f"request {number}: {end}")
            if number % _CHECK_EVERY == 1 and _hits(port) != expected:
                faults.append(f"after request {number} a drawing finds other photos")
            if number % _TOLD_EVERY == 0 or number == requests:
                memory = read_metric(port, MEMORY)
                before = before or memory  # when all kinds of requests have been seen
                yield Outcome(number, dict(ends), list(faults), perf_counter() - start, memory - before)


def decode_damage(files: int, rng: Random) -> Iterator[Outcome]:
    """Decode damaged pictures as indexing and the service do."""
    start, ends, faults = perf_counter(), Counter[str](), list[str]()
    pool = DecoderPool(2)
    before = resident_bytes()

    def decode(content: bytes) -> str:
        try:
            pool.run(read_small_photo, content, 256)
        except UnreadableImage as problem:
            return "its process died" if "died" in str(problem) else "refused"
        except Exception as problem:
            faults.append(repr(problem))
            return "fault"
        return "decoded"

    try:
        with ThreadPoolExecutor(2) as threads:
            for first in range(0, files, _TOLD_EVERY):
                numbers = range(first, min(first + _TOLD_EVERY, files))
                forms = [FORMATS[number % len(FORMATS)] for number in numbers]
                ends.update(threads.map(decode, [_damaged(_picture(form, rng), rng) for form in forms]))
                grown = resident_bytes() - before
                yield Outcome(numbers.stop, dict(ends), list(faults), perf_counter() - start, grown)
    finally:
        pool.close()


def open_damage(place: Path, model_folder: Path, galleries: int, rng: Random) -> Iterator[Outcome]:
    """Damage a gallery's file, each time anew, and do with it what `search` and `gallery` do.

    It is read as if nothing were wrong, where the damage is in a picture or in what is not used, or it is explained.
    """
    if galleries <= 0:
        return
    start, ends, faults = perf_counter(), Counter[str](), list[str]()
    model = Model.load(model_folder)
    content = _make_gallery(place / "whole.gallery", place, model_folder).read_bytes()
    path = place / "damaged.gallery"
    for number in range(1, galleries + 1):
        for left in place.glob("damaged.gallery*"):
            left.unlink()
        path.write_bytes(_damaged_gallery(content, rng))
        end, problem = _end_of(path, model, rng)
        ends[end] += 1
        if problem:
            faults.append(f"gallery {number}: {problem}")
        if number % _CHECK_EVERY == 0 or number == galleries:
            yield Outcome(number, dict(ends), list(faults), perf_counter() - start)


def draw(place: Path, model_folder: Path, seconds: float, rng: Random) -> Iterator[Outcome]:
    """Let eight people draw while photos are indexed beside them."""
    if seconds <= 0:
        return
    gallery = _make_gallery(place / "drawn.gallery", place, model_folder)
    start = perf_counter()
    for watched in draw_for(seconds, _DRAWERS, gallery, place / "photos", model_folder, rng):
        ends = Counter(str(status) if status else "no answer" for status in watched.statuses)
        faults = [f"{times} answers of {end}" for end, times in ends.items() if end not in _EXPECTED]
        # The first tenth is for whatever is loaded at first use.
        grown = watched.memory[-1] - watched.memory[len(watched.memory) // 10]
        if grown > _FLAT_BYTES:
            faults.append(f"the service has grown by {grown:,} bytes")
        waited = float(np.percentile(watched.seconds or [0.0], 99))
        faults += watched.problems
        yield Outcome(sum(ends.values()), dict(ends), faults, perf_counter() - start, grown, waited)
    photos, problem = _look_at(gallery, Model.load(model_folder))
    if problem or photos != watched.indexed:
        faults.append(problem or f"at the end {photos} of {watched.indexed} photos are there")
        yield Outcome(sum(ends.values()), dict(ends), faults, perf_counter() - start, grown, waited)


def _make_gallery(path: Path, place: Path, model_folder: Path) -> Path:
    model = Model.load(model_folder)
    with GalleryFile.create(path, model) as opened:
        list(index_events(opened, model, [place / "photos"]))
    return path


def _end_of(path: Path, model: Model, rng: Random) -> tuple[str, str]:
    """Use a gallery, and return how that ended and what was not as promised, if anything was."""
    start, problem, end = perf_counter(), "", "read"
    try:
        _use(path, model, rng)
    except SketchHashError as told:
        end, problem = "explained", "" if str(path) in str(told) else f"it is not named in {str(told)!r}"
    except Exception as raised:
        problem = repr(raised)
    seconds = perf_counter() - start
    if seconds > _LONGEST_LOOK:
        problem = f"took {seconds:.0f} s"
    return "fault" if problem else end, problem


def _use(path: Path, model: Model, rng: Random) -> None:
    """Look at all of a gallery, and search it."""
    with GalleryFile.open(path, model) as gallery:
        gallery.info(), gallery.path_ends(), gallery.top_folders(b"/", 10), gallery.sample(20), gallery.damage()
        for page in gallery.pages():
            gallery.thumbnails([row.photo.id for row in page])
        values = rng.standard_normal(model.bits).astype(np.float32)
        Searcher(model, gallery, lasting=True).by_values(values, 10)
        find_copies(gallery)
        list(verify(gallery))


def _damaged_gallery(content: bytes, rng: Random) -> bytes:
    """Change single bytes, fill pages with noise or with zeros, exchange pages, or cut the end off."""
    broken = bytearray(content)
    pages = len(content) // _PAGE_BYTES
    for _ in range(int(rng.integers(1, 4))):
        page, other = (_PAGE_BYTES * rng.integers(0, pages, size=2)).tolist()
        match int(rng.integers(0, 5)):
            case 0:
                for place in rng.integers(0, len(broken), size=rng.integers(1, 40)).tolist():
                    broken[place] = int(rng.integers(0, 256))
            case 1:
                broken[page : page + _PAGE_BYTES] = rng.bytes(_PAGE_BYTES)
            case 2:
                broken[page : page + _PAGE_BYTES] = bytes(_PAGE_BYTES)
            case 3:
                one, another = (bytes(broken[each : each + _PAGE_BYTES]) for each in (page, other))
                broken[page : page + _PAGE_BYTES], broken[other : other + _PAGE_BYTES] = another, one
            case _:
                return bytes(broken[: int(rng.integers(0, len(broken)))])
    return bytes(broken)


def _look_at(gallery: Path, model: Model) -> tuple[int, str]:
    """Return how many photos a gallery has, and what is wrong with it, if anything is."""
    if not gallery.exists():
        return 0, ""
    try:
        with GalleryFile.create(gallery, model) as opened:
            remarks = opened.damage()
            for photo in opened.photos():
                opened.code(photo.id), opened.thumbnail(photo.id)
            return len(opened), "; ".join(remarks)
    except Exception as problem:
        return 0, repr(problem)


def _hits(port: int) -> list[int]:
    connection = HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    connection.request("POST", "/api/search", json.dumps(_DRAWING), {"Content-Type": "application/json"})
    found = [hit["id"] for hit in json.loads(connection.getresponse().read())["hits"]]
    connection.close()
    return found


def _request(rng: Random) -> tuple[str, str, bytes, dict[str, str]]:
    """Return the method, the path, the body and the headers of a request."""
    method = str(rng.choice(["GET", "POST", "HEAD", "DELETE", "OPTIONS"], p=[0.3, 0.55, 0.05, 0.05, 0.05]))
    path = "/api/search" if method == "POST" and rng.random() < 0.9 else str(rng.choice(_PATHS))
    if rng.random() < 0.1:
        path = "/" + _damaged(path.encode(), rng).hex() + path.replace("1", str(rng.integers(-5, 1 << 62)))
    form = str(rng.choice(["application/json", "multipart/form-data; boundary=x", "text/plain"], p=[0.5, 0.4, 0.1]))
    if form.startswith("multipart"):
        file = _picture(str(rng.choice(FORMATS)), rng)
        head = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="a"\r\n\r\n'
        kind = b'\r\n--x\r\nContent-Disposition: form-data; name="kind"\r\n\r\nphoto\r\n--x--\r\n'
        body = head + (_damaged(file, rng) if rng.random() < 0.8 else file) + kind
    else:
        body = json.dumps(_DRAWING).encode()
    body = _damaged(body, rng) if rng.random() < 0.7 else body
    headers = {"Content-Type": form}
    if rng.random() < 0.1:
        headers["If-None-Match"] = rng.bytes(20).hex() * int(rng.integers(1, 500))
    return method, path, b"" if method in ("GET", "HEAD") else body, headers


def _send(port: int, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> str:
    """Return the status of the answer, or that the service hung up, as it may on what is no HTTP, or was too slow."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        answer.read()
        return str(answer.status)
    except TimeoutError:
        return _LATE
    except (HTTPException, ConnectionError):
        return "no answer"
    finally:
        connection.close()


def _picture(form: str, rng: Random) -> bytes:
    file = io.BytesIO()
    coarse: NDArray[np.uint8] = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    Image.fromarray(coarse).resize((96, 72), Image.Resampling.BICUBIC).save(file, form)
    return file.getvalue()


def _damaged(content: bytes, rng: Random) -> bytes:
    """Change some bytes, cut some out, or put some in."""
    broken = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place, length = int(rng.integers(0, len(broken) + 1)), int(rng.integers(1, 20))
        kind = rng.integers(0, 3)
        if kind == 0:
            broken[place : place + length] = rng.bytes(min(length, max(len(broken) - place, 0)))
        elif kind == 1:
            del broken[place : place + length]
        else:
            broken[place:place] = rng.bytes(length)
    return bytes(broken)


if __name__ == "__main__":
    run(main)
