"""Names and bytes in a form that Milvus keeps as text, and that is safe inside its conditions."""

from __future__ import annotations

from base64 import b64decode, b64encode
from urllib.parse import unquote_to_bytes

LONGEST = 65_535
"""Bytes of text in one field of a row."""

_SPECIAL = frozenset("%\"'\\")
_PIECE = LONGEST - LONGEST % 4  # whole groups of base64


def stored_text(name: bytes) -> str:
    r"""Write a name as text that stays readable: what is not UTF-8, not printable or special is written as ``%FF``.

    It goes character by character, so names that begin alike are stored alike, and a folder is a range of texts.

    >>> print(stored_text("/photos/café 100%.jpg".encode()), stored_text(b"\xff\"\n"))
    /photos/café 100%25.jpg %FF%22%0A
    """
    return "".join(
        character if character.isprintable() and character not in _SPECIAL else _escaped(character)
        for character in name.decode("utf-8", "surrogateescape")
    )


def name_of(text: str) -> bytes:
    r"""Give the name that was stored as this text.

    >>> name_of(stored_text(b"\xff\"%41\n"))
    b'\xff"%41\n'
    """
    return unquote_to_bytes(text)


def stored_bytes(content: bytes) -> tuple[str, str]:
    """Write bytes as two texts, of which the second is most often empty: one has not the room for every thumbnail."""
    text = b64encode(content).decode("ascii")
    return text[:_PIECE], text[_PIECE:]


def bytes_of(first: str, second: str) -> bytes:
    r"""Give the bytes that were stored as two texts.

    >>> bytes_of(*stored_bytes(b"\x00\xff"))
    b'\x00\xff'
    """
    return b64decode(first + second)


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
