"""The photo stamps of Tux Paint, as Debian's ``tuxpaint-stamps-default`` lays them out: photos without sketches.

``stamps/<group>/…/<name>.png`` is a cut-out, and ``<name>.txt`` beside it begins with its English caption. Many stamps
are drawings; only the photos among them are taken, which are some hundred everyday things.

The caption says what a stamp shows: "A red kangaroo." is a kangaroo, "A pair of open scissors." are scissors, "Eat your
broccoli!" is broccoli. The last words of a caption name the thing; if some of them name a category of TU-Berlin,
Sketchy or Quick, Draw!, the longest such name is the category. Any other caption, without its article, is a category of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.datasets.dataset import Dataset, Item
from sketchhash.datasets.names import meaning, sketchy_categories, tuberlin_categories
from sketchhash.errors import DatasetProblem
from sketchhash.imaging import read_photo, shrink

_TOPS = (Path(), Path("stamps"), Path("tuxpaint/stamps"), Path("usr/share/tuxpaint/stamps"))
_GROUPS = ("animals", "food", "hobbies", "household", "plants", "vehicles")
_LOOKED_AT = 50  # stamps of a group, in search of one with a caption

# Found on contact sheets of the release of 2022-06-04: folders of drawings, and drawings among photos.
_DRAWN_FOLDERS = frozenset(
    {"cartoon", "clothes", "easter", "flags", "halloween", "hanukkah", "newyears", "roadsigns", "symbols"}
)
_DRAWN_STAMPS = frozenset(
    {"animals/insects/bee", "animals/insects/fly", "animals/mammals/echidna", "animals/mammals/hedgehog", "food/pizza"}
    | {"medical/tooth", "naturalforces/lightningbolt", "people/body_parts/eye", "space/planets/0_sun"}
    | {f"seasonal/christmas/{name}" for name in ("Santa", "bow", "candy_cane", "hard_candy", "lamp", "santahat")}
    | {f"seasonal/christmas/{name}" for name in ("star", "stocking", "tree", "xmas_tp_bulb")}
    | {"town/monuments/inukshuk-outline", "vehicles/emergency/sedan_police"}
)

_LONGEST_SIDE = 512
_MARGIN = 1 / 16

_ARTICLES = frozenset({"a", "an", "another", "our", "some", "the", "two"})

# "A pair of scissors" shows scissors; "a glass of water" shows a glass.
_PARTS = frozenset({"baby", "bunch", "head", "pair", "plant", "quarter", "string"})

# Words that end the name of the thing in a caption.
_ENDS = frozenset(
    {"also", "are", "as", "at", "called", "covered", "for", "from", "in", "is", "lets", "like", "making"}
    | {"means", "of", "or", "resembles", "used", "with"}
)

# Without an article, longer sentences are exclamations: then the name of the file says more.
_MOST_WORDS = 3

# Captions whose last words name something that the picture does not show.
_READ_AS = {
    "alien tree": "rambutan",
    "crowned crane": "crowned crane",
    "edward bear": "teddy-bear",
    "sea lion": "sea lion",
    "trophy cup": "trophy",
    "vw beetle": "car (sedan)",
}


@dataclass(frozen=True, slots=True)
class Stamp:
    """A cut-out in a file of its own."""

    path: Path

    def read(self) -> NDArray[np.uint8]:
        """Return the stamp in the middle of a white square: ``(side, side, 3)``.

        Networks see photos squeezed into a square. That does little to a photo, but a guitar that was cut out closely
        would become as wide as it is long.

        Raises:
            UnreadableImage: If the file is not a picture.
        """
        stamp = Image.fromarray(shrink(read_photo(self.path, longest=_LONGEST_SIDE), _LONGEST_SIDE))
        side = round(max(stamp.size) * (1 + 2 * _MARGIN))
        page = Image.new("RGB", (side, side), "white")
        page.paste(stamp, ((side - stamp.width) // 2, (side - stamp.height) // 2))
        return np.array(page)


def is_stamps(root: Path) -> bool:
    """Return whether ``root`` holds stamps with captions."""
    return _top(root) is not None


def load_stamps(root: Path) -> Dataset:
    """Load the photo stamps; a category is what a caption names."""
    top = _top(root)
    if top is None:
        raise DatasetProblem(f"{root} holds no stamps of Tux Paint: <group>/<name>.png with <name>.txt beside it.")
    stamps, photos = list(top.rglob("*.png")), photo_stamps(top)
    shown = {stamp: category_of(_caption(stamp), stamp.stem) for stamp in photos if _caption(stamp)}
    categories = tuple(sorted(set(shown.values())))
    labels = {category: label for label, category in enumerate(categories)}
    items = (Item(path.relative_to(top).as_posix(), labels[name], Stamp(path)) for path, name in shown.items())
    return Dataset(
        name="Tux Paint stamps",
        categories=categories,
        sketches=(),
        photos=tuple(sorted(items, key=lambda item: (item.label, item.id))),
        remarks=(
            f"left out are {len(stamps) - len(photos)} drawn stamps and {len(photos) - len(shown)} without a caption",
        ),
    )


def photo_stamps(top: Path) -> list[Path]:
    """Return the stamps below a folder of groups that are photos, sorted."""
    return sorted(stamp for stamp in top.rglob("*.png") if not _is_drawn(stamp.relative_to(top)))


def category_of(caption: str, file_name: str) -> str:
    """Return what a stamp shows; ``file_name`` is without its suffix.

    >>> category_of("A ripe, red tomato!", "tomato"), category_of("A pink tricycle.", "pink_tricycle")
    ('tomato', 'pink tricycle')
    """
    words = _subject(caption) or _words(file_name) or [file_name]
    phrase = " ".join(words)
    if phrase in _READ_AS:
        return _READ_AS[phrase]
    endings = (_key(" ".join(words[start:])) for start in range(len(words)))
    return next((_known()[ending] for ending in endings if ending in _known()), phrase)


def _top(root: Path) -> Path | None:
    """Find the folder that holds the groups, in ``root`` itself or where a package has it."""
    for top in (root / below for below in _TOPS):
        for group in (top / name for name in _GROUPS):
            if any(_caption(stamp) for stamp in islice(_pictures(group), _LOOKED_AT)):
                return top
    return None


def _pictures(group: Path) -> Iterator[Path]:
    return group.rglob("*.png") if group.is_dir() else iter(())


def _is_drawn(stamp: Path) -> bool:
    return not _DRAWN_FOLDERS.isdisjoint(stamp.parts) or stamp.with_suffix("").as_posix() in _DRAWN_STAMPS


def _caption(stamp: Path) -> str:
    """Return the first line of the text beside a stamp; the other lines are translations."""
    try:
        return stamp.with_suffix(".txt").read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except FileNotFoundError:
        return ""


def _subject(caption: str) -> list[str]:
    """Return the words that name the thing, or none if the caption does not begin with it."""
    words = _words(re.split(r"[.!?(:—]", caption, maxsplit=1)[0])
    named = words[: next((place for place, word in enumerate(words) if place and word in _ENDS - {"of"}), None)]
    if words[:1] and words[0] not in _ARTICLES and len(named) > _MOST_WORDS:
        return []
    while named and (named[0] in _ARTICLES or (named[0] in _PARTS and named[1:2] == ["of"])):
        named = named[1:] if named[0] in _ARTICLES else named[2:]
    return named[: named.index("of")] if "of" in named else named


def _words(text: str) -> list[str]:
    """Split into lower-case words; numbers that stand alone only count stamps."""
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower())
    return [word for word in words if not word.isdigit()]


@cache
def _known() -> dict[str, str]:
    """Return the names that datasets of sketches use, in the spelling of the first that has them."""
    quickdraw = (files("sketchhash.datasets") / "lists" / "quickdraw.txt").read_text(encoding="utf-8").splitlines()
    names = (*tuberlin_categories().names, *sketchy_categories().names, *quickdraw[1:])
    return {_key(name): name for name in reversed(names)}


def _key(name: str) -> str:
    """Return one key for all spellings of a name, singular or plural: grapes and grape, leaves and leaf."""
    key = meaning(name)
    for ending, single in (("ves", "f"), ("ies", "y"), ("oes", "o"), ("ss", "ss"), ("s", "")):
        if key.endswith(ending):
            return meaning(key.removesuffix(ending) + single)
    return key
