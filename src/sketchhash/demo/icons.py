"""The icons that ``sketchhash demo --icons`` shows: Tabler Icons, several thousand, under the MIT licence.

They come from the npm registry, if npm is here, or from PyPI, where a package holds a somewhat older edition of them.
Only the SVG files, their tags and the licence are kept.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from sketchhash.demo.packages import PackageUnavailable, atomic_folder, downloaded
from sketchhash.demo.photos import DemoPhotos, Listener
from sketchhash.errors import require

_ICONS = PurePosixPath("icons/outline")
_TAGS = "icons.json"  # beside the folder of icons
_MOST_BYTES = 8_000_000  # of one file
_NPM = ("npm", "pack", "--silent", "--ignore-scripts", "@tabler/icons")
_PIP = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "pytablericons")


def choose_icons(cache: Path, listener: Listener) -> DemoPhotos:
    """Return a folder of icons, which are downloaded once and kept in ``cache``.

    Raises:
        MissingExtra: If what draws SVG is not installed.
        PackageUnavailable: If they are not there, and cannot be downloaded.
    """
    require("resvg_py", "drawings")
    icons = DemoPhotos(cache / "icons", cache / "icons.gallery")
    if not icons.folder.is_dir():
        listener.say("Downloading Tabler Icons: 2 MB, once ...")
        _gather(icons.folder)
    listener.say("The icons are Tabler Icons (npm: @tabler/icons, licence MIT).")
    return icons


def _gather(folder: Path) -> None:
    reasons = []
    for command, pattern, read in ((_NPM, "*.tgz", _in_tar), (_PIP, "*.whl", _in_wheel)):
        try:
            with downloaded(command, pattern, folder.parent) as archive, atomic_folder(folder) as unfinished:
                _keep(read(archive), unfinished)
            return
        except PackageUnavailable as reason:
            reasons.append(str(reason))
    raise PackageUnavailable(
        f"Tabler Icons cannot be downloaded: {'; '.join(reasons)}. Index icons of your own with: "
        "sketchhash index FOLDER --as drawings"
    )


def _keep(files: Iterable[tuple[PurePosixPath, bytes]], folder: Path) -> None:
    """Write icons, tags and licence into a folder; whatever paths an archive names, nothing is written elsewhere."""
    kept = 0
    for path, content in files:
        (folder / path.name).write_bytes(content)
        kept += path.suffix == ".svg"
    if not kept:
        raise PackageUnavailable("the package has no icons")


def _is_wanted(name: str, size: int) -> bool:
    path = PurePosixPath(name)
    is_icon = path.suffix == ".svg" and path.parent.parts[-2:] == _ICONS.parts
    return (is_icon or path.name in ("LICENSE", _TAGS)) and size <= _MOST_BYTES


def _in_tar(archive: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile() and _is_wanted(member.name, member.size):
                    file = tar.extractfile(member)
                    yield PurePosixPath(member.name), b"" if file is None else file.read()
    except (tarfile.TarError, EOFError, OSError) as problem:
        raise PackageUnavailable(f"{archive.name} cannot be unpacked: {problem}") from problem


def _in_wheel(archive: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    try:
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.infolist():
                if _is_wanted(entry.filename, entry.file_size):
                    yield PurePosixPath(entry.filename), wheel.read(entry)
    except (zipfile.BadZipFile, OSError) as problem:
        raise PackageUnavailable(f"{archive.name} cannot be unpacked: {problem}") from problem
