"""The page on phones, tablets and desktops: what must stay in view, and what must not move."""

import io

import pytest
import stand_in
from PIL import Image

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

DEVICES = {
    "phone": {"width": 390, "height": 844},
    "phone-on-its-side": {"width": 844, "height": 390},
    "small-phone-on-its-side": {"width": 667, "height": 375},
    "tablet": {"width": 820, "height": 1180},
    "desktop": {"width": 1280, "height": 800},
}
LINE = [(0.2, 0.5), (0.8, 0.5)]
FIT = """names => names
    .filter((name) => name.scrollWidth > name.clientWidth + 1 || name.scrollHeight > name.clientHeight + 1)
    .map((name) => [name.textContent, name.scrollWidth, name.clientWidth, name.scrollHeight, name.clientHeight])
"""


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.mark.parametrize("device", DEVICES)
def test_the_sheet_never_moves_while_one_draws(open_page, service, photograph_page, device, scheme):
    page = open_page(viewport=DEVICES[device], color_scheme=scheme)
    expect(page.locator("#examples button")).to_have_count(6)
    photograph_page(page, f"{device}-{scheme}-invited")
    sheet = page.locator("#sheet")
    before = sheet.bounding_box()
    page.mouse.move(before["x"] + 50, before["y"] + 50)
    page.mouse.down()
    page.mouse.move(before["x"] + 150, before["y"] + 150)
    expect(page.locator("#hits .hit")).to_have_count(40)
    assert sheet.bounding_box() == before
    service.verdict = "unknown"
    page.mouse.move(before["x"] + 150, before["y"] + 50)
    page.mouse.up()
    expect(page.get_by_role("heading", name="I don't know this kind of thing")).to_be_visible()
    assert sheet.bounding_box() == before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    photograph_page(page, f"{device}-{scheme}-unknown")


@pytest.mark.parametrize("device", DEVICES)
def test_sheet_tools_and_first_hits_are_in_view(open_page, draw, photograph_page, device, scheme):
    page = open_page(viewport=DEVICES[device], color_scheme=scheme)
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    first = page.locator("#hits .hit-picture").first
    for part in (page.locator("#sheet"), page.get_by_role("button", name="Search by a picture"), first):
        box = part.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= DEVICES[device]["width"]
        assert box["y"] >= 0 and box["y"] + box["height"] <= DEVICES[device]["height"]
    photograph_page(page, f"{device}-{scheme}-hits")


@pytest.mark.parametrize("device", ["phone-on-its-side", "small-phone-on-its-side", "desktop"])
def test_the_sheet_stays_while_the_hits_beside_it_scroll(open_page, draw, device):
    page = open_page(viewport=DEVICES[device])
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.locator("#hits .hit").nth(20).scroll_into_view_if_needed()
    box = page.locator("#sheet").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= DEVICES[device]["height"]


def test_wide_pictures_are_shown_whole(open_page, draw, monkeypatch):
    stream = io.BytesIO()
    Image.new("RGB", (240, 80), "red").save(stream, format="JPEG")
    monkeypatch.setattr(stand_in, "photo_bytes", lambda id: stream.getvalue())
    page = open_page(viewport=DEVICES["desktop"])
    draw(page, LINE)
    image = page.locator("#hits img").first
    expect(image).to_have_js_property("naturalWidth", 240)
    assert image.evaluate("image => getComputedStyle(image).objectFit") == "contain"
    assert image.bounding_box()["width"] >= 170


def test_names_are_shown_only_where_they_say_something(page, draw, service):
    service.has_camera_names = True
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(page.get_by_text("IMG_0001")).to_be_hidden()
    expect(page.get_by_role("button", name="IMG_0001.jpg")).to_be_visible()


def test_a_telling_name_says_more_than_a_label(page, draw, service):
    service.has_telling_names = True
    draw(page, LINE)
    expect(page.locator("#hits .hit").first).to_have_text("cat on the roof 1")


def test_what_can_be_done_with_a_photo_is_in_view(open_page, draw):
    for device in DEVICES.values():
        page = open_page(viewport=device)
        draw(page, LINE)
        page.locator("#hits button").first.click()
        expect(page.get_by_role("dialog").get_by_text("16:05")).to_be_attached()
        for name in ("More like this", "Copy path", "Close"):
            box = page.get_by_role("dialog").get_by_role("button", name=name).bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= device["height"]


def test_the_names_of_examples_and_fields_are_not_cut_off(open_page, draw, service):
    service.examples = [{**each, "name": "hot air balloon"} for each in service.examples]
    for device in DEVICES.values():
        page = open_page(viewport=device)
        expect(page.locator("#examples button")).to_have_count(6)
        assert page.locator("#examples span").evaluate_all(FIT) == []
        draw(page, LINE)
        expect(page.locator("#hits .hit")).to_have_count(40)
        assert page.get_by_label("Search for a word").evaluate("field => field.clientWidth") >= 140


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("grandma at the lake.jpg", "grandma at the lake"),
        ("red_tractor_3.jpg", "red tractor 3"),
        ("IMG_0001.jpg", ""),
        ("DSC01234.JPG", ""),
        ("PXL_20240501_101112.jpg", ""),
        ("20240501_101112.jpg", ""),
        ("WhatsApp Image 2024-05-01 at 10.11.12.jpeg", ""),
        ("d41d8cd98f00b204e9800998ecf8427e.png", ""),
        ("n02121808_1421.jpeg", ""),
        ("Гора.jpg", "Гора"),
        ("apple_red.png", "apple red"),
    ],
)
def test_what_a_file_name_says(page, name, shown):
    script = "async (name) => (await import('/static/hits.js')).tellingName(name)"
    assert page.evaluate(script, name) == shown
