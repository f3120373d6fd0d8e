"""A real browser, and what tests of the page do in it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from stand_in import FakeService, Handler

from sketchhash.datasets.synthetic.sketches import draw_sketch
from sketchhash.server import Access, create_app, create_server, listen, open_service

CHROMIUM = Path("/usr/bin/chromium")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP *.test 127.0.0.1",  # names of sites, for those that look at them
]
SCREENSHOTS = Path(__file__).parents[2] / "artefacts" / "screenshots"
VISIBLE_IMAGES_ARE_THERE = """
() => [...document.images].every((image) => image.complete || image.getBoundingClientRect().top > innerHeight)
"""
# Chromium drops what the mouse does before a page was painted for the first time, and a busy machine paints late.
PAINTED = "() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))"


@pytest.fixture(scope="session")
def _server():
    manners = {"request_queue_size": 128}  # a page asks for thirty files at once, each on a connection that may wait
    server = type("Server", (ThreadingHTTPServer,), manners)(("127.0.0.1", 0), type("BoundHandler", (Handler,), {}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def service(_server):
    _server.RequestHandlerClass.service = FakeService(f"http://127.0.0.1:{_server.server_port}/")
    return _server.RequestHandlerClass.service


@pytest.fixture(scope="session")
def run_service():
    """Return a function that runs the real service until its block ends, and yields its address."""

    @contextmanager
    def run(gallery: Path, model_folder: Path, access: Access) -> Iterator[str]:
        with open_service(gallery, model_folder) as service, listen("127.0.0.1", 0) as listener:
            answering = create_server(create_app(service, access))
            thread = threading.Thread(target=answering.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
            finally:
                answering.should_exit = True
                thread.join(20)

    return run


@pytest.fixture(scope="module")  # playwright keeps an event loop running, which other tests want to start
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright")
    if not CHROMIUM.exists():
        pytest.skip(f"the page is tested with {CHROMIUM}, which is not there")
    sync_api.expect.set_options(timeout=20_000)  # machines are shared and noisy
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def watch(service):
    """Return a function that listens to a page; in the end it must not have complained, or asked anyone else."""
    watched, complaints, strangers = [], [], []
    # The browser itself reports every answer that is not 2xx, and tests provoke those.
    provoked = "Failed to load resource"

    def hear(message) -> None:
        if message.type == "error" and not message.text.startswith(provoked):
            complaints.append(message.text)

    def see(request) -> None:
        if not request.url.startswith((service.address, "blob:", "data:")):
            strangers.append(request.url)

    listeners = {"console": hear, "pageerror": lambda error: complaints.append(str(error)), "request": see}

    def watch(page):
        for event, listener in listeners.items():
            page.on(event, listener)
        watched.append(page)
        return page

    yield watch
    for page in watched:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
    assert complaints == []
    assert strangers == []


@pytest.fixture
def open_page(browser, service, watch):
    """Return a function that opens the page in a browser of its own: nothing is stored, the options are chosen."""
    contexts = []

    def open_page(fragment: str = "", **options: object):
        contexts.append(browser.new_context(reduced_motion="reduce", **options))
        page = watch(contexts[-1].new_page())
        page.goto(service.address + fragment)
        page.evaluate(PAINTED)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def _shared_page(browser):
    return browser.new_context(reduced_motion="reduce").new_page()


@pytest.fixture
def page(_shared_page, service, watch):
    """Load the page afresh. Its browser is shared, for speed: who changes more than the page takes `open_page`."""
    watch(_shared_page).goto(service.address)
    _shared_page.evaluate(PAINTED)
    yield _shared_page
    _shared_page.evaluate("sessionStorage.clear()")  # the drawing would be there again for the next test
    _shared_page.goto("about:blank")


@pytest.fixture
def eventually():
    """Return a function that waits until something holds on the service's side."""

    def eventually(page, condition) -> None:
        patience = 20.0
        while not condition():
            assert patience > 0, "it never held"
            page.wait_for_timeout(20)
            patience -= 0.02

    return eventually


@pytest.fixture
def draw():
    """Return a function that draws lines on the sheet, their points as shares of its side."""

    def draw(page, *lines):
        box = page.locator("#sheet").bounding_box()
        for line in lines:
            for number, (x, y) in enumerate(line):
                page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
                if number == 0:
                    page.mouse.down()
            page.mouse.up()

    return draw


@pytest.fixture
def sketch():
    """Return a function that makes the lines of a sketch, as a person in a hurry might draw them."""

    def sketch(category: str, seed: int = 3):
        strokes = draw_sketch(category, np.random.default_rng(seed)).strokes
        return [[*stroke[:-1:4].tolist(), stroke[-1].tolist()] for stroke in strokes]

    return sketch


@pytest.fixture
def photograph_page():
    """Return a function that keeps a screenshot, to be looked at by people."""

    def photograph(page, name: str) -> None:
        page.wait_for_function(VISIBLE_IMAGES_ARE_THERE)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png")

    return photograph
