"""The whole road: a model learns a small world, a gallery is made with it, and what is drawn on the page is found."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from sketchhash.datasets import synthetic
from sketchhash.gallery import GalleryFile, index_events
from sketchhash.model import Model
from sketchhash.server import Access

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

pytestmark = pytest.mark.slow  # the model learns for half a minute

CATEGORIES = ("envelope", "hot air balloon", "scissors")  # hardly to be taken for each other
TAUGHT, FOUND, SIDE = 60, 8, 80

# Longer than "tiny", as there are few items, and with words that are read at once. All of 120 new sketches found their
# category first.
RECIPE = """
base = "tiny"
description = "Three things, learnt well."
words = "glove"
pretrain_photos.epochs = 14
pretrain_sketches.epochs = 24
hashing.epochs = 14
"""

SCRIBBLE = [(0.1, 0.1), (0.9, 0.9), (0.9, 0.1), (0.1, 0.9)]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Write three categories of the synthetic world, small, and give their folder."""
    folder = tmp_path_factory.mktemp("world")
    dataset = synthetic.load(TAUGHT, TAUGHT, categories=CATEGORIES, size=SIDE)
    for _ in synthetic.write(folder, dataset, size=SIDE, workers=1):
        pass
    return folder


@pytest.fixture(scope="module")
def taught_model(world, tmp_path_factory):
    """Train a model on this world, with one thread, and give its folder."""
    folder = tmp_path_factory.mktemp("taught")
    (folder / "recipe.toml").write_text(RECIPE)
    options = {"data": world, "recipe": "recipe.toml", "bits": 16, "queries": 4, "out": "model", "cache": "cache"}
    command = [sys.executable, "-m", "sketchhash", "train", *(f"--{name}={value}" for name, value in options.items())]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=one_thread, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return folder / "model"


@pytest.fixture(scope="module")
def address(taught_model, world, run_service, tmp_path_factory):
    """Serve some of the photos that the model has learnt; what is drawn will be new to it."""
    model = Model.load(taught_model)
    file = tmp_path_factory.mktemp("gallery") / "test.gallery"
    photos = [photo for category in CATEGORIES for photo in sorted((world / "photos" / category).iterdir())[:FOUND]]
    with GalleryFile.create(file, model) as gallery:
        list(index_events(gallery, model, photos, labels="folder"))
    with run_service(file, taught_model, Access()) as address:
        yield address


@pytest.fixture
def open_gallery(browser, address):
    """Return a function that opens the page as a device with these options shows it."""
    contexts = []

    def open_gallery(**options):
        contexts.append(browser.new_context(reduced_motion="reduce", **options))
        page = contexts[-1].new_page()
        page.goto(address)
        expect(page.locator("#gallery-size")).to_have_text(f"{len(CATEGORIES) * FOUND} photos")
        return page

    yield open_gallery
    for context in contexts:
        context.close()


@pytest.mark.parametrize("category", CATEGORIES)
def test_what_is_drawn_comes_first(open_gallery, draw, sketch, category):
    page = open_gallery()
    draw(page, *sketch(category))
    expect(page.locator("#hits .hit").first).to_contain_text(category)


def asks_with(request, strokes):
    return request.url.endswith("/api/search") and len(request.post_data_json["strokes"]) == strokes


@pytest.mark.parametrize(
    ("device", "options"),
    [
        ("desktop", {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}),
        ("phone", {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}),
    ],
)
def test_a_visit_on_any_device(open_gallery, draw, sketch, world, photograph_page, device, options):
    page = open_gallery(**options)
    first, third = page.locator("#hits .hit").first, page.locator("#hits .hit").nth(2)

    scissors = sketch("scissors")
    draw(page, *scissors)
    expect(first).to_contain_text("scissors")
    photograph_page(page, f"visit-{device}")
    with Image.open(io.BytesIO(page.screenshot())) as screen:
        is_dark = np.median(screen.convert("L")) < 64
    assert is_dark == (options["color_scheme"] == "dark")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    draw(page, SCRIBBLE)
    with page.expect_request(lambda request: asks_with(request, len(scissors))):
        page.get_by_role("button", name="Undo").click()
    expect(first).to_contain_text("scissors")

    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Search by a picture").click()
    chooser.value.set_files(world / "photos" / "envelope" / "0000.jpg")
    expect(first).to_contain_text("envelope")

    with page.expect_response("**/similar?*"):
        first.click()
        page.get_by_role("button", name="More like this").click()
    expect(page.get_by_text("More like 0")).to_be_visible()
    for hit in (first, third):
        expect(hit).to_contain_text("envelope")
