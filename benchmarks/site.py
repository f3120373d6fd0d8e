"""What a static site costs in real browsers: bytes and seconds to the first hits, and milliseconds a drawing.

    python benchmarks/site.py --browser chromium --browser firefox-esr --out results/site.json

A site of synthetic photos (or of ``--gallery``) is written and served from this machine by a host that compresses text.
Browsers that have never seen it load it and search; then they search for a hundred drawings, whose hits are compared
with those of the same search in Python. At last random codes are searched, by vector instructions and by tables. The
page itself measures, and sends what it has measured to the host. onnxruntime-web comes from npm.

On a machine that others use, clocks tell little: so the processor time of all processes of the browser is read too (on
Linux). It is what a machine needs on which nothing else runs, and less if it has several cores.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from PIL import Image

from sketchhash.datasets.synthetic.catalogue import CATEGORIES
from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.datasets.synthetic.sketches import draw_sketch
from sketchhash.engines import open_gallery
from sketchhash.gallery import GalleryFile, Searcher, index_events
from sketchhash.imaging import Drawing
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from sketchhash.site import find_runtime, write_site
from timing import RecordFile, finish, run, say

_TEXT = (".html", ".js", ".css", ".json", ".svg", ".webmanifest")
_SHOWN = 40
_PATIENCE = 300.0
_WARM = 20  # drawings, after which browsers have compiled what is used often
_STAGES = ("ink", "encode", "search")
_PROBE = """
const mark = (name) => fetch(`mark/${name}`, { method: "POST" });
const { backEnd } = await import("./static/backend.js");
await mark("opened");
const { drawings, filters, warm, codes, width, repeats } = await (await fetch("asked.json")).json();
const measured = { agent: navigator.userAgent, answers: [], scan: {} };
for (const strokes of drawings) {
  const asked = performance.now();
  const answer = await backEnd.search({ by: "drawing", strokes }, filters, new AbortController().signal);
  const wait = performance.now() - asked;
  if (!measured.first_hits) {
    measured.first_hits = performance.now();
    await mark("found");
  }
  measured.answers.push({ ids: answer.hits.map((hit) => hit.id), wait, ...answer.timings_ms });
  if (measured.answers.length === warm) await mark("warm");
}
await mark("drawn");
if (codes) {
  const [{ Scanner }, { smallest, pack, weigh }] = await Promise.all([
    import("./static/engine/scan.js"),
    import("./static/engine/ranking.js"),
  ]);
  const gallery = new Uint8Array(codes * width);
  for (let place = 0; place < gallery.length; place++) gallery[place] = 256 * Math.random();
  const ids = Float64Array.from(gallery.subarray(0, codes).keys());
  for (const [name, isVectored] of [["vectors", true], ["tables", false]]) {
    const scanner = new Scanner(gallery, width, isVectored);
    measured.scan[name] = [];
    for (let repeat = 0; repeat < repeats; repeat++) {
      const values = Float32Array.from({ length: 8 * width }, () => Math.random() - 0.5);
      const began = performance.now();
      scanner.weigh(pack(values), weigh(values));
      smallest(scanner.sums, ids, 1000, null);
      measured.scan[name].push(performance.now() - began);
    }
  }
}
await fetch("measured", { method: "POST", body: JSON.stringify(measured) });
"""


@dataclass(frozen=True)
class BrowserCosts:
    """What a browser needs; medians in milliseconds, and the shortest of all beside them.

    Attributes:
        browser: Its name and version, as it says them.
        first_hits: From opening the page, which it had never seen, to the first hits; one for each load.
        drawing: The stages of a search by a drawing, and the wait of the page.
        shortest: The shortest of each: what remains where nothing else runs on the machine.
        scan: Search among random codes for the thousand nearest, by vector instructions and by tables.
        shortest_scan: The shortest of each.
        same_order: How many of the drawings found the same photos in the same order as in Python.
        first_hits_processor: Processor time of the browser from opening the page to the first hits; one for each load.
        drawing_processor: Processor time of the browser for a drawing, after the first twenty.
    """

    browser: str
    first_hits: list[float]
    drawing: dict[str, float]
    shortest: dict[str, float]
    scan: dict[str, float]
    shortest_scan: dict[str, float]
    same_order: int
    first_hits_processor: list[float]
    drawing_processor: float


@dataclass(frozen=True)
class SiteCosts:
    """A site, what a browser receives until the first hits, and what browsers need."""

    photos: int
    drawings: int
    codes: int
    site_bytes: int
    cold_bytes: int
    browsers: list[BrowserCosts]


def main(
    browser: Annotated[list[str] | None, typer.Option(help="Programs of browsers, Chromium's or Firefox's.")] = None,
    gallery: Annotated[
        str | None, typer.Option(help="A gallery of the shipped model, instead of synthetic photos.")
    ] = None,
    photos: Annotated[int, typer.Option(min=1, help="How many synthetic photos.")] = 300,
    drawings: Annotated[int, typer.Option(min=1, help="How many drawings.")] = 100,
    loads: Annotated[int, typer.Option(min=1, help="How often each browser loads the site anew.")] = 5,
    codes: Annotated[int, typer.Option(min=1, help="How many random codes of 256 bits are searched.")] = 200_000,
    out: RecordFile = None,
) -> None:
    """Print what a static site costs in real browsers."""
    model = Model.load(default_model_folder())
    queries = _drawings(drawings)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        opened = stack.enter_context(
            open_gallery(gallery, model) if gallery else _synthetic(Path(folder), model, photos)
        )
        written = write_site(opened, model, Path(folder) / "site", find_runtime())
        searcher = Searcher(model, opened)
        expected = [[hit.id for hit in searcher.search(query, _SHOWN)] for query in queries]
        host = stack.enter_context(_hosted(written.folder))
        costs = [_measure(program, host, queries, expected, loads, codes) for program in browser or ["chromium"]]
    measured = SiteCosts(written.photos, len(queries), codes, written.bytes, host.cold_bytes, costs)
    finish("\n\n".join(_table(measured, each) for each in costs), asdict(measured), out)


def _measure(
    program: str, host: Host, queries: Sequence[Drawing], expected: Sequence[Sequence[int]], loads: int, codes: int
) -> BrowserCosts:
    first_hits, processor = [], []
    for number in range(loads - 1):
        say(f"{program}: load {number + 1} of {loads}")
        first_hits.append(host.ask(program, queries[:1], 0)["first_hits"])
        processor.append(host.marks["found"] - host.marks["opened"])
    say(f"{program}: drawings and codes")
    answer = host.ask(program, queries, codes)
    answers, scans = answer["answers"], answer["scan"]
    times = {name: [each[name] for each in answers] for name in (*_STAGES, "wait")}
    return BrowserCosts(
        browser=answer["agent"].split("(KHTML, like Gecko) ")[-1].split("Gecko/20100101 ")[-1],
        first_hits=[*first_hits, answer["first_hits"]],
        drawing={name: median(some) for name, some in times.items()},
        shortest={name: min(some) for name, some in times.items()},
        scan={name: median(some) for name, some in scans.items()},
        shortest_scan={name: min(some) for name, some in scans.items()},
        same_order=sum(each["ids"] == ids for each, ids in zip(answers, expected, strict=True)),
        first_hits_processor=[*processor, host.marks["found"] - host.marks["opened"]],
        drawing_processor=(host.marks["drawn"] - host.marks["warm"]) / max(len(queries) - _WARM, 1),
    )


def _table(site: SiteCosts, costs: BrowserCosts) -> str:
    rows = [
        ("cold load", f"{site.cold_bytes / 1e6:.1f} MB", ""),
        ("first hits, from opening the page", f"{median(costs.first_hits):.0f} ms", f"{min(costs.first_hits):.0f} ms"),
        (
            "first hits, processor time",
            f"{median(costs.first_hits_processor):.0f} ms",
            f"{min(costs.first_hits_processor):.0f} ms",
        ),
        ("a drawing, processor time", f"{costs.drawing_processor:.1f} ms", ""),
        *(
            (f"a drawing: {name}", f"{time:.1f} ms", f"{costs.shortest[name]:.1f} ms")
            for name, time in costs.drawing.items()
        ),
        *(
            (f"{site.codes:,} codes, by {name}", f"{time:.2f} ms", f"{costs.shortest_scan[name]:.2f} ms")
            for name, time in costs.scan.items()
        ),
        ("hits in the same order as in Python", f"{costs.same_order} of {site.drawings}", ""),
    ]
    return markdown_table((f"{costs.browser}, {site.photos:,} photos", "median", "shortest"), rows)


def _drawings(count: int) -> list[Drawing]:
    names = sorted(CATEGORIES)
    return [draw_sketch(names[seed % len(names)], np.random.default_rng(seed)) for seed in range(count)]


@contextmanager
def _synthetic(folder: Path, model: Model, count: int) -> Iterator[GalleryFile]:
    names = sorted(CATEGORIES)
    for number in range(count):
        name = names[number % len(names)]
        path = folder / "photos" / name / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(render_photo(name, np.random.default_rng(number), 256)).save(path)
    with GalleryFile.create(folder / "synthetic.gallery", model) as gallery:
        say(f"indexing {count} photos")
        list(index_events(gallery, model, [folder / "photos"], labels="folder"))
        yield gallery


@dataclass
class Host:
    """A static host that adds the probe to the page, and takes what it has measured."""

    folder: Path
    address: str = ""
    asked: bytes = b""
    sent: list[int] = field(default_factory=list)
    cold_bytes: int = 0
    measured: Queue[dict[str, Any]] = field(default_factory=Queue)
    marks: dict[str, float] = field(default_factory=dict)
    browser: int = 0

    def ask(self, program: str, queries: Sequence[Drawing], codes: int) -> dict[str, Any]:
        """Open the site in a browser that has kept nothing, and return what its page has measured."""
        filters = {"k": _SHOWN, "folder": None, "label": None, "after": None, "before": None, "near": None}
        drawings = [query.to_json() for query in queries]
        asked = {"drawings": drawings, "filters": filters, "warm": _WARM, "codes": codes, "width": 32, "repeats": 50}
        self.asked = json.dumps(asked).encode()
        self.sent.clear()
        self.marks.clear()
        with TemporaryDirectory() as profile:
            process = subprocess.Popen(
                [program, *_options(program, profile), self.address],
                env={**os.environ, "HOME": profile},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self.browser = process.pid
            try:
                return self.measured.get(timeout=_PATIENCE)
            finally:
                process.terminate()
                process.wait(30)

    def content(self, path: str) -> bytes | None:
        """Return what is at a path of the site, or None."""
        name = path.split("?")[0].lstrip("/") or "index.html"
        if name == "asked.json":
            return self.asked
        if name == "probe.js":
            return _PROBE.encode()
        file = self.folder / name
        if not file.is_file():
            return None
        content = file.read_bytes()
        return content.replace(b"</head>", b'<script type="module" src="probe.js"></script></head>')


def _options(program: str, profile: str) -> list[str]:
    if "firefox" in Path(program).name:
        return ["--headless", "--no-remote", "--profile", profile]
    own = ["--no-first-run", "--disable-background-networking", f"--user-data-dir={profile}"]
    return ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=390,844", *own]


@contextmanager
def _hosted(folder: Path) -> Iterator[Host]:
    host = Host(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, host))
    host.address = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _processor_time(process: int) -> float:
    """Return the milliseconds of processor time that a process and all below it have taken; 0 where it is not known."""
    parents, times = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(stat.parent.name)] = int(fields[1])
        times[int(stat.parent.name)] = int(fields[11]) + int(fields[12])
    family = {process}
    while more := {each for each, parent in parents.items() if parent in family} - family:
        family |= more
    return 1000 * sum(times.get(each, 0) for each in family) / os.sysconf("SC_CLK_TCK")


class _Handler(SimpleHTTPRequestHandler):
    """Sends files, texts compressed, and counts their bytes until the first hits."""

    def __init__(self, host: Host, *connection: Any) -> None:  # noqa: ANN401 - as the base class takes them
        self._host = host
        super().__init__(*connection)

    def do_GET(self) -> None:
        content = self._host.content(self.path)
        if content is None:
            return self.send_error(404)
        is_text = self.path.endswith((*_TEXT, "/"))
        content = gzip.compress(content) if is_text else content
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else self.guess_type(self.path))
        self.send_header("Content-Length", str(len(content)))
        if is_text:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(content)
        if not self.headers.get("Referer", "").endswith("service-worker.js"):  # that one keeps the site for later
            self._host.sent.append(len(content))
        return None

    def do_POST(self) -> None:
        host = self._host
        _, kind, *name = self.path.split("/")
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if kind == "mark":
            host.marks[name[0]] = _processor_time(host.browser)
            host.cold_bytes = host.cold_bytes or (sum(host.sent) if name[0] == "found" else 0)
        else:
            host.measured.put(json.loads(content))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    run(main)
