"""When things are slow, wrong, out of reach or guarded."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from sketchhash.server.qr import as_path, qr_code

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

LINE = [(0.2, 0.5), (0.8, 0.5)]

KEEP_TEXTS = """() => {
    window.texts = [];
    const fillAsBefore = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        window.texts.push(text);
        return fillAsBefore.call(this, text, ...place);
    };
}"""


def test_good_matches_are_set_apart_from_what_is_less_likely(page, draw, service):
    draw(page, LINE)
    expect(page.get_by_role("heading", name="Good matches")).to_be_visible()
    items = page.locator("#hits > li")
    expect(items).to_have_count(41)
    expect(items.nth(8)).to_have_text("Less likely")
    expect(items.nth(7)).to_contain_text("cat")
    expect(items.nth(9)).to_contain_text("teapot")
    assert "%" not in page.locator("body").inner_text()
    expect(page.locator("#announcement")).to_have_text("Good matches: 8, and 32 less likely")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("unsure", "Not sure yet: go on drawing"),
        ("unknown", "I don't know this kind of thing; nearest shapes:"),
    ],
)
def test_the_heading_says_when_the_answer_is_not_sure(page, draw, service, photograph_page, verdict, words):
    service.verdict = verdict
    draw(page, LINE)
    expect(page.get_by_role("heading", name=words)).to_be_visible()
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(page.get_by_text("Less likely")).to_be_hidden()
    photograph_page(page, verdict)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("unsure", "Not sure that these show: umbrella"),
        ("unknown", "I see no photo of: umbrella; nearest shapes:"),
    ],
)
def test_what_is_recognised_but_not_found_is_not_called_unknown(page, draw, service, verdict, words):
    service.verdict, service.guesses = verdict, {"umbrella": 0.97}
    draw(page, LINE)
    expect(page.get_by_role("heading", name=words)).to_be_visible()


def test_a_model_without_calibration_claims_nothing(page, draw, service):
    service.is_calibrated = False
    draw(page, LINE)
    expect(page.get_by_role("heading", name="Nearest photos")).to_be_visible()
    expect(page.locator("#guesses li")).to_have_count(0)


def test_a_slow_search_shows_that_it_is_under_way(page, draw, service, photograph_page):
    service.may_answer.clear()
    draw(page, LINE)
    expect(page.locator(".skeleton")).to_be_visible()
    photograph_page(page, "slow")
    service.may_answer.set()
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(page.locator(".skeleton")).to_be_hidden()


def test_an_error_is_told_in_the_services_words_and_can_be_tried_again(page, draw, service, photograph_page):
    service.failure = (422, "This picture is damaged. Save it again, and retry.")
    draw(page, LINE)
    expect(page.get_by_text("This picture is damaged. Save it again, and retry.")).to_be_visible()
    photograph_page(page, "error")
    service.failure = None
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(page.locator("#note")).to_be_hidden()


def test_offline_keeps_the_drawing_and_comes_back_by_itself(open_page, draw, service, photograph_page):
    page = open_page()
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.context.set_offline(True)
    draw(page, [(0.2, 0.2), (0.8, 0.2)])
    expect(page.locator("#note")).to_contain_text("The gallery does not answer. Your drawing is kept.")
    expect(page.locator("#hits .hit")).to_have_count(40)
    photograph_page(page, "offline")
    page.context.set_offline(False)
    expect(page.locator("#note")).to_be_hidden()
    assert len(service.searches[-1]["strokes"]) == 2


def test_a_busy_gallery_is_asked_again_less_and_less_often(page, draw, service):
    service.failure = (503, "The gallery is being opened.")
    draw(page, LINE)
    note = page.locator("#note")
    expect(note).to_contain_text("The gallery is being opened. Your drawing is kept. Trying again in 2 seconds.")
    expect(note).to_contain_text("Trying again in 4 seconds.")
    service.failure = None
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#hits .hit")).to_have_count(40)


def test_filters_that_leave_nothing_can_be_lifted(page, draw, service):
    page.get_by_label("Folder").select_option("2025")
    page.get_by_label("Label").evaluate("field => field.add(new Option('unicorn'))")
    page.get_by_label("Label").select_option("unicorn")
    draw(page, LINE)
    expect(page.get_by_text("Nothing passes these filters.")).to_be_visible()
    page.get_by_role("button", name="Search all photos").click()
    expect(page.locator("#hits .hit")).to_have_count(40)


def test_a_photo_that_is_gone_is_explained(open_page, draw, service):
    service.missing_photos = {1}
    page = open_page()
    draw(page, LINE)
    page.locator("#hits button").first.click()
    expect(page.get_by_text("It may have been moved or deleted")).to_be_visible()
    page.get_by_role("button", name="Next hit").click()
    expect(page.get_by_text("It may have been moved or deleted")).to_be_hidden()


def test_the_token_in_the_address_opens_a_guarded_gallery(open_page, draw, service):
    service.token = "s3cret"
    page = open_page("#token=s3cret")
    draw(page, LINE)
    expect(page.locator("#hits img").first).to_have_js_property("naturalWidth", 160)
    expect(page).to_have_url(service.address)


def test_a_guarded_gallery_asks_for_its_token(open_page, draw, service, photograph_page):
    service.token = "s3cret"
    page = open_page()
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Open the gallery").click()
    expect(page.get_by_text("This token does not fit.")).to_be_visible()
    photograph_page(page, "guarded")
    page.get_by_label("Token").fill("s3cret")
    page.get_by_role("button", name="Open the gallery").click()
    expect(page.get_by_text("48 photos")).to_be_visible()


def test_about_shows_facts_timings_and_the_card_as_text(page, draw):
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.keyboard.press("i")
    about = page.get_by_role("dialog", name="About this gallery")
    expect(about).to_contain_text(re.compile("Photos.*48.*Bits in a code.*64.*Memory of the codes.*384 bytes"))
    expect(about).to_contain_text(re.compile("encode.*7.2 ms.*total.*9.8 ms"))
    about.get_by_text("Model card").click()
    expect(about.get_by_role("cell", name="the sketch | network")).to_be_visible()
    expect(about.get_by_text("<img src=x onerror=alert(1)> is text.")).to_be_visible()


def test_about_shows_a_code_that_a_phone_can_read(open_page, service, photograph_page):
    cv2 = pytest.importorskip("cv2", reason="codes are read back by OpenCV")
    address = "http://192.168.178.23:8765/#token=s3cret"
    modules = qr_code(address)
    service.addresses = [{"address": address, "qr": as_path(modules), "side": len(modules)}]
    page = open_page(color_scheme="dark")
    page.keyboard.press("i")
    code = page.get_by_role("img", name="QR code of the address")
    code.scroll_into_view_if_needed()
    photograph_page(page, "elsewhere")
    picture = np.array(Image.open(io.BytesIO(code.screenshot())).convert("RGB").resize((540, 540)))
    assert cv2.QRCodeDetector().detectAndDecode(picture)[0] == address
    assert "s3cret" not in page.get_by_role("dialog").inner_text()


def test_only_this_machine_sees_no_code(page, service):
    page.keyboard.press("i")
    expect(page.get_by_text("Map of codes")).to_be_visible()
    expect(page.get_by_text("On a phone")).to_be_hidden()


def test_the_page_can_be_installed(open_page, service):
    page = open_page()
    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    described = json.loads(manifest["data"])
    assert manifest["url"] == f"{service.address}static/manifest.webmanifest"
    for icon in described["icons"]:
        answer = page.request.get(f"{service.address}static/{icon['src']}")
        assert (answer.status, answer.headers["content-type"]) == (200, icon["type"])
        if icon["type"] == "image/png":
            side = Image.open(io.BytesIO(answer.body())).width
            assert icon["sizes"] == f"{side}x{side}"
    assert session.send("Page.getInstallabilityErrors")["installabilityErrors"] in (
        [],
        [{"errorId": "in-incognito", "errorArguments": []}],
    )


def test_a_gallery_without_a_map_shows_none(page, service):
    service.map = []
    page.keyboard.press("i")
    expect(page.get_by_text("Search once, and its stages show here.")).to_be_visible()
    expect(page.get_by_text("Map of codes")).to_be_hidden()


def test_a_dot_on_the_map_shows_its_photo(page, service, photograph_page):
    service.map = [{"id": id, "x": id % 7, "y": id % 5, "label": f"label {id}", "guess": None} for id in range(1, 36)]
    page.keyboard.press("i")
    expect(page.get_by_text("Map of codes")).to_be_visible()
    box = page.locator("#map-canvas").bounding_box()
    # Dots lie between edges of 10 pixels, and x and y both have their middle at id 17.
    page.locator("#map-canvas").hover(position={"x": box["width"] / 2 + 2, "y": box["height"] / 2 - 2})
    expect(page.get_by_text("label 17")).to_be_visible()
    photograph_page(page, "map")


def test_the_map_names_groups_by_what_the_model_takes_them_for(page, service, photograph_page):
    page.keyboard.press("i")
    expect(page.get_by_text("Map of codes")).to_be_visible()
    page.evaluate(KEEP_TEXTS)
    service.map = [
        {"id": id, "x": id % 2 + id / 100, "y": id / 50, "label": None, "guess": ["horse", "boat"][id % 2]}
        for id in range(1, 41)
    ]
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    page.wait_for_function("() => window.texts.includes('horse') && window.texts.includes('boat')")
    page.locator("#map").scroll_into_view_if_needed()
    photograph_page(page, "map-names")


def test_the_chosen_theme_is_kept(open_page):
    page = open_page()
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Light or dark").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
