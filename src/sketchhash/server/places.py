"""Where photos lie, as clients see it: below the folder that all of a gallery's photos have in common.

A gallery keeps absolute paths. Clients name folders in the form that they are shown, and a folder only narrows a
search down: whatever it says, nothing but photos of the gallery can be found in it.
"""

from __future__ import annotations

import os
from pathlib import Path

from sketchhash.gallery import ServedGallery


def common_root(gallery: ServedGallery) -> bytes:
    """Give the deepest folder that holds all photos, as it is stored, with a slash at its end."""
    ends = gallery.path_ends()
    if ends is None:
        return b""
    # In the order of bytes, everything lies between the first and the last, and begins as they both do.
    shared = bytes(os.path.commonprefix(ends) or b"")  # noqa: RUF071 - what follows cuts at a separator
    return shared[: shared.rfind(os.fsencode(os.sep)) + 1]


def folder_below(root: bytes, path: Path) -> str:
    """Give the folder of a photo, as clients see it; "" is the root itself.

    >>> folder_below(b"/photos/", Path("/photos/2024/summer/cat.jpg"))
    '2024/summer'
    """
    return text_of(os.path.join(os.fsencode(path.parent), b"").removeprefix(root)[:-1])  # noqa: PTH118 - bytes


def folder_named(root: bytes, folder: str) -> Path:
    """Give the path of a folder that a client has named."""
    return Path(os.fsdecode(root)) / folder.lstrip("/\\")


def text_of(name: bytes) -> str:
    r"""Give a name as text: a byte that is not UTF-8 is written as ``\xff``, a separator as a slash."""
    return name.decode("utf-8", "backslashreplace").replace(os.sep, "/")
