"""Other ways to ask: pictures, photos of the gallery, filters."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

LINE = [(0.2, 0.5), (0.8, 0.5)]

HAND_OVER_PICTURE = """async (how) => {
    const canvas = new OffscreenCanvas(8, 8);
    canvas.getContext("2d").fillRect(0, 0, 4, 4);
    const files = new DataTransfer();
    files.items.add(new File([await canvas.convertToBlob()], "screenshot.png", { type: "image/png" }));
    const options = { bubbles: true, cancelable: true, dataTransfer: files, clipboardData: files };
    const target = document.querySelector("main");
    target.dispatchEvent(how === "paste" ? new ClipboardEvent("paste", options) : new DragEvent(how, options));
}"""


def test_a_chosen_file_is_searched_as_photo_or_sketch(page, service, paint_photo, tmp_path, photograph_page):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Search by a picture").click()
    chooser.value.set_files(paint_photo(tmp_path / "beach.jpg", 1))
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(page.get_by_text("beach.jpg")).to_be_visible()
    asked = service.searches[-1]
    assert asked == {"picture": (tmp_path / "beach.jpg").stat().st_size, "kind": "auto", "k": "40"}
    expect(page.get_by_role("radio", name="Photo")).to_be_checked()

    with page.expect_response("**/api/search"):
        page.get_by_text("Sketch", exact=True).click()
    assert service.searches[-1]["kind"] == "sketch"
    expect(page.get_by_role("radio", name="Sketch")).to_be_checked()
    photograph_page(page, "picture")


def test_a_pasted_sketch_is_recognised_and_the_switch_shows_it(page, service):
    service.recognised = "sketch"
    page.evaluate(HAND_OVER_PICTURE, "paste")
    expect(page.get_by_role("radio", name="Sketch")).to_be_checked()
    with page.expect_response("**/api/search"):
        page.get_by_text("Photo", exact=True).click()
    assert service.searches[-1]["kind"] == "photo"


def test_a_picture_over_the_page_is_told_to_be_dropped(page, photograph_page):
    page.evaluate(HAND_OVER_PICTURE, "dragover")
    expect(page.get_by_text("Drop it to search by this picture")).to_be_visible()
    photograph_page(page, "dropping")
    page.evaluate(HAND_OVER_PICTURE, "drop")
    expect(page.get_by_text("Drop it to search by this picture")).to_be_hidden()


@pytest.mark.parametrize("how", ["drop", "paste"])
def test_a_picture_can_be_dropped_or_pasted_and_put_away(page, draw, service, eventually, how):
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.evaluate(HAND_OVER_PICTURE, how)
    eventually(page, lambda: service.searches[-1].get("picture"))
    expect(page.get_by_text("screenshot.png")).to_be_visible()

    page.keyboard.press("Escape")
    eventually(page, lambda: "strokes" in service.searches[-1])
    expect(page.get_by_text("screenshot.png")).to_be_hidden()


def test_more_like_this_asks_with_the_photo(page, draw, service):
    draw(page, LINE)
    page.locator("#hits button").nth(10).click()
    page.get_by_role("button", name="More like this").click()
    expect(page.get_by_text("More like IMG_0011.jpg")).to_be_visible()
    expect(page.locator("#hits .hit").first).to_contain_text("teapot")
    assert service.searches[-1] == {"k": "40", "similar_to": 11}
    page.get_by_role("button", name="Back to the drawing").click()
    expect(page.locator("#hits .hit").first).to_contain_text("cat")


def test_filters_narrow_the_search(page, draw, service):
    draw(page, LINE)
    page.get_by_label("Folder").select_option("2025")
    page.get_by_label("Label").select_option("duck")
    expect(page.locator("#hits .hit")).to_have_count(4)
    assert (service.searches[-1]["folder"], service.searches[-1]["label"]) == ("2025", "duck")


def test_the_folder_filter_reaches_subfolders_and_the_caption_counts_what_was_compared(page, draw, service):
    draw(page, LINE)
    expect(page.get_by_text("64 bits, compared with 48 photos in 9.8 ms")).to_be_visible()
    folder = page.get_by_label("Folder")
    folder.select_option("2024")
    expect(page.get_by_text("compared with 24 photos in 2024 in 9.8 ms")).to_be_visible()
    expect(folder.locator("option")).to_have_text(["All folders", "2024 (24)", "\u2003summer (24)", "2025 (24)"])
    folder.select_option("2024/summer")
    expect(page.get_by_text("compared with 24 photos in 2024/summer in 9.8 ms")).to_be_visible()
    expect(page.locator("#hits .hit")).to_have_count(24)
    assert service.searches[-1]["folder"] == "2024/summer"
    page.get_by_label("Label").select_option("duck")
    expect(page.get_by_text("compared with the photos of duck in 2024/summer in 9.8 ms")).to_be_visible()


def test_the_number_of_hits_can_be_chosen(page, draw, service):
    draw(page, LINE)
    page.get_by_label("Show").fill("20")
    expect(page.locator("#hits .hit")).to_have_count(20)
    assert service.searches[-1]["k"] == 20


def test_hits_that_stay_keep_their_focus_and_their_pictures(page, draw):
    draw(page, LINE)
    second = page.locator("#hits button").nth(1)
    second.focus()
    second.locator("img").evaluate("image => { image.isTheOneFromBefore = true; }")
    page.get_by_label("Show").evaluate("field => { field.value = 30; field.dispatchEvent(new Event('input')); }")
    expect(page.locator("#hits .hit")).to_have_count(30)
    expect(second).to_be_focused()
    expect(second.locator("img")).to_have_js_property("isTheOneFromBefore", True)


def test_changing_the_drawing_goes_back_to_it(page, draw, service):
    draw(page, LINE)
    page.locator("#hits button").first.click()
    page.get_by_role("button", name="More like this").click()
    expect(page.get_by_text("More like IMG_0001.jpg")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.get_by_text("More like IMG_0001.jpg")).to_be_hidden()
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()
