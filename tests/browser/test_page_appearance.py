"""How the page looks: light and dark, from phone to desktop."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright").expect

SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 360, "height": 740}}
LINE = [(0.2, 0.5), (0.8, 0.5)]

INK_IN_THE_MIDDLE_IS_LIGHT = """(isLight) => {
    const sheet = document.querySelector("#sheet");
    const [red, green, blue, cover] = sheet.getContext("2d").getImageData(sheet.width / 2, sheet.height / 2, 1, 1).data;
    return cover === 255 && (isLight ? Math.min(red, green, blue) > 200 : Math.max(red, green, blue) < 60);
}"""


@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_and_shows_a_hit_beside_the_drawing(open_page, draw, sketch, photograph_page, size):
    def photograph_by_day_and_night(name):
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            photograph_page(page, f"{size}-{name}-{scheme}")

    page = open_page(viewport=SIZES[size])
    photograph_page(page, f"{size}-empty")
    draw(page, *sketch("cat"))
    expect(page.locator("#hits .hit")).to_have_count(40)
    photograph_by_day_and_night("hits")

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    first = page.locator("#hits .hit-picture").first.bounding_box()
    assert first["y"] + first["height"] <= SIZES[size]["height"]

    page.locator("#hits button").first.click()
    expect(page.get_by_text("2024/summer/IMG_0001.jpg")).to_be_visible()
    photograph_by_day_and_night("viewer")
    page.keyboard.press("Escape")

    page.get_by_role("button", name="About this gallery").click()
    expect(page.get_by_text("Memory of the codes")).to_be_visible()
    photograph_by_day_and_night("about")


def test_ink_is_dark_by_day_and_light_by_night(open_page, draw):
    page = open_page(color_scheme="light")
    draw(page, LINE)
    page.wait_for_function(INK_IN_THE_MIDDLE_IS_LIGHT, arg=False)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(INK_IN_THE_MIDDLE_IS_LIGHT, arg=True)
