"""The photo stamps of Tux Paint, as Debian's ``tuxpaint-stamps-default`` lays them out: photos without sketches.

``stamps/<group>/…/<name>.png`` is a cut-out, and ``<name>.txt`` beside it begins with its English caption. Many stamps
are drawings; only the photos among them are taken, which are some hundred everyday things.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.datasets.items import Dataset, Item
from sketchhash.datasets.stamp_captions import category_of
from sketchhash.errors import DatasetProblem
from sketchhash.imaging import read_photo, shrink

_TOPS = (Path(), Path("stamps"), Path("tuxpaint/stamps"), Path("usr/share/tuxpaint/stamps"))
_GROUPS = ("animals", "food", "hobbies", "household", "plants", "vehicles")
_LOOKED_AT = 50

# Seen on contact sheets of the release of 2022-06-04. What lies in folders of these names is drawn, or nearly all.
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


@dataclass(frozen=True, slots=True)
class Stamp:
    """A cut-out in a file of its own."""

    path: Path

    def read(self) -> NDArray[np.uint8]:
        """Lay the stamp in the middle of a white square: ``(side, side, 3)``.

        Networks see photos squeezed into a square. That does little to a photo, but a guitar that was cut out closely
        would become as wide as it is long.

        Raises:
            UnreadableImage: If it is no picture.
        """
        stamp = Image.fromarray(shrink(read_photo(self.path, longest=_LONGEST_SIDE), _LONGEST_SIDE))
        side = round(max(stamp.size) * (1 + 2 * _MARGIN))
        page = Image.new("RGB", (side, side), "white")
        page.paste(stamp, ((side - stamp.width) // 2, (side - stamp.height) // 2))
        return np.array(page)


def is_stamps(root: Path) -> bool:
    """Tell whether ``root`` holds stamps with captions."""
    return _top(root) is not None


def load_stamps(root: Path) -> Dataset:
    """Load the photo stamps; a category is what a caption names."""
    top = _top(root)
    if top is None:
        raise DatasetProblem(f"{root} holds no stamps of Tux Paint: <group>/<name>.png with <name>.txt beside.")
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
    """Give the stamps below a folder of groups that are photos, in order."""
    return sorted(stamp for stamp in top.rglob("*.png") if not _is_drawn(stamp.relative_to(top)))


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
    """Give the first line of the text beside a stamp: the other lines are translations."""
    try:
        return stamp.with_suffix(".txt").read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except FileNotFoundError:
        return ""
