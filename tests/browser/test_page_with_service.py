"""The page and the real service understand each other."""

import re
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
CIRCLE = [(0.5 + 0.3 * np.cos(turn), 0.5 + 0.3 * np.sin(turn)) for turn in np.linspace(0, 6.28, 13)]


@pytest.fixture
def gallery_file(tmp_path, model_folder):
    for number in range(12):
        category = CATEGORIES[number % len(CATEGORIES)]
        path = tmp_path / "photos" / category / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(render_photo(category, np.random.default_rng(number), 96)).save(path)
    model = Model.load(model_folder)
    with GalleryFile.create(tmp_path / "test.gallery", model) as gallery:
        list(index_events(gallery, model, [tmp_path / "photos"], labels="folder"))
    return tmp_path / "test.gallery"


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


# A form needs no permission of the other site: browsers send it, and the question is whether it is answered.
POST_A_FORM = """
async (address) => {
  const form = new FormData();
  form.append("picture", new Blob(["no picture"]), "a.jpg");
  try {
    return (await fetch(address, { method: "POST", mode: "no-cors", body: form })).status;
  } catch {
    return "kept from the page";
  }
}
"""


@pytest.mark.parametrize("name", ["0.0.0.0", "127.0.0.1", "localhost"])
def test_what_a_page_of_another_site_posts_is_refused(browser, gallery_file, model_folder, run_service, service, name):
    with run_service(gallery_file, model_folder, Access()) as address:
        page = browser.new_page()
        page.goto(service.address)  # another port is another origin
        port = urlsplit(address).port
        assert page.evaluate(POST_A_FORM, f"http://{name}:{port}/api/search") == "kept from the page"
        page.goto(address)
        assert page.evaluate(POST_A_FORM, f"{address}api/search") == 422  # its own page is told what is wrong
        counted = httpx.get(f"{address}metrics").text
        page.close()
    assert re.findall(r'^sketchhash_answers_total{route="/api/search",status="(\d+)"} (\S+)', counted, re.M) == [
        ("422", "1.0")
    ]
