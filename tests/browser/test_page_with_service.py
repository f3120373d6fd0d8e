"""The page and the real service understand each other."""

import threading

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from sketchhash.datasets.synthetic.photographer import render_photo
from sketchhash.gallery import Gallery, index_photos
from sketchhash.model import InkInput, MadeWith, Manifest, Model, PhotoInput, write_model
from sketchhash.server import Access, create_app, listen, open_service, server

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

BITS, SIDE = 32, 16
CATEGORIES = ("cat", "house", "teapot")
TOKEN = "a-token-for-tests"
CIRCLE = [(0.5 + 0.3 * np.cos(turn), 0.5 + 0.3 * np.sin(turn)) for turn in np.linspace(0, 6.28, 13)]


def network(name, shape):
    """Serialise values = flatten(input) · weights: codes that mean nothing, and differ."""
    weights = np.random.default_rng(0).standard_normal((np.prod(shape), BITS)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", [name], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["float"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["values"]),
    ]
    pixels = helper.make_tensor_value_info(name, TensorProto.UINT8, ["n", *shape])
    values = helper.make_tensor_value_info("values", TensorProto.FLOAT, ["n", BITS])
    graph = helper.make_graph(nodes, "linear", [pixels], [values], [numpy_helper.from_array(weights, "weights")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


@pytest.fixture
def model_folder(tmp_path):
    manifest = Manifest(
        name="tiny",
        bits=BITS,
        categories=CATEGORIES,
        photos=PhotoInput(SIDE, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        ink=InkInput(SIDE, offset=0.0, scale=1.0, line_width=0.1, margin=0.05),
        tokens=None,
        made_with=MadeWith("0.1.0", "toy", "ab" * 32, 3, "cd" * 32, {}),
        scores={"map": 0.5},
    )
    networks = {"image_onnx": network("photos", (SIDE, SIDE, 3)), "sketch_onnx": network("sketches", (SIDE, SIDE))}
    write_model(tmp_path / "tiny", manifest, **networks, card="# tiny\n\nA model for tests.\n")
    return tmp_path / "tiny"


@pytest.fixture
def gallery_file(tmp_path, model_folder):
    for number in range(12):
        category = CATEGORIES[number % len(CATEGORIES)]
        path = tmp_path / "photos" / category / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(render_photo(category, np.random.default_rng(number), 96)).save(path)
    model = Model.load(model_folder)
    with Gallery.create(tmp_path / "test.gallery", model) as gallery:
        list(index_photos(gallery, model, [tmp_path / "photos"], labels="folder"))
    return tmp_path / "test.gallery"


@pytest.fixture
def address(gallery_file, model_folder):
    """Run the real service, behind a token, and give its address."""
    with open_service(gallery_file, model_folder) as service, listen("127.0.0.1", 0) as listener:
        answering = server(create_app(service, Access(token=TOKEN)))
        thread = threading.Thread(target=answering.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        answering.should_exit = True
        thread.join(20)


def test_a_circle_finds_photos_in_the_real_gallery(browser, address, draw, photograph_page):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{address}#token={TOKEN}")
    expect(page.get_by_text("12 photos")).to_be_visible()

    draw(page, CIRCLE)
    expect(page.locator("#hits li")).to_have_count(12)
    expect(page.locator("#hits img").first).to_have_js_property("naturalWidth", 96)

    page.get_by_label("Label").select_option("house")
    expect(page.locator("#hits li")).to_have_count(4)
    page.locator("#hits button").first.click()
    viewer = page.get_by_role("dialog")
    expect(viewer).to_contain_text("96 × 96")
    expect(viewer.get_by_role("img").first).to_have_js_property("naturalWidth", 96)

    viewer.get_by_role("button", name="More like this").click()
    expect(page.locator("#hits li")).to_have_count(3)
    photograph_page(page, "real-service")

    page.keyboard.press("i")
    expect(page.get_by_role("dialog")).to_contain_text("Bits in a code32")
    context.close()
    assert complaints == []
