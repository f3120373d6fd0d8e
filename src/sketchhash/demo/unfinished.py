"""Folders that are whole or not there, and room for what is needed on the way."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time

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
