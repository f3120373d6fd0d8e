"""Take a picture of the page as `sketchhash demo` shows it: one of the built-in drawings, and what it finds.

    python tests/browser/photograph_demo.py --drawing apple --out artefacts/page.png

What follows ``--`` is for the demo: ``-- --model my-model``.
"""

import argparse
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from sketchhash.datasets import example_drawings

CHROMIUM = Path("/usr/bin/chromium")
SHEET_SIDE = 512
PATIENCE_MS = 180_000
ALL_IMAGES_ARE_THERE = """
() => document.querySelector("#hits img") && [...document.images].every(
    (image) => image.complete || image.getBoundingClientRect().top > innerHeight)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawing", default="apple", choices=list(example_drawings()))
    parser.add_argument("--out", type=Path, default=Path("artefacts/page.png"))
    parser.add_argument("--scheme", default="light", choices=["light", "dark"])
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=800)
    parser.add_argument("demo", nargs="*", metavar="OPTION", help="options of the demo, after --")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with running_demo(options.demo) as address:
        photograph(address, options)
    sys.stdout.write(f"{options.out}\n")


@contextmanager
def running_demo(options):
    command = [sys.executable, "-m", "sketchhash", "demo", "--no-open", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        if not address:
            sys.exit("The demo did not start; what it said is above.")
        yield address
    finally:
        process.terminate()
        process.wait(30)


def photograph(address, options, rehearsals=0):
    """Draw, and take a picture of what is found; a browser that searches itself is quicker after some rehearsals."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        size = {"width": options.width, "height": options.height}
        page = browser.new_page(viewport=size, color_scheme=options.scheme, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        expect(page.locator("#gallery-size")).not_to_be_empty()
        for _ in range(rehearsals):
            draw(page, example_drawings()[options.drawing])
            expect(page.locator("#hits li").first).to_be_visible()
            page.keyboard.press("Delete")
            expect(page.locator("#hits li")).to_have_count(0)
        draw(page, example_drawings()[options.drawing])
        # The last answer is to the whole drawing: once no search is under way, what is shown is what was drawn.
        expect(page.locator("#hits li").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.wait_for_function(ALL_IMAGES_ARE_THERE)
        page.screenshot(path=options.out)
        browser.close()


def draw(page, drawing):
    box = page.locator("#sheet").bounding_box()
    scale = box["width"] / SHEET_SIDE
    for stroke in drawing.to_json():
        for number, (x, y) in enumerate(stroke):
            page.mouse.move(box["x"] + x * scale, box["y"] + y * scale)
            if number == 0:
                page.mouse.down()
        page.mouse.up()


if __name__ == "__main__":
    main()
