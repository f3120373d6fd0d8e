"""Write files in one step, whole or not at all; and the folder for what can be computed again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


@contextmanager
def replacing(path: Path, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path`` on success and leaves no trace on an error.

    Readers see the old file or the new one, never a part; two writers at once do no harm. A file that can be made
    again need not be ``durable``: a power cut may then leave it empty, but writing is much faster.
    """
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink()


def user_cache() -> Path:
    """Return the user's cache folder, for what can be computed again."""
    from platformdirs import user_cache_path

    return user_cache_path("sketchhash")
