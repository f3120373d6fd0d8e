"""How often a drawing finds its icon within ten places, and how long a pack of icons takes to index.

    python benchmarks/drawings.py tabler=FOLDER lucide=FOLDER openmoji=FOLDER --names openmoji.json --sketches DIR \
        --out results/drawings.json

Each pack is a folder of SVG files, or a file that `sketchhash index` takes, such as the npm packages ``@tabler/icons``
(``icons/outline``), ``lucide-static`` (``icons``), ``@phosphor-icons/core`` (``assets/regular``) and ``openmoji``
(``black/svg``, with ``data/openmoji.json`` for ``--names``). The queries are the twenty drawings of the package, and
sketches in folders named after TU-Berlin's categories. An icon is right if its name begins with that of the category,
or with another name that icon packs have for the same thing (`OTHER_NAMES`); what no icon of a pack shows is not asked
there. Names that mean something else in most packs are left out (`HOMONYMS`).

``--most`` keeps only so many icons of each pack: all that show a category, and others at random.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Annotated

import numpy as np
import typer

from sketchhash.api import load_model
from sketchhash.datasets import example_drawings
from sketchhash.engines import create_gallery
from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery import GalleryModel, Searcher, index
from sketchhash.gallery.examining import read_either_kind
from sketchhash.imaging import Drawing, thumbnail
from sketchhash.imaging import run as decode_here
from sketchhash.imaging.drawings import DrawingPicture
from sketchhash.model import Model
from sketchhash.results import markdown_table
from sketchhash.tokens.shape import describe_ink
from timing import RecordFile, finish, run, say

PLACES = 10
_SKETCHES = 4  # of each category
_TIMED = 200  # icons
_PREFIXES = ("device", "building")  # kinds of things, by which Tabler begins names

OTHER_NAMES = {
    "airplane": "plane aeroplane",
    "armchair": "sofa",
    "bear (animal)": "bear",
    "beer-mug": "beer",
    "bicycle": "bike",
    "bookshelf": "books library",
    "bread": "loaf baguette",
    "car (sedan)": "car automobile",
    "cell phone": "mobile smartphone mobile_phone phone",
    "cigarette": "smoking",
    "computer monitor": "monitor desktop",
    "computer-mouse": "mouse",
    "couch": "sofa",
    "cup": "mug teacup",
    "diamond": "gem",
    "donut": "doughnut",
    "envelope": "mail",
    "eyeglasses": "glasses eyeglass sunglasses",
    "floor lamp": "lamp",
    "flower with stem": "flower tulip rose sunflower",
    "flying bird": "bird dove",
    "flying saucer": "ufo",
    "foot": "footprint",
    "hamburger": "burger",
    "head-phones": "headphone headset",
    "hot air balloon": "air_balloon",
    "hot-dog": "hotdog",
    "house": "home",
    "human-skeleton": "skeleton",
    "ice-cream-cone": "ice_cream icecream",
    "lightbulb": "bulb light_bulb",
    "loudspeaker": "speaker",
    "megaphone": "speakerphone loudspeaker",
    "motorbike": "motorcycle moped scooter",
    "mug": "cup coffee teacup",
    "paper clip": "paperclip",
    "pen": "pencil ballpen",
    "person walking": "walk walking",
    "pickup truck": "truck",
    "pipe (for smoking)": "smoking_pipe",
    "potted plant": "plant potted",
    "power outlet": "outlet",
    "present": "gift wrapped_gift",
    "purse": "handbag",
    "race car": "racing_car",
    "revolver": "pistol gun",
    "sailboat": "boat sail",
    "satellite dish": "satellite_antenna",
    "sea turtle": "turtle",
    "ship": "cargo_ship passenger_ship",
    "shoe": "sneaker",
    "skyscraper": "building",
    "space shuttle": "rocket shuttle",
    "speed-boat": "speedboat",
    "standing bird": "bird",
    "streetlight": "street_lamp lamp_post",
    "suitcase": "luggage briefcase",
    "suv": "jeep",
    "syringe": "vaccine",
    "t-shirt": "shirt tshirt",
    "tablelamp": "lamp",
    "teacup": "cup mug",
    "teddy-bear": "teddy",
    "telephone": "phone",
    "tent": "camping",
    "tree": "evergreen palm",
    "trousers": "pants jeans",
    "tv": "television",
    "van": "caravan",
    "wine-bottle": "bottle_wine bottle",
    "wineglass": "wine glass_full",
    "wrist-watch": "watch",
}
HOMONYMS = {
    *("arm", "crane", "face", "fan", "head", "ipod", "mouse (animal)", "parking meter", "rifle", "sponge bob", "table"),
    *("tire", "wheel"),
}


@dataclass(frozen=True)
class Found:
    """How many of the queries that a pack can answer found their icon within ten places."""

    asked: int
    found: int

    @property
    def share(self) -> float:
        """The share that did."""
        return self.found / max(self.asked, 1)


@dataclass(frozen=True)
class PackScore:
    """What was measured with one pack: seconds to index it by the clock, and milliseconds of processor time an icon.

    Of the latter there are as many cores' worth as a machine has, if nothing else runs on it; the clock tells what a
    shared machine gave.
    """

    pack: str
    icons: int
    left_out: int
    seconds: float
    icon_ms: float
    drawings: Found
    sketches: Found


@dataclass(frozen=True)
class Query:
    """A drawing, or the file of a sketch, and what it shows."""

    category: str
    drawn: Drawing | Path


def main(
    packs: Annotated[list[str], typer.Argument(metavar="NAME=PLACE", help="Packs of icons: a name and a place each.")],
    sketches: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Sketches by people, in folders named after TU-Berlin's.")
    ] = None,
    names: Annotated[
        Path | None, typer.Option(metavar="FILE", help="OpenMoji's openmoji.json: what its file names stand for.")
    ] = None,
    most: Annotated[int | None, typer.Option(min=10, help="So many icons of each pack at most.")] = None,
    model: Annotated[Path | None, typer.Option(metavar="FOLDER", help="The model; by default the shipped one.")] = None,
    each: Annotated[int, typer.Option(min=1, help="So many sketches of each category.")] = _SKETCHES,
    out: RecordFile = None,
) -> None:
    """Index packs of icons, search them with drawings, and print how many found their icon."""
    loaded = load_model(model)
    known = _meanings(names)
    queries = [Query(category, drawing) for category, drawing in example_drawings().items()]
    people = [] if sketches is None else list(_sketches(sketches, each))
    categories = sorted({query.category for query in (*queries, *people)})
    scores = []
    for given in packs:
        name, _, place = given.partition("=")
        if not Path(place).exists():
            raise BadArgument(f"{given!r} names no pack. Write NAME=PLACE, such as lucide=package/icons")
        with TemporaryDirectory() as scratch:
            chosen = _chosen(Path(place), Path(scratch), categories, known, most)
            scores.append(_measure(name, chosen, Path(scratch), loaded, queries, people, known))
        say(f"{name}: {scores[-1]}")
    record = {
        "model": loaded.manifest.name,
        "fingerprint": loaded.fingerprint,
        "most": most,
        "places": PLACES,
        "packs": [asdict(score) for score in scores],
    }
    finish(_table(scores), record, out)


def _measure(
    name: str,
    place: Path,
    scratch: Path,
    model: Model,
    queries: Sequence[Query],
    people: Sequence[Query],
    known: dict[str, str],
) -> PackScore:
    with create_gallery(scratch / "icons.gallery", GalleryModel.of(model)) as gallery:
        start = perf_counter()
        summary = index(gallery, model, [place], taken_as="drawings")
        seconds = perf_counter() - start
        icons = {photo.id: known.get(photo.path.stem, photo.path.stem) for photo in gallery.photos()}
        searcher = Searcher(model, gallery)
        found = [_count(searcher, asked, icons) for asked in (queries, people)]
    return PackScore(name, len(icons), len(summary.failed), seconds, _icon_ms(place, model), *found)


def _count(searcher: Searcher, queries: Iterable[Query], icons: dict[int, str]) -> Found:
    asked = found = 0
    for query in queries:
        right = {photo for photo, name in icons.items() if shows(name, query.category)}
        if not right:
            continue
        try:
            hits = searcher.search(query.drawn, PLACES)
        except UnreadableImage as problem:
            say(str(problem))
            continue
        asked += 1
        found += any(hit.id in right for hit in hits)
    return Found(asked, found)


def shows(icon: str, category: str) -> bool:
    """Tell by its name whether an icon shows a category; a name of several plain words may end with the category's.

    >>> shows("bulb-off", "lightbulb"), shows("black cat", "cat"), shows("adjustments-key", "key")
    (True, True, False)
    """
    words = _words(icon)
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    return any(
        words[: len(name)] == name or (" " in icon and words[-len(name) :] == name) for name in _names_of(category)
    )


@cache
def _names_of(category: str) -> tuple[tuple[str, ...], ...]:
    others = OTHER_NAMES.get(category, "").split()
    own = re.sub(r"\(.*\)", "", category)
    return tuple({_words(name.replace("_", " ")) for name in (own, *others)})


@cache
def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters and, nearly, in the singular."""
    words = (word for word in re.split(r"[\W_]+", name.lower()) if word)
    return tuple(word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word for word in words)


