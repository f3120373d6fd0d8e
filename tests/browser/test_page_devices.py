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
    expect(page.get_by_text("I don't know this kind of thing")).to_be_visible()
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
    ],
)
def test_what_a_file_name_says(page, name, shown):
    script = "async (name) => (await import('/static/hits.js')).tellingName(name)"
    assert page.evaluate(script, name) == shown
