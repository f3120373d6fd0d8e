"""A stand-in for the service that can be slow, wrong or out of reach when a test of the page says so."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from email.message import Message
from functools import cache
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from mimetypes import guess_type
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image

from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.datasets.synthetic.sketches import draw_sketch

STATIC = files("sketchhash") / "server" / "static"
LABELS = ("cat", "teapot", "house", "duck", "butterfly", "sailboat")
PHOTOS = 48
BITS = 64
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; style-src 'self'; script-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
CARD = """# tiny

A **tiny** model for tests.

## Files

| file | what it is |
| --- | --- |
| `sketch.onnx` | the sketch \\| network |

## Limits

- It knows little.
- <img src=x onerror=alert(1)> is text.
"""


def open_gate() -> threading.Event:
    """Return an event that nobody has to wait for, until it is cleared."""
    gate = threading.Event()
    gate.set()
    return gate


@dataclass
class FakeService:
    """What the next answers should be, and what was asked."""

    address: str = ""
    verdict: str = "sure"
    guesses: dict[str, float] | None = None
    is_calibrated: bool = True
    delay: float = 0.0
    may_answer: threading.Event = field(default_factory=open_gate)
    failure: tuple[int, str] | None = None
    token: str | None = None
    map: list[dict] = field(default_factory=lambda: gallery_map())
    missing_photos: set[int] = field(default_factory=set)
    examples: list[dict] = field(default_factory=lambda: examples())
    addresses: list[dict] = field(default_factory=list)
    has_camera_names: bool = False
    has_telling_names: bool = False
    copies: dict[int, int] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    recognised: str = "photo"
    searches: list[dict] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def search(self, query: dict) -> dict:
        """Rank every photo by made-up distances that depend on the query alone."""
        self.searches.append(query)
        verdict = self.verdict
        time.sleep(self.delay)
        self.may_answer.wait(60)
        ids = [
            id
            for id in range(1, PHOTOS + 1)
            if query.get("label") in (None, label(id))
            and (query.get("after") or "") <= (taken_at(id) or "~")[:7] <= (query.get("before") or "~~")
            and not (taken_at(id) is None and (query.get("after") or query.get("before")))
            and f"{folder(id)}/".startswith(f"{query.get('folder') or folder(id)}/")
        ]
        wanted = query.get("category", label(query.get("similar_to", 1)))
        ranked = sorted(ids, key=lambda id: (label(id) != wanted, id))[: int(query["k"])]
        nearest = 2 if verdict == "sure" else 24
        hits = [
            hit(id, distance, verdict == "sure" and label(id) == wanted) for distance, id in enumerate(ranked, nearest)
        ]
        hits = [self.as_copy(each) for each in hits]
        if self.has_camera_names:
            hits = [{**each, "label": None} for each in hits]
        if self.has_telling_names:
            hits = [{**each, "name": f"{each['label']}_on_the_roof_{each['id']}.jpg"} for each in hits]
        if not self.is_calibrated:
            hits = [{**each, "chance": None, "likely": False} for each in hits]
        return {
            "hits": hits,
            "code": "9f03c1d27a55e0b8",
            "bits": BITS,
            "photos": PHOTOS,
            "undated": PHOTOS // 8 if query.get("after") or query.get("before") else 0,
            "unplaced": PHOTOS // 2 if query.get("near") else 0,
            "verdict": verdict,
            "chance": {"sure": 0.9, "unsure": 0.4, "unknown": 0.05}[verdict] if self.is_calibrated else None,
            "guesses": guesses(self.guesses or GUESSES[verdict]) if self.is_calibrated else [],
            "kind": {"auto": self.recognised, None: None}.get(query.get("kind"), query.get("kind")),
            "timings_ms": {"ink": 1.4, "encode": 7.2, "search": 0.6, "total": 9.8},
        }

    def as_copy(self, hit: dict) -> dict:
        """Say of a hit what it is a copy of, and how many copies of it there are."""
        return {**hit, "copy_of": self.copies.get(hit["id"]), "copies": self.counts.get(hit["id"])}


def label(id: int) -> str:
    return LABELS[(min(id, PHOTOS) - 1) * len(LABELS) // PHOTOS]


def folder(id: int) -> str:
    return "2024/summer" if id % 2 else "2025"


def taken_at(id: int) -> str | None:
    """Return when a photo was taken; every eighth has no date."""
    return None if id % 8 == 0 else f"{2022 + id % 3}-{1 + id * 5 % 12:02}-14T16:05:00"


def hit(id: int, distance: int, is_likely: bool) -> dict:
    where = {"label": label(id), "name": f"IMG_{id:04}.jpg", "folder": folder(id), "taken_at": taken_at(id)}
    return {"id": id, "distance": distance, "chance": 1 - distance / 80, "likely": is_likely, "kind": "photo", **where}


GUESSES = {
    "sure": {"cat": 0.82, "duck": 0.31, "teapot": 0.06},
    "unsure": {"cat": 0.32, "duck": 0.31, "teapot": 0.06},
    "unknown": {"duck": 0.04, "teapot": 0.02},
}


def guesses(chances: dict[str, float]) -> list[dict]:
    return [{"category": category, "chance": chance} for category, chance in chances.items()]


def examples() -> list[dict]:
    rng = np.random.default_rng(1)
    drawings = {name: draw_sketch(name, rng).strokes for name in LABELS}
    return [
        {"name": name, "strokes": [(stroke * 512).round(1).tolist() for stroke in strokes]}
        for name, strokes in drawings.items()
    ]


def meanings(word: str) -> list[dict]:
    words = {"kitten": ["cat", "duck"]}
    return [{"category": name} for name in words.get(word, [name for name in LABELS if word in name])]


@cache
def photo_bytes(id: int) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(render_photo(label(id), np.random.default_rng(id), 160)).save(stream, format="JPEG")
    return stream.getvalue()


def gallery() -> dict:
    labels = Counter(label(id) for id in range(1, PHOTOS + 1))
    folders = Counter(folder(id).split("/")[0] for id in range(1, PHOTOS + 1))
    return {
        "photos": PHOTOS,
        "bits": BITS,
        "memory_bytes": PHOTOS * BITS // 8,
        "labels": labels,
        "folders": [{"path": path, "photos": photos} for path, photos in folders.items()],
        "model": {"name": "tiny", "categories": LABELS, "card": CARD, "scores": {"map": 0.7312}},
        "version": "0.1.0",
        "edition": "e1",
        "last_indexed": "2025-05-04T10:20:00Z",
        "dated": PHOTOS - PHOTOS // 8,
        "placed": PHOTOS // 2,
        "first_taken": min(filter(None, map(taken_at, range(1, PHOTOS + 1)))),
        "last_taken": max(filter(None, map(taken_at, range(1, PHOTOS + 1)))),
        "drawings": 0,
    }


def gallery_map() -> list[dict]:
    rng = np.random.default_rng(0)
    centres = {name: rng.uniform(-1, 1, 2) for name in LABELS}
    places = {id: centres[label(id)] + rng.normal(0, 0.12, 2) for id in range(1, PHOTOS + 1)}
    return [
        {"id": id, "x": float(x), "y": float(y), "label": label(id), "guess": None} for id, (x, y) in places.items()
    ]


def details(id: int) -> dict:
    where = {"id": id, "path": f"{folder(id)}/IMG_{id:04}.jpg", "label": label(id)}
    times = {
        "indexed_at": "2025-05-04T10:20:00Z",
        "taken_at": "2024-07-14T16:05:00",
        "modified_at": "2024-07-15T08:00:00Z",
    }
    place = {"latitude": 48.137, "longitude": 11.575} if id % 2 else {"latitude": None, "longitude": None}
    more = {"camera": "Leica Q3", "description": None, **place}
    return {**where, **times, "size": 123456, "width": 160, "height": 160, **more}


class Handler(BaseHTTPRequestHandler):
    """Speak the service's HTTP contract."""

    protocol_version = "HTTP/1.1"
    service: FakeService

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.service.requests.append(path)
        if path == "/":
            return self._send_static("index.html")
        if path.startswith("/static/"):
            return self._send_static(path.removeprefix("/static/"))
        if not self._may_enter():
            return None
        if path == "/api/gallery":
            return self._send_json(gallery())
        if path == "/api/gallery/folders":
            is_opened = parse_qs(urlsplit(self.path).query)["below"] == ["2024"]
            return self._send_json([{"path": "2024/summer", "photos": 24}] if is_opened else [])
        if path == "/api/gallery/map":
            return self._send_json(self.service.map)
        if path == "/api/addresses":
            return self._send_json(self.service.addresses)
        if path == "/api/examples":
            return self._send_json(self.service.examples)
        if path == "/api/categories":
            return self._send_json(meanings(parse_qs(urlsplit(self.path).query)["word"][0]))
        id, _, what = path.removeprefix("/api/photos/").partition("/")
        return self._answer_for_photo(int(id), what)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if not self._may_enter():
            return
        if self.path == "/api/session":
            self._send(b"", "text/plain", {"Set-Cookie": "session=open; HttpOnly; SameSite=Strict; Path=/"})
        elif self.headers["Content-Type"].startswith("application/json"):
            self._answer_search(json.loads(body))
        else:
            self._answer_search(parse_form(body, self.headers))

    def _answer_for_photo(self, id: int, what: str) -> None:
        if id in self.service.missing_photos and what == "":
            self._send_problem(404, "The photo is gone.")
        elif what in ("", "thumbnail"):
            self._send(photo_bytes(id), "image/jpeg", {"Cache-Control": "max-age=600"})
        elif what == "details":
            self._send_json(details(id))
        elif what == "copies":
            ids = [copy for copy, of in self.service.copies.items() if of == id]
            self._send_json([self.service.as_copy(hit(copy, 3, False)) for copy in ids])
        else:
            asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            self._answer_search({**asked, "similar_to": id})

    def _answer_search(self, query: dict) -> None:
        answer = self.service.search(query)
        if self.service.failure:
            self._send_problem(*self.service.failure)
        else:
            self._send_json(answer)

    def _may_enter(self) -> bool:
        token = self.service.token
        is_known = self.headers["Authorization"] == f"Bearer {token}" or "session=open" in (
            self.headers["Cookie"] or ""
        )
        if token is None or is_known:
            return True
        self._send_problem(401, "A token is needed.")
        return False

    def _send_static(self, name: str) -> None:
        content = (STATIC / name).read_bytes()
        headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "Cache-Control": "max-age=600"}
        self._send(content, guess_type(name)[0] or "", headers)

    def _send_json(self, value: object, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", {}, status)

    def _send_problem(self, status: int, message: str) -> None:
        self._send_json({"error": {"kind": "test", "message": message}}, status)

    def _send(self, content: bytes, kind: str, headers: dict[str, str], status: int = 200) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:
            pass  # the page dropped an older question, as it should


def parse_form(body: bytes, headers: Message) -> dict:
    """Read the fields of a form; of a file, only its size."""
    boundary = re.search("boundary=(.+)", headers["Content-Type"])[1].encode()
    form: dict = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="(\w+)"', head)[1].decode()
        form[name] = len(content) - 2 if b"filename=" in head else content[:-2].decode()
    return form
