"""What happens to a gallery whose indexing is killed, a service that gets nonsense, and a decoder of damaged files.

    python benchmarks/reliability.py --kills 500 --requests 20000 --files 3000

All of it is done to this machine alone, to galleries and photos that it makes, and ends by itself. A fault is anything
but what is promised: a gallery that is damaged or has lost a photo, an answer of 500 or above other than 503, a drawing
that finds other photos than before, a file that is neither decoded nor refused.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Annotated, Any, Self

import numpy as np
import typer
from numpy.typing import NDArray
from PIL import Image

from sketchhash.errors import UnreadableImage
from sketchhash.gallery import GalleryFile, index_events
from sketchhash.imaging import DecoderPool, read_small_photo
from sketchhash.imaging.decode import FORMATS
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from sketchhash.server import Access, create_app, create_server, listen, open_service
from timing import RecordFile, ShownRecord, finish, read_record, resident_bytes, run, say

_PHOTOS = 48
_LONGEST_LIFE = 8.0  # seconds after the start of indexing
_TIMEOUT = 60.0  # seconds
_BUSY = 503
_SERVER_FAULT = 500
_CHECK_EVERY = 50
_DRAWING = {"strokes": [[[0, 0], [80, 10], [40, 70], [0, 0]]], "k": 10}
_PATHS = ("/api/search", "/api/photos/1", "/api/photos/1/thumbnail", "/api/photos/1/details", "/api/gallery", "/health")

Random = np.random.Generator


@dataclass(frozen=True)
class Outcome:
    """How often what was done ended how, what was not as promised, and what it took."""

    done: int
    ends: dict[str, int]
    faults: list[str]
    seconds: float
    grown_bytes: int


@dataclass(frozen=True)
class Reliability:
    """All that was tried."""

    kills: Outcome
    requests: Outcome
    files: Outcome

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Parse a record."""
        return cls(**{name: Outcome(**record[name]) for name in ("kills", "requests", "files")})


def main(
    kills: Annotated[int, typer.Option(min=0, help="How often indexing is killed.")] = 500,
    requests: Annotated[int, typer.Option(min=0, help="How many requests the service gets.")] = 20_000,
    files: Annotated[int, typer.Option(min=0, help="How many damaged pictures are decoded.")] = 3_000,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 1,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Kill indexing, send nonsense to a service, decode damaged files, and count what is not as promised."""
    if show is not None:
        found = read_record(show, Reliability.from_record)
    else:
        folder = default_model_folder()
        with TemporaryDirectory() as name:
            place = Path(name)
            write_photos(place / "photos", _PHOTOS, np.random.default_rng(seed))
            say("Killing indexing ...")
            killed = kill_indexing(place, folder, kills, np.random.default_rng([seed, 1]))
            say("Sending nonsense ...")
            sent = send_nonsense(place, folder, requests, np.random.default_rng([seed, 2]))
        say("Decoding damaged files ...")
        found = Reliability(killed, sent, decode_damage(files, np.random.default_rng([seed, 3])))
    finish(page(found), asdict(found), out)
    if any(outcome.faults for outcome in (found.kills, found.requests, found.files)):
        raise typer.Exit(1)


def page(found: Reliability) -> str:
    """Return everything as Markdown."""
    rows = [
        (
            what,
            f"{outcome.done:,}",
            ", ".join(f"{end} {times:,}" for end, times in sorted(outcome.ends.items())),
            "; ".join(outcome.faults[:3]) or "none",
            f"{outcome.seconds:.0f} s",
            f"{outcome.grown_bytes / 1e6:+.0f} MB",
        )
        for what, outcome in (
            ("kills of indexing", found.kills),
            ("requests", found.requests),
            ("damaged files", found.files),
        )
    ]
    return markdown_table(("what", "how many", "ends", "faults", "took", "memory"), rows)


def write_photos(folder: Path, count: int, rng: Random) -> None:
    """Write small photos, no two alike."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:04}.jpg").write_bytes(_picture("JPEG", rng))


def kill_indexing(place: Path, model: Path, kills: int, rng: Random) -> Outcome:
    """Kill `sketchhash index` at random moments, and look at the gallery each time; at the end, let it finish."""
    start, ends, faults = perf_counter(), Counter[str](), list[str]()
    gallery, before = place / "killed.gallery", 0
    command = [sys.executable, "-m", "sketchhash", "index", str(place / "photos"), "--gallery", str(gallery)]
    command += ["--model", str(model)]
    for number in range(kills):
        if before == _PHOTOS:
            gallery.unlink()
            before = 0
        worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            worker.wait(rng.uniform(0.2, _LONGEST_LIFE))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        ends["killed" if worker.returncode < 0 else "finished"] += 1
        photos, problem = _look_at(gallery)
        if problem or photos < before:
            faults.append(problem or f"kill {number}: {before} photos became {photos}")
        before = photos
    if kills:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        photos, problem = _look_at(gallery)
        if problem or photos != _PHOTOS:
            faults.append(problem or f"at the end {photos} of {_PHOTOS} photos are there")
    return Outcome(kills, dict(ends), faults, perf_counter() - start, 0)


def send_nonsense(place: Path, model_folder: Path, requests: int, rng: Random) -> Outcome:
    """Send requests that are random, or good ones that were changed, and a good drawing now and then."""
    model, gallery = Model.load(model_folder), place / "served.gallery"
    with GalleryFile.create(gallery, model) as opened:
        list(index_events(opened, model, [place / "photos"]))
    start, ends, faults = perf_counter(), Counter[str](), list[str]()
    with _serving(gallery, model_folder) as port:
        expected = _hits(port)
        before = resident_bytes()
        for number in range(requests):
            status = _send(port, *_request(rng))
            ends[str(status) if status else "no answer"] += 1
            if status >= _SERVER_FAULT and status != _BUSY:
                faults.append(f"request {number}: {status}")
            if number % _CHECK_EVERY == 0 and _hits(port) != expected:
                faults.append(f"after request {number} a drawing finds other photos")
        grown = resident_bytes() - before
    return Outcome(requests, dict(ends), faults, perf_counter() - start, grown)


def decode_damage(files: int, rng: Random) -> Outcome:
    """Decode damaged pictures as indexing and the service do."""
    start, ends, faults = perf_counter(), Counter[str](), list[str]()
    pool = DecoderPool(2)
    contents = [_damaged(_picture(FORMATS[number % len(FORMATS)], rng), rng) for number in range(files)]
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
            ends.update(threads.map(decode, contents))
    finally:
        pool.close()
    return Outcome(files, dict(ends), faults, perf_counter() - start, resident_bytes() - before)


def _look_at(gallery: Path) -> tuple[int, str]:
    """Return how many photos a gallery has, and what is wrong with it, if anything is."""
    if not gallery.exists():
        return 0, ""
    try:
        with GalleryFile.create(gallery, Model.load(default_model_folder())) as opened:
            remarks = opened.damage()
            for photo in opened.photos():
                opened.code(photo.id), opened.thumbnail(photo.id)
            return len(opened), "; ".join(remarks)
    except Exception as problem:
        return 0, repr(problem)


@contextmanager
def _serving(gallery: Path, model_folder: Path) -> Iterator[int]:
    with open_service(gallery, model_folder) as service, listen("127.0.0.1", 0) as listener:
        server = create_server(create_app(service, Access()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            sleep(0.01)
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


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


def _send(port: int, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Return the status of the answer, or 0 if the service hung up."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (HTTPException, ConnectionError):
        return 0
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
