"""Which photos a demo shows: your own, or the best that are to be had here."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from os import fsencode
from pathlib import Path

from sketchhash.datasets import synthetic
from sketchhash.demo import stamps
from sketchhash.demo.debian import NoPackage
from sketchhash.demo.progress import Listener
from sketchhash.demo.unfinished import becoming
from sketchhash.errors import BadArgument
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
    if not stamped.folder.is_dir() and (stamps.are_installed() or not world.folder.is_dir()):
        try:
            stamps.gather_stamps(stamped.folder, listener)
        except NoPackage as reason:
            listener.say(f"The photo stamps of Tux Paint are not to be had: {reason}.")
    if stamped.folder.is_dir():
        listener.say(f"The photos are stamps of Tux Paint (Debian: {stamps.PACKAGE}, licence GPL-2).")
        return stamped
    if not world.folder.is_dir():
        _paint_world(world.folder, listener)
    listener.say(
        "The photos are of the synthetic world, painted by this program. To see real ones, name a folder with "
        f"--photos, or on Debian type: sudo apt-get update && sudo apt-get install {stamps.PACKAGE}"
    )
    return world


def _paint_world(folder: Path, listener: Listener) -> None:
    world = synthetic.load(sketches_per_category=0, photos_per_category=_EACH)
    with becoming(folder) as unfinished, listener.stage("painting the synthetic world", len(world.photos)) as advance:
        for _ in synthetic.write(unfinished, world, workers=1):  # some seconds; Ctrl-C is quiet in one process
            advance()
