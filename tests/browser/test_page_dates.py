"""When and where on the page: a slider of months, hits by date, and what is near an open photo."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect


def move(page, which, months):
    """Move an end of the slider by some months."""
    page.evaluate(
        """([which, months]) => {
            const field = document.getElementById(which);
            field.value = String(field.valueAsNumber + months);
            for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
        }""",
        [which, months],
    )


@pytest.fixture
def asked(open_page, service):
    """Open the page, and ask for photos of cats."""
    page = open_page()
    page.fill("#word", "cat")
    page.press("#word", "Enter")
    page.wait_for_selector("#hits button")
    return page


def test_months_are_chosen_and_photos_without_a_date_are_counted(asked, service):
    expect(asked.locator("#when-shown")).to_have_text("any time")
    move(asked, "when-first", 10)
    expect(asked.locator("#note")).to_contain_text("6 have no date and are left out.")
    assert service.searches[-1]["after"] == "2022-11"
    assert service.searches[-1]["before"] is None
    move(asked, "when-last", -100)  # pushes the other end
    expect(asked.locator("#when-shown")).to_have_text("Jan 2022")
    asked.get_by_role("button", name="Search all photos").click()
    expect(asked.locator("#when-shown")).to_have_text("any time")
    expect(asked.locator("#note")).to_be_hidden()


def test_hits_are_ordered_by_date_without_another_search(asked, service):
    searches = len(service.searches)
    asked.select_option("#when-order", "oldest")
    dates = asked.eval_on_selector_all("#hits button", "found => found.map((each) => each.title.split('\\n')[1])")
    known = [date for date in dates if date]
    years = [int(date.split(",")[0].split()[-1]) for date in known]
    assert years == sorted(years)
    assert dates[len(known) :] == [None] * (len(dates) - len(known))
    assert len(service.searches) == searches


def test_an_open_photo_tells_when_and_where_and_finds_what_is_near(asked, service):
    asked.locator("#hits button").first.click()
    facts = asked.locator("#viewer-facts")
    for fact in ("Taken", "Leica Q3", "48.137, 11.575"):
        expect(facts).to_contain_text(fact)
    asked.get_by_role("button", name="Near here").click()
    expect(asked.locator("#when-near")).to_contain_text("Within 20 km of 48.137, 11.575")
    expect(asked.locator("#note")).to_contain_text("have no place and are left out")
    assert service.searches[-1]["near"] == "48.137,11.575,20km"
    asked.locator("#when-near").click()
    expect(asked.locator("#when-near")).to_be_hidden()
