"""Icons on the page: drawn, found, and copied, from the real service."""

import json

import numpy as np
import pytest

from sketchhash.gallery import GalleryFile, index_events
from sketchhash.model import Model
from sketchhash.server import Access

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect
pytest.importorskip("resvg_py")

CIRCLE = [(0.5 + 0.3 * np.cos(turn), 0.5 + 0.3 * np.sin(turn)) for turn in np.linspace(0, 6.28, 13)]
SHAPES = {
    "circle": '<circle cx="12" cy="12" r="9"/>',
    "arrow-left": '<path d="M20 12H4m6-6l-6 6l6 6"/>',
    "square": '<path d="M4 4h16v16h-16z"/>',
}


@pytest.fixture
def address(tmp_path, model_folder, run_service):
    icons = {
        name: {"body": f'<g fill="none" stroke="#000" stroke-width="2">{body}</g>'} for name, body in SHAPES.items()
    }
    pack = tmp_path / "icons.json"
    pack.write_text(json.dumps({"prefix": "test", "width": 24, "height": 24, "icons": icons}))
    model = Model.load(model_folder)
    with GalleryFile.create(tmp_path / "test.gallery", model) as gallery:
        list(index_events(gallery, model, [pack]))
    with run_service(tmp_path / "test.gallery", model_folder, Access()) as address:
        yield address


def test_an_icon_is_drawn_found_and_copied_as_svg_or_by_its_name(browser, address, draw):
    context = browser.new_context(reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(address)
    expect(page.locator("#gallery-size")).to_have_text("3 drawings")
    draw(page, CIRCLE)
    expect(page.locator("#hits .hit")).to_have_count(3)
    expect(page.get_by_role("heading", name="Nearest drawings")).to_be_visible()
    expect(page.locator("#code-caption")).to_contain_text("compared with 3 drawings in")
    page.get_by_role("button", name="arrow left, drawing").click()
    viewer = page.get_by_role("dialog")
    expect(viewer.get_by_role("button", name="Copy path")).to_be_hidden()
    viewer.get_by_role("button", name="Copy SVG").click()
    expect(viewer.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("<svg") and 'd="M20 12H4m6-6l-6 6l6 6"' in copied
    viewer.get_by_role("button", name="Copy name").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text === 'arrow-left')")
    assert complaints == []
    context.close()


def test_what_a_gallery_holds_is_counted_by_kind(page):
    counted = "async (galleries) => galleries.map((await import('./static/dom.js')).countedKinds)"
    holds = [(0, 0), (1, 0), (1500, 0), (1, 1), (5000, 5000), (150, 30), (2, 1)]
    assert page.evaluate(counted, [{"photos": photos, "drawings": drawings} for photos, drawings in holds]) == [
        "0 photos",
        "1 photo",
        "1,500 photos",
        "1 drawing",
        "5,000 drawings",
        "120 photos and 30 drawings",
        "1 photo and 1 drawing",
    ]


def test_a_word_finds_icons_by_their_names(browser, address):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    page.locator("#word").fill("arrow")
    page.locator("#word").press("Enter")
    expect(page.locator("#hits .hit")).to_have_count(1)
    expect(page.get_by_role("button", name="arrow left, drawing")).to_be_visible()
    context.close()
