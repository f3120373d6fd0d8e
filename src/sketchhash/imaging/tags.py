"""Files that list the tags of a set of icons: what packages of icons put beside their SVG files.

Three forms are read: a list of tags by name (Lucide), an object with ``tags`` and ``category`` by name (Tabler), and a
list of objects with ``hexcode``, ``annotation`` and ``tags`` (OpenMoji), whose files are named by numbers alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import UnreadableImage

MAX_TAG_FILE_BYTES = 16_000_000
_LONGEST = 1000  # characters of tags that are kept of a drawing
_WORDS = ("tags", "openmoji_tags", "categories", "category", "group", "subgroups")


class Tagged(NamedTuple):
    """What a file of tags says of a drawing: what it is called, if its file is not, and its tags."""

    name: str | None
    tags: str


NOT_TAGGED = Tagged(None, "")


def read_tags(content: bytes) -> NDArray[np.uint8]:
    """Read a file of tags; `tags_of` reads what is returned.

    Raises:
        UnreadableImage: If it is no JSON. The text is the end of a sentence.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise UnreadableImage(f"it is no valid JSON ({problem}).") from problem
    return np.frombuffer(json.dumps(dict(_entries(document))).encode(), dtype=np.uint8)


def tags_of(written: NDArray[np.uint8]) -> dict[str, Tagged]:
    """Return what `read_tags` has found, by the names of files without their endings."""
    return {name: Tagged(*tagged) for name, tagged in json.loads(written.tobytes()).items()}


def _entries(document: object) -> Iterator[tuple[str, Tagged]]:
    if isinstance(document, dict):
        for name, about in document.items():
            tags = _joined([about] if isinstance(about, list) else _values(about))
            if tags:
                yield name, Tagged(None, tags)
    for about in document if isinstance(document, list) else ():
        if isinstance(about, dict) and isinstance(about.get("hexcode"), str):
            called = about.get("annotation")
            yield (
                about["hexcode"],
                Tagged(called if isinstance(called, str) and called else None, _joined(_values(about))),
            )


def _values(about: object) -> list[Any]:
    return [about[key] for key in _WORDS if key in about] if isinstance(about, dict) else []


def _joined(values: list[Any]) -> str:
    """Write tags, which are texts or lists of them, as one text, each once."""
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    tags = [tag.strip() for text in texts if isinstance(text, str) for tag in text.split(",")]
    return ", ".join(tag for tag in dict.fromkeys(tags) if tag)[:_LONGEST]
