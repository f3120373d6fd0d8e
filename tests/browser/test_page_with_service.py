"""The page and the real service understand each other."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from PIL import Image

from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.gallery import GalleryFile, index_events
from sketchhash.model import Model
from sketchhash.server import Access

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

CATEGORIES = ("cat", "house", "teapot")
TOKEN = "a-token-for-tests"
POSTED = ("/api/search", "/api/search/category", "/api/session")
CIRCLE = [(0.5 + 0.3 * np.cos(turn), 0.5 + 0.3 * np.sin(turn)) for turn in np.linspace(0, 6.28, 13)]


@pytest.fixture(scope="module")
def gallery_file(tmp_path_factory, model_folder):
    folder = tmp_path_factory.mktemp("gallery")
    for number in range(12):
        category = CATEGORIES[number % len(CATEGORIES)]
        path = folder / "photos" / category / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(render_photo(category, np.random.default_rng(number), 96)).save(path)
    model = Model.load(model_folder)
    with GalleryFile.create(folder / "test.gallery", model) as gallery:
        list(index_events(gallery, model, [folder / "photos"], labels="folder"))
    return folder / "test.gallery"


@pytest.fixture
def address(gallery_file, model_folder, run_service):
    """Run the real service, behind a token, and give its address."""
    with run_service(gallery_file, model_folder, Access(token=TOKEN)) as address:
        yield address


def test_a_circle_finds_photos_in_the_real_gallery(browser, address, draw, photograph_page):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{address}#token={TOKEN}")
    expect(page.get_by_text("12 photos")).to_be_visible()

    draw(page, CIRCLE)
    expect(page.locator("#hits .hit")).to_have_count(12)
    expect(page.locator("#hits img").first).to_have_js_property("naturalWidth", 96)

    page.get_by_label("Label").select_option("house")
    expect(page.locator("#hits .hit")).to_have_count(4)
    page.locator("#hits button").first.click()
    viewer = page.get_by_role("dialog")
    expect(viewer).to_contain_text("96 × 96")
    expect(viewer.get_by_role("img").first).to_have_js_property("naturalWidth", 96)

    viewer.get_by_role("button", name="More like this").click()
    expect(page.locator("#hits .hit")).to_have_count(3)
    photograph_page(page, "real-service")

    page.keyboard.press("i")
    expect(page.get_by_role("dialog")).to_contain_text("Bits in a code32")
    context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def stranger():
    """Serve an empty page without any rules, as another site would, and return its port."""

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><p>A page of another site")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


# None of these needs the permission of the other site: browsers send them, and the question is what they get.
POST = """
async (address) => {
  const form = new FormData();
  form.append("picture", new Blob(["no picture"]), "a.jpg");
  const text = JSON.stringify({ category: "cat" });
  const sent = { "api/search": form, "api/search/category": text, "api/session": "" };
  const seen = Object.entries(sent).map(async ([path, body]) => {
    try {
      return (await fetch(address + path, { method: "POST", mode: "no-cors", body })).status;
    } catch {
      return "kept from the page";
    }
  });
  return Promise.all(seen);
}
"""
SEND_A_FORM = """
(address) => {
  document.body.innerHTML = `<form method="post" enctype="text/plain" action="${address}api/search/category">`;
  document.forms[0].submit();
}
"""


@pytest.mark.parametrize(
    ("site", "name"),
    [
        ("127.0.0.1", "127.0.0.1"),  # another port is another origin
        ("127.0.0.1", "localhost"),
        ("localhost", "127.0.0.1"),
        ("127.0.0.1", "0.0.0.0"),
        # A browser trusts neither of these names, and so does not say by Sec-Fetch-Site who asks: Origin alone does.
        ("stranger.test", "gallery.test"),
        ("gallery.test", "gallery.test"),
    ],
)
def test_what_a_page_of_another_site_posts_is_refused(
    browser, gallery_file, model_folder, run_service, stranger, site, name
):
    access = Access(hosts=frozenset({"localhost", "gallery.test"}))
    with run_service(gallery_file, model_folder, access) as own_address:
        port = urlsplit(own_address).port
        address = f"http://{name}:{port}/"
        page = browser.new_page()
        page.goto(f"http://{site}:{stranger}/")
        assert page.evaluate(POST, address) == ["kept from the page"] * 3
        assert answers(own_address) == {("other", "400"): 3}  # they did arrive, and reached no route
        with page.expect_navigation() as answer:
            page.evaluate(SEND_A_FORM, address)
        assert (answer.value.url, answer.value.status) == (f"{address}api/search/category", 400)

        own_page = own_address if name == "0.0.0.0" else address
        page.goto(own_page)
        assert page.evaluate(POST, own_page) == [422, 422, 204]  # the page itself is told what is wrong
        assert {key: count for key, count in answers(own_address).items() if key[0] in POSTED} == {
            ("/api/search", "422"): 1,
            ("/api/search/category", "422"): 1,
            ("/api/session", "204"): 1,
        }
        page.close()


def answers(address):
    """Return how often each route has answered with each status."""
    text = httpx.get(f"{address}metrics").text
    found = re.findall(r'^sketchhash_answers_total{route="(\S+)",status="(\d+)"} (\S+)', text, re.M)
    return {(route, status): float(count) for route, status, count in found}
