"""One hit at full size: what is told about it, what can be done with it, and the way back."""

import re

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

LINE = [(0.2, 0.5), (0.8, 0.5)]


@pytest.fixture
def viewer(open_page, draw, service):
    """Open the first hit, in a browser of its own."""
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    draw(page, LINE)
    page.locator("#hits button").first.click()
    viewer = page.get_by_role("dialog", name="IMG_0001.jpg")
    expect(viewer).to_be_visible()
    return viewer


def test_back_closes_the_viewer_and_stays_on_the_page(viewer, service):
    page = viewer.page
    page.go_back()
    expect(viewer).to_be_hidden()
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(page.locator("#hits button").first).to_be_focused()


def test_closing_in_another_way_leaves_no_step_behind(viewer, service):
    page = viewer.page
    page.keyboard.press("Escape")
    expect(viewer).to_be_hidden()
    page.wait_for_function("() => history.state === null")
    page.keyboard.press("i")
    expect(page.get_by_role("dialog", name="About this gallery")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog", name="About this gallery")).to_be_hidden()
    expect(page).to_have_url(service.address)


def test_a_dialog_that_follows_another_at_once_stays_open(viewer):
    page = viewer.page
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    about = page.get_by_role("dialog", name="About this gallery")
    page.wait_for_function("() => history.state?.dialog === 'about'")
    expect(about).to_be_visible()
    page.go_back()
    expect(about).to_be_hidden()


def test_a_dialog_that_is_opened_again_at_once_stays_open(page, service):
    page.keyboard.press("i")
    about = page.get_by_role("dialog", name="About this gallery")
    expect(about.get_by_text("Map of codes")).to_be_visible()
    page.evaluate(
        """() => {
            document.querySelector("#about").close();
            document.querySelector("#about-open").click();
        }"""
    )
    page.wait_for_timeout(300)
    expect(about).to_be_visible()
    page.go_back()
    expect(about).to_be_hidden()
    expect(page).to_have_url(service.address)


def test_a_reload_with_an_open_viewer_takes_its_step_back(viewer):
    page = viewer.page
    page.reload()
    expect(page.locator("#hits .hit")).to_have_count(40)
    page.wait_for_function("() => history.state === null")


def test_date_folder_and_path_are_told_and_the_path_is_copied(viewer):
    expect(viewer).to_contain_text(
        re.compile("Taken.*14 Jul 2024, 16:05.*Folder.*2024/summer.*Path.*2024/summer/IMG_0001.jpg")
    )
    assert "%" not in viewer.inner_text()
    viewer.get_by_role("button", name="Copy path").click()
    expect(viewer.get_by_role("button", name="Copied")).to_be_visible()
    assert viewer.page.evaluate("navigator.clipboard.readText()") == "2024/summer/IMG_0001.jpg"


def test_the_path_is_copied_where_the_browser_lends_no_clipboard(viewer):
    page = viewer.page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate(
        "addEventListener('copy', () => { window.copied = getSelection().toString() || document.activeElement.value; })"
    )
    viewer.get_by_role("button", name="Copy path").click()
    expect(viewer.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("window.copied") == "2024/summer/IMG_0001.jpg"


def test_the_original_opens_in_a_tab_of_its_own(viewer, service):
    with viewer.page.context.expect_page() as opened:
        viewer.get_by_role("link", name="Open original").click()
    expect(opened.value).to_have_url(f"{service.address}api/photos/1?v=e1")


def test_a_server_that_is_away_is_not_a_photo_that_is_gone(viewer, photograph_page):
    page = viewer.page
    page.context.set_offline(True)
    viewer.get_by_role("button", name="Next hit").click()
    away = page.get_by_role("dialog", name="IMG_0002.jpg")
    expect(away.get_by_text("The server is away, so this photo cannot be shown.")).to_be_visible()
    expect(away.get_by_text("moved or deleted")).to_be_hidden()
    photograph_page(page, "away")
    page.context.set_offline(False)
    away.get_by_role("button", name="Try again").or_(away.get_by_role("img", name="cat: IMG_0002.jpg")).first.click()
    expect(away.get_by_text("The server is away")).to_be_hidden()
    expect(page.locator("#viewer-picture")).to_have_js_property("naturalWidth", 160)
