"""The photo stamps of Tux Paint: hundreds of photos of everyday things that come with Debian, under the GPL-2.

They are taken from this system, or from Debian's package, which is downloaded once. A stamp is a cut-out, so each is
laid on a white page. Only the pages are kept, in folders named like Tux Paint's own, and with them the licence.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.demo.debian import NoPackage, unpacked
from sketchhash.demo.progress import Listener
from sketchhash.demo.unfinished import becoming
from sketchhash.errors import UnreadableImage
from sketchhash.imaging import read_photo, shrink

PACKAGE = "tuxpaint-stamps-default"

_SYSTEM = Path("/")
_STAMPS = Path("usr/share/tuxpaint/stamps")
_LICENCE = Path("usr/share/doc") / PACKAGE / "copyright"
_FREE_BYTES = 450_000_000  # the package, and what is in it

# What lies in folders of these names is drawn, or white on white, or nearly all of it.
_LEFT_OUT = frozenset(
    {"cartoon", "clothes", "easter", "flags", "halloween", "hanukkah", "naturalforces", "newyears", "symbols"}
)

# Galleries look at no more of a photo.
_LONGEST_SIDE = 512

_MARGIN = 1 / 16


def are_installed() -> bool:
    """Tell whether this system has the stamps, so that they need no download."""
    return any(_photos_below(_SYSTEM / _STAMPS))


def gather_stamps(folder: Path, listener: Listener) -> None:
    """Make ``folder``, with a page for each photo stamp.

    Raises:
        NoPackage: If there are none here, and none can be downloaded.
    """
    with _system_with_stamps(folder.parent, listener) as system, becoming(folder) as unfinished:
        top = system / _STAMPS
        stamps = sorted(_photos_below(top))
        if not stamps:
            raise NoPackage(f"{PACKAGE} has no photos")
        with listener.stage("laying stamps on pages", len(stamps)) as advance:
            for stamp in stamps:
                place = unfinished / stamp.relative_to(top)
                place.parent.mkdir(parents=True, exist_ok=True)
                try:
                    Image.fromarray(page(read_photo(stamp))).save(place, "PNG")
                except UnreadableImage as problem:
                    listener.say(f"Left out: {problem}")
                advance()
        if (system / _LICENCE).is_file():
            shutil.copyfile(system / _LICENCE, unfinished / "copyright")


def page(stamp: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay a picture in the middle of a white square: ``(side, side, 3)``.

    Networks see photos squeezed into a square. That does little to a photo, but a guitar that was cut out closely
    would become as wide as it is long.
    """
    picture = Image.fromarray(shrink(stamp, _LONGEST_SIDE))
    side = round(max(picture.size) * (1 + 2 * _MARGIN))
    paper = Image.new("RGB", (side, side), "white")
    paper.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    return np.array(paper)


def _photos_below(top: Path) -> Iterator[Path]:
    return (path for path in top.rglob("*.png") if _LEFT_OUT.isdisjoint(path.relative_to(top).parts))


@contextmanager
def _system_with_stamps(room: Path, listener: Listener) -> Iterator[Path]:
    """Give the root of a file system that has the stamps: this one's, or that of the unpacked package."""
    if are_installed():
        yield _SYSTEM
    else:
        listener.say("Downloading the photo stamps of Tux Paint from Debian: 160 MB, once ...")
        with unpacked(PACKAGE, room, _FREE_BYTES) as root:
            yield root
