"""People who draw for long, while photos are added to the gallery that they search.

Each draws one thing after the other as the page does: it asks while the drawing grows, loads the thumbnails of what is
found, and then looks at the hits for a while, at some of them closely. Now and then somebody sends a photo instead.
Beside them new photos are indexed by ``sketchhash index``, again and again.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event
from time import perf_counter, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from serving import MEMORY, OK, PHOTOS, Pace, grow, read_metric, serving
from sketchhash.datasets.synthetic import CATEGORIES, draw_sketch

_TIMEOUT = 300.0  # seconds: on a busy machine an answer is late, not lost
_SHOWN = 12  # thumbnails of a page
_LONGEST_LOOK = 8.0  # seconds at the hits of one drawing
_OPENED = 0.3  # of the drawings end with a hit that is opened
_SENT = 0.05  # of the questions are photos
_INDEX_EVERY = 20.0  # seconds
_NEW_PHOTOS = 12
_BOUNDARY = "x"

Random = np.random.Generator


@dataclass
class Watched:
    """What was seen up to now.

    Attributes:
        statuses: Of all answers; 0 if there was none.
        seconds: That each drawing waited for its hits.
        memory: Bytes of the service, each time that photos were added.
        indexed: Photos that there are.
        problems: Whatever else went wrong.
    """

    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    indexed: int = 0
    problems: list[str] = field(default_factory=list)


def draw_for(seconds: float, users: int, gallery: Path, photos: Path, model: Path, rng: Random) -> Iterator[Watched]:
    """Let people draw, index beside them, and yield what was seen each time that photos were added.

    ``photos`` is the folder that ``gallery`` was made of; new ones are put there.
    """
    watched, is_over = Watched(), Event()
    with serving(gallery, model) as port, ThreadPoolExecutor(users) as threads:
        people = [threads.submit(_draw, port, each, watched, is_over) for each in rng.spawn(users)]
        end = perf_counter() + seconds
        try:
            while perf_counter() < end:
                due = min(perf_counter() + _INDEX_EVERY, end)
                _index_more(gallery, photos, model, watched, rng)
                sleep(max(due - perf_counter(), 0))
                watched.memory.append(read_metric(port, MEMORY))
                if (found := read_metric(port, PHOTOS)) != watched.indexed:
                    watched.problems.append(f"the service finds {found} of {watched.indexed} photos")
                yield watched
        finally:
            is_over.set()
            for person in people:
                person.result()


def write_photo(path: Path, rng: Random) -> None:
    """Write a small photo that is like no other."""
    coarse: NDArray[np.uint8] = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    Image.fromarray(coarse).resize((640, 480), Image.Resampling.BICUBIC).save(path, "JPEG")


def _index_more(gallery: Path, photos: Path, model: Path, watched: Watched, rng: Random) -> None:
    for number in range(_NEW_PHOTOS):
        write_photo(photos / f"new-{len(watched.memory):05}-{number:02}.jpg", rng)
    command = [
        sys.executable,
        "-m",
        "sketchhash",
        "index",
        str(photos),
        "--gallery",
        str(gallery),
        "--model",
        str(model),
    ]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        watched.problems.append(f"indexing ended with {done.returncode}: {done.stderr[-200:].decode(errors='replace')}")
    watched.indexed = sum(1 for _ in photos.iterdir())


def _draw(port: int, rng: Random, watched: Watched, is_over: Event) -> None:
    pace = Pace()
    client = _Client(port, watched)
    while not is_over.is_set():
        hits: list[dict[str, Any]] = []
        if rng.random() < _SENT:
            hits = client.search(_form(rng), f"multipart/form-data; boundary={_BOUNDARY}")
        else:
            for strokes in grow(draw_sketch(str(rng.choice(CATEGORIES)), rng), pace.points):
                start = perf_counter()
                hits = client.search(json.dumps({"strokes": strokes}).encode(), "application/json")
                watched.seconds.append(perf_counter() - start)
                is_over.wait(max(pace.seconds - perf_counter() + start, 0))
        for hit in hits[:_SHOWN]:
            client.ask("GET", f"/api/photos/{hit['id']}/thumbnail")
        if hits and rng.random() < _OPENED:
            for part in ("", "/details", "/similar"):
                client.ask("GET", f"/api/photos/{hits[0]['id']}{part}")
        is_over.wait(rng.uniform(0, _LONGEST_LOOK))
    client.close()


class _Client:
    """One connection, and a count of the answers that came over it."""

    def __init__(self, port: int, watched: Watched) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
        self._watched = watched

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> bytes:
        """Return the answer, or nothing if it is not 200."""
        status, answer = 0, b""
        try:
            self._connection.request(method, path, body or None, {"Content-Type": kind} if kind else {})
            response = self._connection.getresponse()
            answer, status = response.read(), response.status
        except (OSError, HTTPException):
            self._connection.close()  # the next request opens it again
        self._watched.statuses.append(status)
        return answer if status == OK else b""

    def search(self, body: bytes, kind: str) -> list[dict[str, Any]]:
        """Return the hits."""
        answer = self.ask("POST", "/api/search", body, kind)
        return list(json.loads(answer)["hits"]) if answer else []

    def close(self) -> None:
        self._connection.close()


def _form(rng: Random) -> bytes:
    file = io.BytesIO()
    noise: NDArray[np.uint8] = rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).resize((1024, 768)).save(file, "JPEG")
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="picture"; filename="a.jpg"\r\n\r\n'.encode()
    return head + file.getvalue() + f"\r\n--{_BOUNDARY}--\r\n".encode()
