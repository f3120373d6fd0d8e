"""The photo stamps of Tux Paint: hundreds of photos of everyday things that come with Debian, under the GPL-2.

They are taken from this system, or from Debian's package, which is downloaded once. A stamp is a cut-out, so each is
laid on a white page. Only the pages are kept, in folders named like Tux Paint's own, and with them the licence.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from sketchhash.datasets.stamps import Stamp, photo_stamps
from sketchhash.demo.debian import NoPackage, unpacked
from sketchhash.demo.progress import Listener
from sketchhash.demo.unfinished import becoming
from sketchhash.errors import UnreadableImage

PACKAGE = "tuxpaint-stamps-default"

_SYSTEM = Path("/")
_STAMPS = Path("usr/share/tuxpaint/stamps")
_LICENCE = Path("usr/share/doc") / PACKAGE / "copyright"
_FREE_BYTES = 450_000_000  # the package, and what is in it


def are_installed() -> bool:
    """Tell whether this system has the stamps, so that they need no download."""
    return bool(photo_stamps(_SYSTEM / _STAMPS))


def gather_stamps(folder: Path, listener: Listener) -> None:
    """Make ``folder``, with a page for each photo stamp.

    Raises:
        NoPackage: If there are none here, and none can be downloaded.
    """
    with _system_with_stamps(folder.parent, listener) as system, becoming(folder) as unfinished:
        top = system / _STAMPS
        stamps = photo_stamps(top)
        if not stamps:
            raise NoPackage(f"{PACKAGE} has no photos")
        with listener.stage("laying stamps on pages", len(stamps)) as advance:
            for stamp in stamps:
                place = unfinished / stamp.relative_to(top)
                place.parent.mkdir(parents=True, exist_ok=True)
                try:
                    Image.fromarray(Stamp(stamp).read()).save(place, "PNG")
                except UnreadableImage as problem:
                    listener.say(f"Left out: {problem}")
                advance()
        if (system / _LICENCE).is_file():
            shutil.copyfile(system / _LICENCE, unfinished / "copyright")


@contextmanager
def _system_with_stamps(room: Path, listener: Listener) -> Iterator[Path]:
    """Give the root of a file system that has the stamps: this one's, or that of the unpacked package."""
    if are_installed():
        yield _SYSTEM
    else:
        listener.say("Downloading the photo stamps of Tux Paint from Debian: 160 MB, once ...")
        with unpacked(PACKAGE, room, _FREE_BYTES) as root:
            yield root
