"""The photos that a demo shows: your own, the photo stamps of Tux Paint, or the synthetic world.

The stamps are hundreds of photos of everyday things that come with Debian, under the GPL-2. They are taken from this
system or from Debian's package, which is downloaded once. A stamp is a cut-out, so each is laid on a white page. Only
the pages are kept, in folders named like Tux Paint's own, together with the licence.
"""

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
from sketchhash.demo.packages import PackageUnavailable, atomic_folder, unpacked_package
from sketchhash.errors import BadArgument, UnreadableImage
from sketchhash.gallery.photos import absolute, find_photos

_PHOTOS_PER_CATEGORY = 8  # of the synthetic world

_PACKAGE = "tuxpaint-stamps-default"
_SYSTEM = Path("/")
_STAMPS = Path("usr/share/tuxpaint/stamps")
_LICENCE = Path("usr/share/doc") / _PACKAGE / "copyright"
_FREE_BYTES = 450_000_000  # the package, and what is in it


@dataclass(frozen=True)
class DemoPhotos:
    """A folder of photos, and the file for their gallery."""

    folder: Path
    gallery: Path


class Listener(Protocol):
    """Receives messages and progress; the caller decides how to show them."""

    def say(self, text: str) -> None:
        """Show a message."""
        ...

    def stage(self, name: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
        """Begin a stage of ``steps`` steps; call what this yields after each."""
        ...


def own_photos(folder: Path, cache: Path) -> DemoPhotos:
    """Return a person's own photos; every folder has a gallery of its own in ``cache``.

    Raises:
        BadArgument: If there are none.
    """
    folder = absolute(folder)
    if not any(isinstance(found, Path) for found in find_photos([folder], "auto")):
        raise BadArgument(f"There are no photos in or below {folder}. Name another folder.")
    return DemoPhotos(folder, cache / f"photos-{sha256(fsencode(folder)).hexdigest()[:12]}.gallery")


def choose_photos(cache: Path, listener: Listener) -> DemoPhotos:
    """Return the photo stamps of Tux Paint if they are available, and otherwise the synthetic world.

    Photos are kept in ``cache``, so they are downloaded or painted only once.
    """
    stamps, world = (DemoPhotos(cache / name, cache / f"{name}.gallery") for name in ("stamps", "world"))
    if not stamps.folder.is_dir() and (stamps_are_installed() or not world.folder.is_dir()):
        try:
            gather_stamps(stamps.folder, listener)
        except PackageUnavailable as reason:
            listener.say(f"The photo stamps of Tux Paint are not available: {reason}.")
    if stamps.folder.is_dir():
        listener.say(f"The photos are stamps of Tux Paint (Debian: {_PACKAGE}, licence GPL-2).")
        return stamps
    if not world.folder.is_dir():
        _paint_world(world.folder, listener)
    listener.say(
        "The photos are of the synthetic world, painted by this program. To see real ones, name a folder with "
        f"--photos, or on Debian type: sudo apt-get update && sudo apt-get install {_PACKAGE}"
    )
    return world


def stamps_are_installed() -> bool:
    """Return whether this system has the stamps, so that no download is needed."""
    return bool(photo_stamps(_SYSTEM / _STAMPS))


def gather_stamps(folder: Path, listener: Listener) -> None:
    """Create ``folder`` with a page for each photo stamp.

    Raises:
        PackageUnavailable: If there are none here, and none can be downloaded.
    """
    with _system_with_stamps(folder.parent, listener) as system, atomic_folder(folder) as unfinished:
        top = system / _STAMPS
        stamps = photo_stamps(top)
        if not stamps:
            raise PackageUnavailable(f"{_PACKAGE} has no photos")
        with listener.stage("laying stamps on pages", len(stamps)) as advance:
            for stamp in stamps:
                page = unfinished / stamp.relative_to(top)
                page.parent.mkdir(parents=True, exist_ok=True)
                try:
                    Image.fromarray(Stamp(stamp).read()).save(page, "PNG")
                except UnreadableImage as error:
                    listener.say(f"Left out: {error}")
                advance()
        if (system / _LICENCE).is_file():
            shutil.copyfile(system / _LICENCE, unfinished / "copyright")


@contextmanager
def _system_with_stamps(scratch: Path, listener: Listener) -> Iterator[Path]:
    """Yield the root of a file system that has the stamps: this one's, or that of the unpacked package."""
    if stamps_are_installed():
        yield _SYSTEM
    else:
        listener.say("Downloading the photo stamps of Tux Paint from Debian: 160 MB, once ...")
        with unpacked_package(_PACKAGE, scratch, _FREE_BYTES) as root:
            yield root


def _paint_world(folder: Path, listener: Listener) -> None:
    world = synthetic.load(sketches_per_category=0, photos_per_category=_PHOTOS_PER_CATEGORY)
    with (
        atomic_folder(folder) as unfinished,
        listener.stage("painting the synthetic world", len(world.photos)) as advance,
    ):
        for _ in synthetic.write(unfinished, world, workers=1):  # it takes seconds, and one process ends at Ctrl-C
            advance()
