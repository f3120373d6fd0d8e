"""What thirty drawings find on the page: drawn with the mouse in Chromium, one after the other.

    python benchmarks/page.py --gallery demo.gallery --gallery wide.gallery --model MODEL --out results/page.json

The drawings are the twenty of the package and the ten of ``more_drawings.toml``. For each gallery the record says which
photos come first, and whether the page is sure of them. A hit is right if its label, the folder it lies in or the name
of its file contains the drawing's name, or a word that ``--synonym`` gives for it.
"""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from sketchhash.datasets import example_drawings
from sketchhash.imaging import Drawing
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from sketchhash.server import Access, create_app, create_server, listen, open_service
from timing import RecordFile, ShownRecord, finish, read_record, run, say

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
MORE = Path(__file__).with_name("more_drawings.toml")
SHEET_SIDE = 512
_SHOWN = 5
_PATIENCE_MS = 120_000
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@dataclass(frozen=True)
class Finding:
    """What a drawing found: the names of the first hits, which of them are right, and what the page says of them."""

    gallery: str
    drawing: str
    verdict: str
    hits: Sequence[str]
    right: Sequence[bool]


@dataclass(frozen=True)
class Findings:
    """All drawings in all galleries, with the number of photos in each gallery."""

    model: str
    photos: Mapping[str, int]
    found: Sequence[Finding]

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        return cls(record["model"], record["photos"], [Finding(**each) for each in record["found"]])


def thirty_drawings() -> dict[str, Drawing]:
    """Return the drawings of the package and ten more, by name."""
    more = tomllib.loads(MORE.read_text(encoding="utf-8"))
    return {**example_drawings(), **{name: Drawing.from_json(strokes) for name, strokes in more.items()}}


def is_right(drawing: str, hit: str, synonyms: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a hit's name contains the drawing's, as whole words, or one of its synonyms.

    >>> is_right("hot air balloon", "transport/hot-air_balloon.png", {}), is_right("car", "carrot.png", {})
    (True, False)
    """
    said = f" {' '.join(re.findall('[a-z]+', hit.lower()))} "
    return any(f" {word} " in said or f" {word}s " in said for word in (drawing, *synonyms.get(drawing, ())))


def page(findings: Findings) -> str:
    """Return a table a gallery, and how many drawings found what they show."""
    parts = []
    for gallery, photos in findings.photos.items():
        found = [each for each in findings.found if each.gallery == gallery]
        there = [each for each in found if any(each.right)]
        first = sum(each.right[0] for each in found)
        rows = [
            (each.drawing, each.verdict, ", ".join(_marked(each)))
            for each in sorted(found, key=lambda each: each.drawing)
        ]
        parts += [
            f"{gallery}, {photos:,} photos: {len(there)} of {len(found)} drawings find a right one among the first "
            f"{_SHOWN}, {first} of them in the first place.",
            markdown_table(("drawing", "the page is", "first hits, right ones in bold"), rows),
        ]
    return "\n\n".join(parts)


def _marked(finding: Finding) -> Iterator[str]:
    for hit, right in zip(finding.hits, finding.right, strict=True):
        yield f"**{hit}**" if right else hit


@contextmanager
def serving(gallery: Path, model: Path) -> Iterator[str]:
    """Run the service until the block ends, and yield its address."""
    with open_service(gallery, model) as service, listen("127.0.0.1", 0) as listener:
        server = create_server(create_app(service, Access()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join(20)


def draw(page: Page, drawing: Drawing) -> None:
    """Draw with the mouse on the page's sheet."""
    box = page.locator("#sheet").bounding_box()
    assert box is not None
    scale = box["width"] / SHEET_SIDE
    for stroke in drawing.to_json():
        for number, (x, y) in enumerate(stroke):
            page.mouse.move(box["x"] + x * scale, box["y"] + y * scale)
            if number == 0:
                page.mouse.down()
        page.mouse.up()


def find(
    gallery: Path, model: Path, synonyms: Mapping[str, Sequence[str]], pictures: Path | None
) -> tuple[int, list[Finding]]:
    """Draw everything on the page of one gallery, and return the number of photos and what was found."""
    from playwright.sync_api import sync_playwright

    found, photos = [], 0
    with serving(gallery, model) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        opened = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        opened.set_default_timeout(_PATIENCE_MS)
        answers: list[dict[str, Any]] = []
        opened.on("response", lambda answer: answers.append(answer.json()) if _is_search(answer.url) else None)
        opened.goto(address)
        for name, drawing in thirty_drawings().items():
            opened.keyboard.press("Delete")
            opened.wait_for_function("() => !document.querySelector('#hits li')")
            answers.clear()
            draw(opened, drawing)
            opened.locator("#hits li").first.wait_for()
            opened.wait_for_load_state("networkidle")
            answer = answers[-1]
            photos = answer["photos"]
            hits = [_name(hit) for hit in answer["hits"][:_SHOWN]]
            right = [is_right(name, hit, synonyms) for hit in hits]
            found.append(Finding(gallery.stem, name, answer["verdict"], hits, right))
            say(f"{gallery.stem}, {name}, {answer['verdict']}: {', '.join(_marked(found[-1]))}")
            if pictures is not None:
                opened.screenshot(path=pictures / f"{gallery.stem}-{name}.png")
        browser.close()
    return photos, found


def _is_search(address: str) -> bool:
    return address.endswith("/api/search")


def _name(hit: Mapping[str, Any]) -> str:
    """Name a photo by its folder and file, without ending."""
    return f"{Path(hit['folder']).name}/{Path(hit['name']).stem}"


def main(
    gallery: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="A gallery; repeat for several.")] = None,
    model: Annotated[Path | None, typer.Option(metavar="FOLDER", help="The galleries' model.")] = None,
    synonym: Annotated[
        list[str] | None, typer.Option(metavar="DRAWING=WORD", help="Another word for a drawing; repeat for several.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep a picture of the page for each drawing here.")
    ] = None,
    out: RecordFile = None,
    show: ShownRecord = None,
) -> None:
    """Draw thirty things on the page, and say what is found."""
    if show is not None:
        typer.echo(page(read_record(show, Findings.from_record)))
        return
    words: dict[str, list[str]] = {}
    for each in synonym or ():
        drawing, _, word = each.partition("=")
        words.setdefault(drawing, []).append(word)
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
    folder = model or default_model_folder()
    photos: dict[str, int] = {}
    found: list[Finding] = []
    for each_gallery in gallery or ():
        photos[each_gallery.stem], some = find(each_gallery, folder, words, pictures)
        found += some
    findings = Findings(folder.name, photos, found)
    finish(page(findings), asdict(findings), out)


if __name__ == "__main__":
    run(main)