def _meanings(names: Path | None) -> dict[str, str]:
    """Return what the names of files stand for, of emoji without a tone of skin; the others mean nothing."""
    if names is None:
        return {}
    emoji = json.loads(names.read_text(encoding="utf-8"))
    return {each["hexcode"]: "" if each["skintone"] else each["annotation"] for each in emoji}


def _sketches(folder: Path, each: int) -> Iterable[Query]:
    for category in sorted(path for path in folder.iterdir() if path.is_dir() and path.name not in HOMONYMS):
        for sketch in sorted(category.iterdir())[:each]:
            yield Query(category.name, sketch)


def _chosen(place: Path, scratch: Path, categories: Sequence[str], known: dict[str, str], most: int | None) -> Path:
    """Return the pack, or a folder of links to some of its files."""
    if most is None:
        return place
    files = sorted(place.glob("*.svg"))
    shown = {file for file in files if any(shows(known.get(file.stem, file.stem), each) for each in categories)}
    others = [file for file in files if file not in shown]
    random.Random(0).shuffle(others)
    folder = scratch / "icons"
    folder.mkdir()
    for file in (*shown, *others[: max(most - len(shown), 0)]):
        (folder / file.name).symlink_to(file.absolute())
    return folder


def _icon_ms(place: Path, model: Model) -> float:
    """Return the processor time of reading and encoding an icon, in this process, which decodes as any other does."""
    files = sorted(place.glob("*.svg"))[:_TIMED]
    start = process_time()
    drawn = []
    for file in files:
        with suppress(UnreadableImage):  # some icons are empty
            picture = read_either_kind(file.read_bytes(), model, "drawing", decode_here)
            drawn += [picture] if isinstance(picture, DrawingPicture) else []
    if drawn:
        model.encode_sketches(np.stack([picture.ink for picture in drawn]))
        _ = [(describe_ink(picture.ink), thumbnail(picture.looks)) for picture in drawn]
    return 1000 * (process_time() - start) / max(len(drawn), 1)


def _table(scores: Sequence[PackScore]) -> str:
    rows = [
        (
            score.pack,
            f"{score.icons:,}",
            f"{score.seconds:.0f}",
            f"{score.icon_ms:.1f}",
            f"{score.drawings.share:.1%} of {score.drawings.asked}",
            f"{score.sketches.share:.1%} of {score.sketches.asked}",
        )
        for score in scores
    ]
    return markdown_table(("pack", "icons", "seconds", "ms an icon", "drawings", "sketches"), rows)


if __name__ == "__main__":
    run(main)
