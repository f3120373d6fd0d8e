"""Drawing on the sheet: by mouse, finger and keyboard, back and forth."""

import time

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

NOTHING_ELSE = dict.fromkeys(("folder", "label", "after", "before", "near"))
LINE = [(0.2, 0.5), (0.5, 0.5), (0.8, 0.5)]
OTHER_LINE = [(0.2, 0.2), (0.8, 0.2)]

KEEP_MOVING = """async () => {
    const sheet = document.querySelector("#sheet");
    const started = performance.now();
    for (let step = 1; step <= 80; step++) {
        const place = { clientX: 60 + 3 * step, clientY: 120, isPrimary: true };
        sheet.dispatchEvent(new PointerEvent("pointermove", place));
        await new Promise((moveOn) => setTimeout(moveOn, 10));
    }
    return performance.now() - started;
}"""

# While a line is drawn, there is a search when the hand rests for so many seconds: on a busy machine at many points.
SHORTEST_REST = 0.12


@pytest.fixture
def patient_page(open_page):
    """Open the page with its clock stopped: however long drawing takes here, no timer runs out."""
    page = open_page()
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    return page


def test_drawing_brings_hits(page, draw, service, eventually):
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(page.get_by_role("heading", name="Good matches")).to_be_visible()
    expect(page.locator("#hits .hit").first).to_contain_text("cat")
    expect(page.get_by_text("64 bits, compared with 48 photos")).to_be_visible()
    strokes = [[[102.4, 256], [256, 256], [409.6, 256]]]
    eventually(page, lambda: service.searches[-1] == {"strokes": strokes, "k": 40, **NOTHING_ELSE})


def test_hits_come_while_the_pen_is_still_down(page, service):
    box = page.locator("#sheet").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 150)
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.mouse.up()


