"""Download packages without installing them, which needs no rights; and folders that are complete or absent."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time

from sketchhash.errors import SketchHashError

# Without these, apt-get takes minutes to notice that a machine is offline.
_SHORT_TIMEOUTS = ("-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15", "-o", "Acquire::https::Timeout=15")

_DOWNLOAD_SECONDS = 900.0
_UNPACK_SECONDS = 300.0

_SCRATCH_PREFIX = ".unfinished-"
_STALE_SECONDS = 24 * 3600


class PackageUnavailable(SketchHashError):
    """A package cannot be downloaded or unpacked; the text gives the reason, as part of a sentence."""


@contextmanager
def unpacked_package(package: str, beside: Path, free_bytes: int = 0) -> Iterator[Path]:
    """Download a package and yield a folder with its files, which is deleted at the end.

    Raises:
        PackageUnavailable: If that fails, or if ``beside``, where it is unpacked, has less than ``free_bytes`` free.
    """
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise PackageUnavailable(f"there is no {tool} on this system")
    with scratch_folder(beside) as folder:
        free = shutil.disk_usage(folder).free
        if free < free_bytes:
            raise PackageUnavailable(
                f"{beside} has {free // 10**6} MB of room, and {free_bytes // 10**6} MB are needed"
            )
        _run(["apt-get", *_SHORT_TIMEOUTS, "download", package], folder, _DOWNLOAD_SECONDS)
        archives = [path.name for path in folder.glob("*.deb")]
        if not archives:
            raise PackageUnavailable("apt-get downloaded nothing")
        _run(["dpkg-deb", "-x", archives[0], "files"], folder, _UNPACK_SECONDS)
        yield folder / "files"


@contextmanager
def downloaded(command: Sequence[str], pattern: str, beside: Path) -> Iterator[Path]:
    """Run a command that downloads a package into its working folder, and yield the archive until the block ends.

    Raises:
        PackageUnavailable: If that fails, or gives no file of the ``pattern``.
    """
    if shutil.which(command[0]) is None:
        raise PackageUnavailable(f"there is no {command[0]} on this system")
    with scratch_folder(beside) as folder:
        _run(list(command), folder, _DOWNLOAD_SECONDS)
        archives = sorted(folder.glob(pattern))
        if not archives:
            raise PackageUnavailable(f"{command[0]} downloaded nothing")
        yield archives[0]


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes ``folder`` if the block succeeds, and is deleted otherwise."""
    with scratch_folder(folder.parent) as scratch:
        unfinished = scratch / folder.name
        unfinished.mkdir()
        yield unfinished
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was faster, and made the same
                raise


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Yield an empty folder in ``beside`` and delete it at the end, with what killed processes left there."""
    beside.mkdir(parents=True, exist_ok=True)
    for left in beside.glob(f"{_SCRATCH_PREFIX}*"):
        if left.stat().st_mtime < time() - _STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=_SCRATCH_PREFIX, dir=beside) as folder:
        yield Path(folder)


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
    except subprocess.TimeoutExpired as error:
        raise PackageUnavailable(f"{command[0]} was not done after {seconds:.0f} seconds") from error
    except OSError as error:
        raise PackageUnavailable(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        reason = _first_error(done.stderr) or f"exit code {done.returncode}"
        raise PackageUnavailable(f"{command[0]} says: {reason}")


def _first_error(text: str) -> str:
    """Return the first error that apt-get or dpkg-deb reported, which the others follow from."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("W:")]
    errors = [line for line in lines if line.startswith("E:")] or lines
    return errors[0].removeprefix("E:").strip(" .") if errors else ""
