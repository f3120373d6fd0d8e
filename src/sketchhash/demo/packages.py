"""Look into a Debian package without installing it, which needs no rights."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time

from sketchhash.errors import SketchHashError

# A machine that is not online should know it soon; apt-get's own patience is minutes.
_HASTE = ("-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15", "-o", "Acquire::https::Timeout=15")

_DOWNLOAD_SECONDS = 900.0
_UNPACK_SECONDS = 300.0


class NoPackage(SketchHashError):
    """A package is not to be had; the text says why, as part of a sentence."""


@contextmanager
def unpacked(package: str, beside: Path, free_bytes: int = 0) -> Iterator[Path]:
    """Download a package and give a folder with its files, which is gone at the end.

    Raises:
        NoPackage: If that fails, or ``beside``, where it happens, has fewer than ``free_bytes`` of room.
    """
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise NoPackage(f"there is no {tool} on this system")
    with scratch(beside) as room:
        free = shutil.disk_usage(room).free
        if free < free_bytes:
            raise NoPackage(f"{beside} has {free // 10**6} MB of room, and {free_bytes // 10**6} MB are needed")
        _run(["apt-get", *_HASTE, "download", package], room, _DOWNLOAD_SECONDS)
        archives = [path.name for path in room.glob("*.deb")]
        if not archives:
            raise NoPackage("apt-get downloaded nothing")
        _run(["dpkg-deb", "-x", archives[0], "files"], room, _UNPACK_SECONDS)
        yield room / "files"


def _run(command: list[str], folder: Path, seconds: float) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as problem:
        raise NoPackage(f"{command[0]} was not done after {seconds:.0f} seconds") from problem
    except OSError as problem:
        raise NoPackage(f"{command[0]} cannot be started: {problem.strerror}") from problem
    if done.returncode:
        raise NoPackage(f"{command[0]} says: {_complaint(done.stderr) or f'exit code {done.returncode}'}")


def _complaint(text: str) -> str:
    """Take the first error of what apt-get or dpkg-deb said: the one that others follow from."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("W:")]
    errors = [line for line in lines if line.startswith("E:")] or lines
    return errors[0].removeprefix("E:").strip(" .") if errors else ""


_PREFIX = ".unfinished-"
_FORGOTTEN_SECONDS = 24 * 3600


@contextmanager
def becoming(folder: Path) -> Iterator[Path]:
    """Give an empty folder that becomes ``folder`` when all went well, and leaves no trace otherwise."""
    with scratch(folder.parent) as room:
        unfinished = room / folder.name
        unfinished.mkdir()
        yield unfinished
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was faster, and made the same
                raise


@contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """Give an empty folder in ``beside`` that is gone at the end; so are those that a killed process left."""
    beside.mkdir(parents=True, exist_ok=True)
    for left in beside.glob(f"{_PREFIX}*"):
        if left.stat().st_mtime < time() - _FORGOTTEN_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=_PREFIX, dir=beside) as room:
        yield Path(room)
