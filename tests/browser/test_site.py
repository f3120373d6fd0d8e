"""A static site finds in the browser what the service finds, without a service and without a network.

So does the web component, on other pages.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from urllib.parse import urljoin

import numpy as np
import pytest
from PIL import Image

from sketchhash.datasets.synthetic.catalogue import CATEGORIES
from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.datasets.synthetic.sketches import draw_sketch
from sketchhash.gallery import GalleryFile, Searcher, index_events
from sketchhash.index.weighing import weighed_distances
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.server.search import Finder
from sketchhash.site import find_runtime, write_site
from sketchhash.words import find_categories

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

PACKAGE = Path(__file__).parents[2] / "build" / "node" / "onnxruntime-web-1.30.0.tgz"
FIREFOX = Path("/usr/bin/firefox-esr")
PATIENCE = 240  # seconds, on a machine that has other things to do
SHOWN = ("cat", "house", "teapot", "duck", "butterfly", "sailboat")
DRAWINGS = 100
POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FILTERS = {"k": 100, "folder": None, "label": None, "after": None, "before": None, "near": None}
ASK = """
async ([queries, filters]) => {
  const { backEnd } = await import("./static/backend.js");
  const answers = [];
  for (const query of queries) answers.push(await backEnd.search(query, filters, new AbortController().signal));
  return answers;
}
"""
COPIES = """
async (photos) => {
  const { backEnd } = await import("./static/backend.js");
  return Promise.all(photos.map((photo) => backEnd.copies(photo)));
}
"""
IS_KEPT = (
    "async () => { while (!navigator.serviceWorker.controller) await new Promise((done) => setTimeout(done, 50)); }"
)


WEB = Path(__file__).parents[2] / "web"
# What the component says next, once strokes are set.
SET_STROKES = """
(strokes) => new Promise((done) => {
  const search = document.querySelector("sketch-search");
  for (const name of ["hits", "problem"]) search.addEventListener(name, ({ detail }) => done({ [name]: detail }));
  search.strokes = strokes;
})
"""


class StrictHost(SimpleHTTPRequestHandler):
    """A static host with the strictest policy that lets WebAssembly run; other sites may read what it has."""

    policy = POLICY

    def end_headers(self):
        self.send_header("Content-Security-Policy", self.policy)
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_):
        pass


class AskingHost(StrictHost):
    """A static host with one more page, which does what a test asks, and sends back what came of it."""

    script = b""
    answers: Queue = Queue()

    def do_GET(self):
        pages = {"/ask.html": b'<html data-gallery="gallery/"><script type="module" src="ask.js"></script>'}
        content = {**pages, "/ask.js": self.script}.get(self.path)
        if content is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return self.wfile.write(content)

    def do_POST(self):
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()


@contextmanager
def hosted(folder: Path, policy: str = POLICY, kind: type[StrictHost] = StrictHost):
    host = type("Host", (kind,), {"policy": policy})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(host, directory=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def model():
    return Model.load(default_model_folder())


@pytest.fixture(scope="module")
def searcher(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("site")
    for number in range(24):
        category = SHOWN[number % len(SHOWN)]
        path = folder / "photos" / category / f"{category} {number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(render_photo(category, np.random.default_rng(number), 96)).save(path)
    Image.open(folder / "photos" / "cat" / "cat 0.jpg").resize((90, 90)).save(folder / "photos" / "copy of a cat.jpg")
    with GalleryFile.create(folder / "test.gallery", model) as gallery:
        list(index_events(gallery, model, [folder / "photos"], labels="folder"))
        yield Searcher(model, gallery)


@pytest.fixture(scope="module")
def site(searcher, model, tmp_path_factory):
    if not PACKAGE.is_file():
        pytest.skip(f"the site is tested with onnxruntime-web, which is not in {PACKAGE}")
    out = tmp_path_factory.mktemp("host") / "site"
    write_site(searcher.gallery, model, out, find_runtime(PACKAGE, cache=out.parent))
    return out


@pytest.fixture(scope="module")
def address(site):
    with hosted(site) as address:
        yield address


SHAPES = {
    "circle": '<circle cx="12" cy="12" r="9"/>',
    "circle-dot": '<circle cx="12" cy="12" r="9"/><circle cx="12" cy="12" r="1"/>',
    "arrow-left": '<path d="M20 12H4m6-6l-6 6l6 6"/>',
    "house": '<path d="M4 11l8-7l8 7v9h-16z"/>',
    "cat": '<path d="M5 20v-14l4 3h6l4-3v14zM9 14h1M14 14h1"/>',
    "minus": '<path d="M4 12h16"/>',
    "square": '<path d="M4 4h16v16h-16z"/>',
}


@pytest.fixture(scope="module")
def drawn_searcher(tmp_path_factory, model):
    """Return what finds photos of cats and houses, and icons."""
    pytest.importorskip("resvg_py")
    folder = tmp_path_factory.mktemp("drawn")
    for number in range(12):
        category = ("cat", "house")[number % 2]
        path = folder / "pictures" / category / f"{category} {number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(render_photo(category, np.random.default_rng(number), 96)).save(path)
    body = '<g fill="none" stroke="#000" stroke-width="2">%s</g>'
    icons = {name: {"body": body % shape} for name, shape in SHAPES.items()}
    tags = {"Round things": ["circle", "circle-dot", "cat"], "Buildings": ["house"], "Circles": ["minus"]}
    pack = {"prefix": "test", "width": 24, "height": 24, "icons": icons, "categories": tags}
    (folder / "pictures" / "icons.json").write_text(json.dumps(pack))
    with GalleryFile.create(folder / "test.gallery", model) as gallery:
        list(index_events(gallery, model, [folder / "pictures"]))
        yield Searcher(model, gallery)


@pytest.fixture(scope="module")
def drawn_address(drawn_searcher, model, tmp_path_factory):
    if not PACKAGE.is_file():
        pytest.skip(f"the site is tested with onnxruntime-web, which is not in {PACKAGE}")
    out = tmp_path_factory.mktemp("drawn host") / "site"
    write_site(drawn_searcher.gallery, model, out, find_runtime(PACKAGE, cache=out.parent), with_svg=True)
    with hosted(out) as address:
        yield address


@pytest.fixture
def example(site, tmp_path):
    """Return the folder of the component, whose example has a gallery."""
    folder = shutil.copytree(WEB, tmp_path / "web")
    (folder / "example" / "gallery").symlink_to(site)
    return folder


@pytest.fixture
def open_site(browser, address):
    """Return a function that opens the site; in the end it must not have complained, or asked anyone else."""
    contexts, complaints, strangers = [], [], []

    def open_site(where=address, **options):
        contexts.append(browser.new_context(reduced_motion="reduce", **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        own = (address, urljoin(where, "/"), "blob:")
        page.on("request", lambda request: request.url.startswith(own) or strangers.append(request.url))
        page.goto(where)
        return page

    yield open_site
    for context in contexts:
        context.close()
    assert (complaints, strangers) == ([], [])


def drawings():
    names = sorted(CATEGORIES)
    return [draw_sketch(names[seed % len(names)], np.random.default_rng(seed)) for seed in range(DRAWINGS)]


def found(answer):
    """Return what an answer of `Searcher` says, as the page's back end says it."""
    return [
        (hit.id, hit.distance, hit.likely, hit.label, hit.path.name, hit.copy_of, hit.copies, hit.kind)
        for hit in answer
    ]


