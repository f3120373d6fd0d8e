"""How file names are written: they may hold any bytes, while a line should stay a line and text UTF-8."""

from __future__ import annotations

import json
import os
from pathlib import Path


def shown(name: Path | str) -> str:
    r"""Give a name to look at, on one line: bytes that are not UTF-8, and what cannot be printed, are escaped.

    >>> print(shown("café\n.jpg"), shown(os.fsdecode(b"\xff.jpg")))
    café\n.jpg \xff.jpg
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in utf8(name)
    )


def utf8(name: Path | str) -> str:
    r"""Give a name as text that can be encoded: each byte that is not UTF-8 is written as ``\xff``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def exact_json(value: object, indent: int | None = None) -> str:
    r"""Write JSON from which every name can be had back: a byte ``0xff`` that is not UTF-8 becomes ``\udcff``.

    >>> print(exact_json({"path": Path(os.fsdecode(b"\xff.jpg"))}))
    {"path": "\udcff.jpg"}
    >>> os.fsencode(json.loads(exact_json(os.fsdecode(b"\xff.jpg"))))
    b'\xff.jpg'
    """
    return json.dumps(value, indent=indent, default=str)
