"""What a static site costs in a real browser: bytes and seconds to the first hits, and milliseconds a drawing.

    python benchmarks/site.py --out results/site.json

A site of synthetic photos (or of ``--gallery``) is written and served from this machine by a host that compresses text.
A browser that has never seen it loads it and searches; then it searches for a hundred drawings, whose hits are compared
with those of the same search in Python. At last random codes are searched, by vector instructions and by tables.
Needs playwright and Chromium; onnxruntime-web comes from npm.
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_CHROMIUM = "/usr/bin/chromium"
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
_TEXT = (".html", ".js", ".css", ".json", ".svg", ".webmanifest")
_PHONE = {"width": 390, "height": 844}
_SHOWN = 40
_FILTERS = {"k": _SHOWN, "folder": None, "label": None, "after": None, "before": None, "near": None}
_ASK = """
async ([strokes, filters]) => {
  const { backEnd } = await import("./static/backend.js");
  const asked = performance.now();
  const answer = await backEnd.search({ by: "drawing", strokes }, filters, new AbortController().signal);
  const now = performance.now();
  return { ids: answer.hits.map((hit) => hit.id), timings: answer.timings_ms, waited: now - asked, since_opened: now };
}
"""
_SCAN = """
async ([count, width, repeats]) => {
  const [{ Scanner }, { smallest, pack, weigh }] = await Promise.all(
    ["scan", "ranking"].map((name) => import(`./static/engine/${name}.js`)),
  );
  const codes = Uint8Array.from({ length: count * width }, () => 256 * Math.random());
  const ids = Float64Array.from({ length: count }, (_, row) => row + 1);
  const times = {};
  for (const [name, isVectored] of [["vectors", true], ["tables", false]]) {
    const scanner = new Scanner(codes, width, isVectored);
    times[name] = [];
    for (let repeat = 0; repeat < repeats; repeat++) {
      const values = Float32Array.from({ length: 8 * width }, () => Math.random() - 0.5);
      const began = performance.now();
      scanner.weigh(pack(values), weigh(values));
      smallest(scanner.sums, ids, 1000, null);
      times[name].push(performance.now() - began);
    }
  }
  return times;
}
"""


@dataclass(frozen=True)
class SiteCosts:
    """What was measured; medians, times in milliseconds.

    Attributes:
        photos: In the gallery.
        site_bytes: The whole folder.
        cold_bytes: What a browser that has never seen the site receives until the first hits.
        first_hits: From opening the page to them, by the number of the load.
        drawing: The stages of a search by a drawing, and the wait of who asked.
        same_order: How many of the drawings found the same photos in the same order as in Python.
        drawings: How many there were.
        codes: How many random codes of 256 bits were searched for their thousand nearest.
        scan: How long that took, by vector instructions and by tables.
        browser: Which it was.
    """

    photos: int
    site_bytes: int
    cold_bytes: int
    first_hits: list[float]
    drawing: dict[str, float]
    same_order: int
    drawings: int
    codes: int
    scan: dict[str, float]
    browser: str


def main(
    gallery: Annotated[
        str | None, typer.Option(help="A gallery of the shipped model instead of synthetic photos.")
    ] = None,
    photos: Annotated[int, typer.Option(min=1, help="How many synthetic photos.")] = 300,
    drawings: Annotated[int, typer.Option(min=1, help="How many drawings.")] = 100,
    loads: Annotated[int, typer.Option(min=1, help="How often the site is loaded by a new browser.")] = 5,
    codes: Annotated[int, typer.Option(min=1, help="How many random codes are searched.")] = 200_000,
    out: RecordFile = None,
) -> None:
    """Print what a static site costs in Chromium."""
    model = Model.load(default_model_folder())
    with TemporaryDirectory() as folder, ExitStack() as stack:
        opened = stack.enter_context(
            open_gallery(gallery, model) if gallery else _synthetic(Path(folder), model, photos)
        )
        written = write_site(opened, model, Path(folder) / "site", find_runtime())
        searcher = Searcher(model, opened)
        address, received = stack.enter_context(_hosted(written.folder))
        browser = stack.enter_context(_browser())
        queries = _drawings(drawings)
        first_hits, cold_bytes = [], 0
        for number in range(loads):
            say(f"load {number + 1} of {loads}")
            received.clear()
            page = _open(browser, address)
            first_hits.append(_ask(page, queries[0])["since_opened"])
            cold_bytes = cold_bytes or sum(received)
        say("drawings")
        answers = [_ask(page, query) for query in queries]
        same = sum(
            answer["ids"] == [hit.id for hit in searcher.search(query, _SHOWN)]
            for answer, query in zip(answers, queries, strict=True)
        )
        stages = {name: median(answer["timings"][name] for answer in answers) for name in ("ink", "encode", "search")}
        stages["wait"] = median(answer["waited"] for answer in answers)
        say("codes")
        scans = page.evaluate(_SCAN, [codes, 32, 50])
        scan = {name: median(times) for name, times in scans.items()}
        measured = SiteCosts(
            written.photos,
            written.bytes,
            cold_bytes,
            first_hits,
            stages,
            same,
            len(queries),
            codes,
            scan,
            f"Chromium {browser.version}",
        )
    finish(_table(measured), asdict(measured), out)


def _table(costs: SiteCosts) -> str:
    rows = [
        ("cold load", f"{costs.cold_bytes / 1e6:.1f} MB"),
        ("first hits, from opening the page", f"{median(costs.first_hits):.0f} ms"),
        *((f"a drawing: {stage}", f"{time:.1f} ms") for stage, time in costs.drawing.items()),
        ("hits in the same order as in Python", f"{costs.same_order} of {costs.drawings}"),
        *((f"{costs.codes:,} codes, by {how}", f"{time:.2f} ms") for how, time in costs.scan.items()),
    ]
    return markdown_table((f"{costs.photos:,} photos, {costs.browser}", ""), rows)


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


@contextmanager
def _hosted(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Serve a folder; yield its address, and the sizes of the bodies that were sent."""
    sent: list[int] = []

    class Host(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            path = Path(self.translate_path(self.path))
            path = path / "index.html" if path.is_dir() else path
            if not path.is_file():
                return self.send_error(404)
            content, is_text = path.read_bytes(), path.suffix in _TEXT
            content = gzip.compress(content) if is_text else content
            self.send_response(200)
            self.send_header("Content-Type", self.guess_type(str(path)))
            self.send_header("Content-Length", str(len(content)))
            if is_text:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(content)
            return sent.append(len(content))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


def _open(browser: Browser, address: str) -> Page:
    """Open the site in a browser that has kept nothing."""
    page = browser.new_context(viewport={"width": _PHONE["width"], "height": _PHONE["height"]}).new_page()
    page.goto(address)
    return page


def _ask(page: Page, drawing: Drawing) -> dict[str, Any]:
    strokes: Sequence[object] = drawing.to_json()
    answer: dict[str, Any] = page.evaluate(_ASK, [strokes, _FILTERS])
    return answer


if __name__ == "__main__":
    run(main)