def test_an_older_answer_never_replaces_a_newer_one(page, draw, service, eventually):
    service.delay, service.verdict = 0.6, "unknown"
    draw(page, LINE)
    eventually(page, lambda: service.searches)
    service.delay, service.verdict = 0.0, "sure"
    draw(page, OTHER_LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.wait_for_timeout(700)
    expect(page.get_by_role("heading", name="Good matches")).to_be_visible()


def test_a_long_line_is_searched_now_and_then_not_at_every_point(open_page):
    page = open_page()
    asked = []
    page.on("request", lambda request: request.url.endswith("/api/search") and asked.append(request))
    box = page.locator("#sheet").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    seconds = page.evaluate(KEEP_MOVING) / 1000
    assert 1 <= len(asked) <= 1 + seconds / SHORTEST_REST
    page.mouse.up()


def test_lifting_the_pen_searches_at_once(patient_page, draw, service, eventually):
    draw(patient_page, LINE)
    eventually(patient_page, lambda: len(service.searches) == 1)  # while drawing on, a timer waits for the hand to rest


def test_one_search_is_under_way_and_the_newest_drawing_is_next(patient_page, draw, service, eventually):
    page = patient_page
    service.may_answer.clear()
    draw(page, LINE)
    eventually(page, lambda: service.searches)
    for height in (0.1, 0.2, 0.3):
        draw(page, [(0.2, height), (0.8, height)])
    service.may_answer.set()
    eventually(page, lambda: len(service.searches[-1]["strokes"]) == 4)
    assert len(service.searches) == 2


def test_a_search_that_takes_too_long_is_given_up_for_a_newer_one(page, draw, service, eventually):
    service.delay = 8.0
    draw(page, LINE)
    eventually(page, lambda: service.searches)
    service.delay = 0.0
    draw(page, OTHER_LINE)
    expect(page.locator("#hits .hit")).to_have_count(40, timeout=6000)


def test_a_drawing_takes_few_requests(open_page, draw, sketch, service):
    page = open_page(viewport={"width": 1280, "height": 800})
    cat, started = sketch("cat"), time.monotonic()
    draw(page, *cat)
    seconds = time.monotonic() - started
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.wait_for_load_state("networkidle")
    thumbnails = [path for path in service.requests if path.endswith("/thumbnail")]
    assert len(service.searches) <= len(cat) + seconds / SHORTEST_REST
    # Those in the window, and a row that is near to it.
    assert len(thumbnails) == len(set(thumbnails)) < 20
    page.locator("#hits .hit").last.scroll_into_view_if_needed()
    expect(page.locator("#hits img").last).to_have_js_property("naturalWidth", 160)


def test_thumbnails_near_to_the_window_are_fetched_once_the_hits_stay(open_page, draw, service, eventually):
    page = open_page(viewport={"width": 1280, "height": 800})
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    in_view = "hits => hits.filter((hit) => hit.getBoundingClientRect().top < innerHeight).length"
    seen = page.locator("#hits .hit").evaluate_all(in_view)
    eventually(page, lambda: sum(path.endswith("/thumbnail") for path in service.requests) > seen)


def test_the_drawing_survives_a_reload(open_page, draw, service, eventually):
    page = open_page()
    draw(page, LINE, OTHER_LINE)
    eventually(page, lambda: service.searches and [*map(len, service.searches[-1]["strokes"])] == [3, 2])
    drawn, asked = service.searches[-1]["strokes"], len(service.searches)
    page.reload()
    expect(page.locator("#hits .hit")).to_have_count(40)
    assert service.searches[-1]["strokes"] == drawn and len(service.searches) == asked + 1
    page.keyboard.press("Delete")
    page.reload()
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()


def test_clearing_leaves_the_pen_in_the_hand(page, draw, service):
    draw(page, LINE)
    page.get_by_role("button", name="Eraser").click()
    page.get_by_role("button", name="Clear").click()
    draw(page, OTHER_LINE)
    expect(page.get_by_role("button", name="Pen")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#hits .hit")).to_have_count(40)


def test_shortcuts_work_after_the_slider_was_used(page, draw):
    draw(page, LINE)
    page.get_by_label("Show").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#hits .hit")).to_have_count(30)
    page.keyboard.press("e")
    expect(page.get_by_role("button", name="Eraser")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Control+z")
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()


def test_undo_and_redo_step_through_strokes(page, draw, service, eventually):
    draw(page, LINE, OTHER_LINE)
    page.get_by_role("button", name="Undo").click()
    eventually(page, lambda: service.searches and len(service.searches[-1]["strokes"]) == 1)
    page.keyboard.press("Control+z")
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.keyboard.press("Control+Shift+z")
    page.get_by_role("button", name="Redo").click()
    eventually(page, lambda: len(service.searches[-1]["strokes"]) == 2)
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()


def test_the_eraser_takes_a_part_out_of_a_stroke_in_one_step(page, draw, service, eventually):
    draw(page, LINE)
    page.keyboard.press("e")
    draw(page, [(0.35, 0.4), (0.35, 0.6)])
    eventually(page, lambda: service.searches and len(service.searches[-1]["strokes"]) == 2)
    left, right = service.searches[-1]["strokes"]
    assert left[0] == [102.4, 256] and left[-1][0] == pytest.approx(512 * 0.35 - 512 / 36, abs=1)
    assert right[0][0] == pytest.approx(512 * 0.35 + 512 / 36, abs=1) and right[1:] == [[256, 256], [409.6, 256]]
    page.get_by_role("button", name="Undo").click()
    eventually(page, lambda: len(service.searches[-1]["strokes"]) == 1)


def test_the_eraser_next_to_a_stroke_changes_nothing(page, draw):
    draw(page, LINE)
    page.get_by_role("button", name="Eraser").click()
    draw(page, [(0.2, 0.8), (0.8, 0.8)])
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()


def test_clearing_can_be_undone(page, draw, service):
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.keyboard.press("Delete")
    expect(page.locator("#hits .hit")).to_have_count(0)
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.locator("#hits .hit")).to_have_count(40)


def test_a_finger_draws_and_does_not_scroll(open_page, service, eventually):
    page = open_page(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    box = page.locator("#sheet").bounding_box()
    touch = page.context.new_cdp_session(page)
    for kind, share in [("touchStart", 0.8), ("touchMove", 0.5), ("touchMove", 0.2), ("touchEnd", None)]:
        places = [] if share is None else [{"x": box["x"] + 100, "y": box["y"] + share * box["height"]}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
    eventually(page, lambda: service.searches and len(service.searches[-1]["strokes"][0]) == 3)
    assert len(service.searches[-1]["strokes"]) == 1
    assert page.evaluate("scrollY") == 0


def test_everything_works_from_the_keyboard(page, service, eventually, photograph_page):
    page.keyboard.press("d")
    for key in ["Space", "ArrowRight", "ArrowDown", "Shift+ArrowLeft", "Space", "ArrowUp"]:
        page.keyboard.press(key)
    expect(page.locator("#hits .hit")).to_have_count(40)
    drawn = [[[256, 256], [272, 256], [272, 272], [268, 272]]]
    eventually(page, lambda: service.searches[-1]["strokes"] == drawn)

    page.keyboard.press("h")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="IMG_0002.jpg")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("dialog", name="IMG_0003.jpg")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#hits button").nth(2)).to_be_focused()

    page.keyboard.press("?")
    expect(page.get_by_text("Clear the sheet")).to_be_visible()
    photograph_page(page, "shortcuts")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Clear the sheet")).to_be_hidden()