def shown(answer):
    keys = ("id", "distance", "likely", "label", "name", "copy_of", "copies", "kind")
    return [tuple(hit[key] for key in keys) for hit in answer["hits"]]


def assert_same(answers, expected):
    assert [shown(answer) for answer in answers] == [found(answer) for answer in expected]
    for answer, other in zip(answers, expected, strict=True):
        assert answer["verdict"] == other.verdict
        assert answer["chance"] == pytest.approx(other.chance, abs=2e-3)
        assert [hit["chance"] for hit in answer["hits"]] == pytest.approx([hit.chance for hit in other], abs=2e-3)
        assert [guess["category"] for guess in answer["guesses"]] == [guess.category for guess in other.guesses]


def test_without_a_network_a_hundred_drawings_find_what_the_service_finds(open_site, searcher):
    page = open_site()
    page.evaluate(IS_KEPT)
    page.context.set_offline(True)
    page.reload()
    queries = [{"by": "drawing", "strokes": drawing.to_json()} for drawing in drawings()]
    answers = page.evaluate(ASK, [queries, FILTERS])
    assert_same(answers, [searcher.search(drawing, FILTERS["k"]) for drawing in drawings()])
    assert any(hit["copy_of"] for answer in answers for hit in answer["hits"])


def test_firefox_finds_what_the_service_finds(site, searcher, tmp_path):
    if not FIREFOX.exists():
        pytest.skip(f"this is tested with {FIREFOX}, which is not there")
    some = drawings()[:30]
    queries = [{"by": "drawing", "strokes": drawing.to_json()} for drawing in some]
    asked = f"const answers = await ({ASK})({json.dumps([queries, FILTERS])});"
    script = f'{asked} await fetch("answers", {{ method: "POST", body: JSON.stringify(answers) }});'
    kind = type("Kind", (AskingHost,), {"script": script.encode(), "answers": Queue()})
    with hosted(site, kind=kind) as address:
        command = [FIREFOX, "--headless", "--no-remote", "--profile", tmp_path, f"{address}ask.html"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        firefox = subprocess.Popen(command, env={**os.environ, "HOME": str(tmp_path)}, **quiet)
        try:
            answers = kind.answers.get(timeout=PATIENCE)
        finally:
            firefox.terminate()
            firefox.wait(30)
    assert_same(answers, [searcher.search(drawing, FILTERS["k"]) for drawing in some])


def test_kinds_of_things_and_photos_find_what_the_service_finds(open_site, searcher):
    page = open_site()
    names = ["cat", "teapot", "sailboat"]
    answers = page.evaluate(ASK, [[{"by": "category", "category": name} for name in names], FILTERS])
    assert_same(answers, [searcher.by_category(name, FILTERS["k"]) for name in names])
    photos = [hit.id for hit in searcher.by_category("cat", 5)]
    answers = page.evaluate(ASK, [[{"by": "photo", "hit": {"id": photo}} for photo in photos], FILTERS])
    assert_same(answers, [searcher.similar(photo, FILTERS["k"]) for photo in photos])


def test_copies_are_those_that_the_service_finds(open_site, searcher):
    page = open_site()
    hits = [hit for drawing in drawings()[:9] for hit in searcher.search(drawing, FILTERS["k"])]
    photos = sorted({hit.id for hit in hits if hit.copies})
    copies = page.evaluate(COPIES, photos)
    assert [shown({"hits": some}) for some in copies] == [found(searcher.copies(photo)) for photo in photos]
    assert any(copies)


def test_drawings_among_photos_are_found_and_judged_as_by_the_service(open_site, drawn_address, drawn_searcher):
    page = open_site(drawn_address)
    some = drawings()[:20]
    answers = page.evaluate(ASK, [[{"by": "drawing", "strokes": each.to_json()} for each in some], FILTERS])
    expected = [drawn_searcher.search(drawing, FILTERS["k"]) for drawing in some]
    assert_same(answers, expected)
    assert {answer.chance is None for answer in expected} == {True, False}
    ids = [hit.id for hit in expected[0]][:9]
    answers = page.evaluate(ASK, [[{"by": "photo", "hit": {"id": photo}} for photo in ids], FILTERS])
    assert_same(answers, [drawn_searcher.similar(photo, FILTERS["k"]) for photo in ids])


def test_words_find_drawings_by_names_and_tags_as_by_the_service(open_site, drawn_address, drawn_searcher):
    page = open_site(drawn_address)
    words = ["circle", "dot", "Arrow LEFT", "round", "thing round", "build", "cat", "house"]
    for filters in (FILTERS, {**FILTERS, "k": 2}):
        answers = page.evaluate(ASK, [[{"by": "category", "category": word} for word in words], filters])
        assert_same(answers, [drawn_searcher.by_category(word, filters["k"]) for word in words])
    finder = Finder(drawn_searcher)
    asked = [*words, "sparrow", "?"]
    meant = page.evaluate(
        "async (words) => { const { backEnd } = await import('./static/backend.js');"
        " return Promise.all(words.map((word) => backEnd.categories(word))); }",
        asked,
    )
    known = drawn_searcher.model.manifest.categories
    expected = [list(dict.fromkeys([*finder.meanings(word, 3), *find_categories(word, known)])) for word in asked]
    assert [[each["category"] for each in some] for some in meant] == expected


def test_an_icon_of_a_site_is_named_and_copied(open_site, drawn_address):
    page = open_site(drawn_address, permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator("#gallery-size")).to_have_text("12 photos and 7 drawings")
    page.locator("#word").fill("arrow")
    page.locator("#word").press("Enter")
    expect(page.locator("#hits .hit")).to_have_count(1)
    expect(page.get_by_role("heading", name="Drawings of: arrow left")).to_be_visible()
    expect(page.locator("#hits .hit-name")).to_have_text("arrow left")
    page.get_by_role("button", name="arrow left, drawing").click()
    viewer = page.get_by_role("dialog")
    viewer.get_by_role("button", name="Copy SVG").click()
    expect(viewer.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("<svg") and 'd="M20 12H4m6-6l-6 6l6 6"' in copied
    viewer.get_by_role("button", name="Copy name").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text === 'arrow-left')")


def test_vectors_and_tables_weigh_codes_alike(open_site):
    weighed = """
    async ([codes, width, code, weights]) => {
      const { Scanner } = await import("./static/engine/scan.js");
      const scanners = [true, false].map((isVectored) => new Scanner(Uint8Array.from(codes), width, isVectored));
      for (const scanner of scanners) scanner.weigh(Uint8Array.from(code), Uint8Array.from(weights));
      return scanners.map(({ sums }) => [...sums]);
    }
    """
    page = open_site()
    rng = np.random.default_rng(5)
    for count, width in ((0, 4), (1, 1), (16, 4), (37, 32), (40, 128)):
        codes, code = rng.integers(0, 256, (count, width), np.uint8), rng.integers(0, 256, width, np.uint8)
        weights = rng.integers(0, 64, 8 * width, np.uint8) if count != 40 else np.full(8 * width, 63, np.uint8)
        asked = [codes.ravel().tolist(), width, code.tolist(), weights.tolist()]
        expected = weighed_distances(code, weights, codes).tolist()
        assert page.evaluate(weighed, asked) == [expected, expected]


def test_words_mean_what_they_mean_to_the_service(open_site, model):
    asked = ["cat", "kitten", "bears", "hot air", "berries", "Teddy Bear", "sparrow", "?", "tea"]
    page = open_site()
    answers = page.evaluate(
        "async (words) => { const { backEnd } = await import('./static/backend.js');"
        " return Promise.all(words.map((word) => backEnd.categories(word))); }",
        asked,
    )
    known = model.manifest.categories
    assert [[each["category"] for each in some] for some in answers] == [find_categories(word, known) for word in asked]


def test_a_person_with_a_phone_draws_and_finds(open_site, draw, sketch, photograph_page):
    page = open_site(**PHONE)
    draw(page, *sketch("cat"))
    expect(page.locator("#hits .hit").first).to_be_visible()
    expect(page.locator("#hits img").first).to_have_js_property("complete", True)
    assert page.locator("#hits img").first.evaluate("(image) => image.naturalWidth") > 0
    expect(page.locator("#picture-choose")).to_be_hidden()
    expect(page.get_by_text("choose a picture")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    photograph_page(page, "site-on-a-phone")

    page.get_by_label("Label").select_option("house")
    expect(page.locator("#hits .hit")).to_have_count(4)
    page.locator("#hits button").first.click()
    viewer = page.get_by_role("dialog")
    expect(viewer).to_contain_text("96 × 96")
    expect(viewer.get_by_role("link", name="Open original")).to_be_hidden()
    expect(viewer.get_by_role("img").first).to_have_js_property("complete", True)
    viewer.get_by_role("button", name="More like this").click()
    expect(page.locator("#hits .hit")).to_have_count(3)


def test_an_open_hit_shows_its_original_if_the_site_knows_where_it_is(open_site, site, searcher, draw, sketch):
    about = json.loads((site / "gallery" / "gallery.json").read_bytes())
    picture = next(iter(searcher.by_category("cat", 1))).path
    page = open_site(service_workers="block")  # what it fetches would not come by the routes below
    page.route("**/gallery/gallery.json", lambda route: route.fulfill(json={**about, "originals": "originals/"}))
    page.route("**/originals/**", lambda route: route.fulfill(path=picture))
    page.reload()
    draw(page, *sketch("cat"))
    page.get_by_label("Label").select_option("house")
    expect(page.locator("#hits .hit")).to_have_count(4)
    page.locator("#hits button").first.click()
    name = page.locator("#viewer-title").inner_text()
    link = page.get_by_role("link", name="Open original")
    expect(link).to_have_attribute("href", re.compile(f"/originals/house/{name.replace(' ', '%20')}$"))


def test_on_another_page_a_drawing_finds_and_a_hit_is_chosen(open_site, example, searcher, photograph_page):
    with hosted(example) as host:
        page = open_site(f"{host}example/")
        for drawing in drawings()[:5]:
            found_there = page.evaluate(SET_STROKES, drawing.to_json())["hits"]
            expected = searcher.search(drawing, 12)
            assert shown(found_there) == found(expected)
            assert found_there["verdict"] == expected.verdict
        expect(page.locator("sketch-search li")).to_have_count(12)
        picture = page.locator("sketch-search img").first
        expect(picture).to_have_js_property("naturalWidth", 96)
        assert picture.evaluate("(image) => getComputedStyle(image.closest('button')).cursor") == "pointer"
        photograph_page(page, "component")
        page.locator("sketch-search li button").first.click()
        expect(page.get_by_text(f"You have chosen {found_there['hits'][0]['name']}.")).to_be_visible()
        page.goto("about:blank")


def test_strokes_of_a_hand_are_drawn_and_taken_back(open_site, example):
    with hosted(example) as host:
        page = open_site(f"{host}example/", **PHONE)
        box = page.locator("sketch-search canvas").bounding_box()
        for start, end in (((0.2, 0.2), (0.8, 0.8)), ((0.8, 0.2), (0.2, 0.8))):
            page.mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
            page.mouse.down()
            page.mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=4)
            page.mouse.up()
        expect(page.locator("sketch-search li")).to_have_count(12)
        strokes = page.locator("sketch-search").evaluate("(search) => search.strokes")
        assert [len(stroke) >= 2 for stroke in strokes] == [True, True]
        assert np.abs(np.array([strokes[0][0], strokes[0][-1]]) - [[102.4] * 2, [409.6] * 2]).max() < 3
        page.get_by_role("button", name="Undo").click()
        assert len(page.locator("sketch-search").evaluate("(search) => search.strokes")) == 1
        page.get_by_role("button", name="Clear").click()
        expect(page.locator("sketch-search li")).to_have_count(0)
        page.goto("about:blank")


def test_a_gallery_may_lie_on_another_host(open_site, example, address, searcher):
    (example / "example" / "gallery").unlink()
    page_file = example / "example" / "index.html"
    text = page_file.read_text(encoding="utf-8").replace('src="gallery/"', f'src="{address}"')
    page_file.write_text("\n".join(line for line in text.splitlines() if "http-equiv" not in line), encoding="utf-8")
    allowed = POLICY.replace("default-src 'self'", f"default-src 'self' {address}")
    with hosted(example, allowed.replace("script-src 'self'", f"script-src 'self' {address}")) as host:
        page = open_site(f"{host}example/")
        drawing = drawings()[0]
        assert shown(page.evaluate(SET_STROKES, drawing.to_json())["hits"]) == found(searcher.search(drawing, 12))
        page.goto("about:blank")


def test_a_gallery_that_is_not_there_is_a_problem_and_not_the_end(browser, example):
    context = browser.new_context()
    (example / "example" / "gallery").unlink()
    with hosted(example) as host:
        page = context.new_page()
        page.goto(f"{host}example/")
        assert "problem" in page.evaluate(SET_STROKES, [[[0, 0], [9, 9]]])
        expect(page.get_by_text("cannot be reached")).to_be_visible()
        context.close()


def test_the_package_holds_what_it_names():
    package = json.loads((WEB / "package.json").read_bytes())
    assert "dependencies" not in package
    for name in (*package["files"], package["types"], *package["exports"]["."].values()):
        assert (WEB / name).exists()
