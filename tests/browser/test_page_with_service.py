"""The page and the real service understand each other."""

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
