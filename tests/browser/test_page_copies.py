"""Copies of a photo are one hit with their number, which unfolds them."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

LINE = [(0.2, 0.5), (0.8, 0.5)]


@pytest.fixture
def found(page, draw, service):
    service.copies = {2: 1, 3: 1, 5: 4, 7: 999}  # the last one copies a photo that is not among the hits
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)  # copies take no photo's place
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
    expect(found.locator("#hits .hit")).to_have_count(42)
    assert titles(found)[:4] == [f"IMG_000{number}.jpg" for number in (1, 2, 3, 4)]
    expect(two).to_have_attribute("aria-expanded", "true")
    two.click()
    expect(found.locator("#hits .hit")).to_have_count(40)


def test_the_viewer_goes_through_what_is_shown(found):
    found.locator("#hits .hit").nth(1).click()
    expect(found.get_by_role("dialog", name="IMG_0004.jpg")).to_be_visible()
    found.keyboard.press("ArrowRight")
    expect(found.get_by_role("dialog", name="IMG_0006.jpg")).to_be_visible()


def test_the_next_answer_folds_copies_again(found, draw, service):
    found.locator("#hits .hit-copies").first.click()
    expect(found.locator("#hits .hit")).to_have_count(42)
    draw(found, LINE)
    expect(found.locator("#hits .hit")).to_have_count(40)


def test_a_hit_counts_the_copies_that_were_not_found_and_unfolds_them_beside_it(page, draw, service):
    service.copies = {3: 1, 30: 1, 101: 1, 102: 1}  # the last two are not among the hits
    service.counts = {1: 4, 2: 0}
    draw(page, LINE)
    button = page.locator("#hits .hit-copies")
    expect(button).to_have_text("+ 4 copies")
    button.click()
    expect(page.locator("#hits .hit")).to_have_count(44)
    assert titles(page)[:6] == [f"IMG_{number:04}.jpg" for number in (1, 3, 30, 101, 102, 2)]
    button.click()
    expect(page.locator("#hits .hit")).to_have_count(40)
    expect(button).to_have_text("+ 4 copies")
    button.click()
    expect(page.locator("#hits .hit")).to_have_count(44)
    assert [path for path in service.requests if path.endswith("/copies")] == ["/api/photos/1/copies"]


def test_copies_among_the_good_matches_leave_the_divider_where_it_is(page, draw, service):
    service.copies = {30: 1}
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(40)
    before = page.locator("#hits .divider + li .hit").get_attribute("title")
    page.locator("#hits .hit-copies").click()
    expect(page.locator("#hits .hit")).to_have_count(41)
    assert page.locator("#hits .divider + li .hit").get_attribute("title") == before


def test_copies_do_not_crowd_out_other_photos(page, draw, service):
    service.copies = dict.fromkeys(range(2, 45), 1)
    draw(page, LINE)
    expect(page.locator("#hits .hit")).to_have_count(5)
    assert titles(page) == [f"IMG_{number:04}.jpg" for number in (1, 45, 46, 47, 48)]
    assert [search["k"] for search in service.searches] == [40, 80]
