"""The page names what it sees; chips, words and lists search for a kind of thing; examples draw themselves."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

LINE = [(0.2, 0.5), (0.8, 0.5)]


def chips(page):
    return page.get_by_role("list", name="What it may be").get_by_role("button")


def test_guesses_are_chips_and_the_likelier_ones_are_stronger(page, draw):
    draw(page, LINE)
    expect(chips(page)).to_have_text(["cat", "duck?", "teapot?"])
    weights = chips(page).evaluate_all("chips => chips.map((chip) => Number(getComputedStyle(chip).fontWeight))")
    assert weights == sorted(weights, reverse=True) and weights[0] > weights[-1]


def test_a_chip_searches_for_its_kind_and_a_second_tap_goes_back(page, draw, service, photograph_page):
    draw(page, LINE)
    chips(page).nth(1).click()
    expect(page.get_by_role("heading", name="Photos of: duck")).to_be_visible()
    expect(page.locator("#hits .hit").first).to_contain_text("duck")
    nothing_else = dict.fromkeys(("folder", "label", "after", "before", "near"))
    assert service.searches[-1] == {"category": "duck", "k": 40, **nothing_else}
    expect(chips(page)).to_have_text(["cat", "duck?", "teapot?"])
    expect(chips(page).nth(1)).to_have_attribute("aria-pressed", "true")
    photograph_page(page, "chip")
    chips(page).nth(1).click()
    expect(page.locator("#hits .hit").first).to_contain_text("cat")
    assert "strokes" in service.searches[-1]
    expect(chips(page).nth(1)).to_have_attribute("aria-pressed", "false")


def test_a_chip_promises_no_photos_that_are_not_there(page, draw, service):
    draw(page, LINE)
    expect(page.get_by_role("heading", name="Good matches")).to_be_visible()
    service.verdict = "unknown"
    chips(page).nth(1).click()
    expect(page.get_by_role("heading", name="I see no photo of: duck; nearest photos:")).to_be_visible()
    service.verdict = "unsure"
    chips(page).nth(2).click()
    expect(page.get_by_role("heading", name="Not sure that these show: teapot")).to_be_visible()


def test_drawing_on_leaves_the_chosen_kind(page, draw, service, eventually):
    draw(page, LINE)
    chips(page).nth(1).click()
    expect(page.get_by_role("heading", name="Photos of: duck")).to_be_visible()
    draw(page, [(0.2, 0.2), (0.8, 0.2)])
    expect(page.get_by_role("heading", name="Good matches")).to_be_visible()
    eventually(page, lambda: len(service.searches[-1].get("strokes", [])) == 2)


def test_a_word_searches_for_what_it_means(page, service):
    page.keyboard.press("w")
    page.keyboard.type("kitten")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Photos of: cat")).to_be_visible()
    expect(chips(page)).to_have_text(["cat", "duck"])
    chips(page).nth(0).click()
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()
    expect(page.get_by_label("Search for a word")).to_have_value("")


def test_a_word_that_is_not_known_is_told_and_leads_to_what_is(page, service):
    page.get_by_label("Search for a word").fill("quark")
    page.keyboard.press("Enter")
    expect(page.get_by_text("I don't know “quark”.")).to_be_visible()
    page.get_by_role("button", name="What I know").click()
    expect(page.get_by_role("dialog", name="About this gallery")).to_be_visible()
    assert service.searches == []


def test_an_example_draws_itself_and_can_be_undone(page, service):
    examples = page.get_by_role("list", name="Examples to try").get_by_role("button")
    expect(examples).to_have_text(["cat", "teapot", "house", "duck", "butterfly", "sailboat"])
    examples.nth(2).click()
    expect(page.locator("#hits .hit")).to_have_count(40)
    assert service.searches[-1]["strokes"] == service.examples[2]["strokes"]
    page.keyboard.press("Control+z")
    expect(page.get_by_text("Draw what you are looking for.")).to_be_visible()


def test_the_inviting_picture_is_one_of_the_examples(open_page, service):
    page = open_page()
    expect(page.locator("#examples button")).to_have_count(6)
    expect(page.locator("#invitation-drawing path")).to_have_count(len(service.examples[0]["strokes"]))
    service.examples = []
    page.reload()
    expect(page.get_by_text("What I know: 6 kinds of things")).to_be_visible()
    expect(page.locator("#examples")).to_be_hidden()
    expect(page.locator("#invitation-drawing path")).to_have_count(1)


def test_what_it_knows_is_a_list_to_search_and_to_choose_from(page, service, photograph_page):
    page.get_by_text("What I know: 6 kinds of things").click()
    known = page.locator("#known-list")
    expect(known.get_by_role("button")).to_have_text(["butterfly", "cat", "duck", "house", "sailboat", "teapot"])
    known.get_by_label("Find in what I know").fill("boat")
    expect(known.get_by_role("button")).to_have_text(["sailboat"])
    photograph_page(page, "known")
    known.get_by_label("Find in what I know").fill("quark")
    expect(known.get_by_text("None of them.")).to_be_visible()
    known.get_by_label("Find in what I know").fill("")
    known.get_by_role("button", name="sailboat").click()
    expect(page.get_by_role("heading", name="Photos of: sailboat")).to_be_visible()


def test_about_begins_with_what_the_model_knows(page, service):
    page.keyboard.press("i")
    about = page.get_by_role("dialog", name="About this gallery")
    expect(about.locator("h3").first).to_have_text("What it knows: 6 kinds of things")
    about.get_by_role("button", name="duck").click()
    expect(about).to_be_hidden()
    expect(page.get_by_role("heading", name="Photos of: duck")).to_be_visible()
