"""Copies of a photo are one hit with their number, which unfolds them."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

LINE = [(0.2, 0.5), (0.8, 0.5)]


@pytest.fixture
def found(page, draw, service):
    service.copies = {2: 1, 3: 1, 5: 4, 7: 999}  # the last one copies a photo that is not among the hits
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(37)
    return page


def titles(page):
    titles = page.locator("#hits .hit").evaluate_all("(cards) => cards.map((card) => card.title)")
    return [title.splitlines()[0].rpartition("/")[2] for title in titles]  # a date stands below the name


def test_copies_are_behind_their_photo_and_unfold(found):
    assert titles(found)[:4] == [f"IMG_000{number}.jpg" for number in (1, 4, 6, 7)]
    two, one = found.locator("#hits .hit-copies").all()
    expect(two).to_have_text("+ 2 copies")
    expect(one).to_have_text("+ 1 copy")
    two.click()
    expect(found.locator("#hits .hit")).to_have_count(39)
    assert titles(found)[:4] == [f"IMG_000{number}.jpg" for number in (1, 2, 3, 4)]
    expect(two).to_have_attribute("aria-expanded", "true")
    two.click()
    expect(found.locator("#hits .hit")).to_have_count(37)


def test_the_viewer_goes_through_what_is_shown(found):
    found.locator("#hits .hit").nth(1).click()
    expect(found.get_by_role("dialog", name="IMG_0004.jpg")).to_be_visible()
    found.keyboard.press("ArrowRight")
    expect(found.get_by_role("dialog", name="IMG_0006.jpg")).to_be_visible()


def test_the_next_answer_folds_copies_again(found, draw, service):
    found.locator("#hits .hit-copies").first.click()
    expect(found.locator("#hits .hit")).to_have_count(39)
    draw(found, LINE)
    expect(found.locator("#hits .hit")).to_have_count(37)
