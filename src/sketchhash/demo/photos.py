"""Which photos a demo shows: your own, or the best that are to be had here."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from os import fsencode
from pathlib import Path
from typing import Protocol

from PIL import Image

from sketchhash.datasets import synthetic
from sketchhash.datasets.stamps import Stamp, photo_stamps
from sketchhash.demo.packages import NoPackage, becoming, unpacked
from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery.scanning import absolute, find_photos

_EACH = 8  # photos a category of the synthetic world


@dataclass(frozen=True)
class DemoPhotos:
    """A folder of photos, and the file that their gallery is kept in."""

    folder: Path
    gallery: Path


def own_photos(folder: Path, cache: Path) -> DemoPhotos:
    """Show a person's own photos; every folder has a gallery of its own in ``cache``.

    Raises:
        BadArgument: If there are none.
    """
    folder = absolute(folder)
    if not any(isinstance(found, Path) for found in find_photos([folder])):
        raise BadArgument(f"There are no photos in or below {folder}. Name another folder.")
    return DemoPhotos(folder, cache / f"photos-{sha256(fsencode(folder)).hexdigest()[:12]}.gallery")


def choose_photos(cache: Path, listener: Listener) -> DemoPhotos:
    """Show the photo stamps of Tux Paint if they are to be had, or else the synthetic world.

    What was got once lies in ``cache``, and is not asked for again.
    """
    stamped, world = (DemoPhotos(cache / name, cache / f"{name}.gallery") for name in ("stamps", "world"))
    if not stamped.folder.is_dir() and (stamps_are_installed() or not world.folder.is_dir()):
        try:
            gather_stamps(stamped.folder, listener)
        except NoPackage as reason:
            listener.say(f"The photo stamps of Tux Paint are not to be had: {reason}.")
    if stamped.folder.is_dir():
        listener.say(f"The photos are stamps of Tux Paint (Debian: {PACKAGE}, licence GPL-2).")
        return stamped
    if not world.folder.is_dir():
        _paint_world(world.folder, listener)
    listener.say(
        "The photos are of the synthetic world, painted by this program. To see real ones, name a folder with "
        f"--photos, or on Debian type: sudo apt-get update && sudo apt-get install {PACKAGE}"
    )
    return world


def _paint_world(folder: Path, listener: Listener) -> None:
    world = synthetic.load(sketches_per_category=0, photos_per_category=_EACH)
    with becoming(folder) as unfinished, listener.stage("painting the synthetic world", len(world.photos)) as advance:
        for _ in synthetic.write(unfinished, world, workers=1):  # some seconds; Ctrl-C is quiet in one process
            advance()


PACKAGE = "tuxpaint-stamps-default"

_SYSTEM = Path("/")
_STAMPS = Path("usr/share/tuxpaint/stamps")
_LICENCE = Path("usr/share/doc") / PACKAGE / "copyright"
_FREE_BYTES = 450_000_000  # the package, and what is in it


def stamps_are_installed() -> bool:
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
    if stamps_are_installed():
        yield _SYSTEM
    else:
        listener.say("Downloading the photo stamps of Tux Paint from Debian: 160 MB, once ...")
        with unpacked(PACKAGE, room, _FREE_BYTES) as root:
            yield root


class Listener(Protocol):
    """Listens to long work."""

    def say(self, text: str) -> None:
        """Hear something worth telling a person."""
        ...

    def stage(self, name: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
        """Begin a stage of so many steps; what this gives is called after each."""
        ...
