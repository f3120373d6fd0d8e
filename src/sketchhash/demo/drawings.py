"""Drawings to try: twenty everyday things, as people scribble them with a mouse."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from sketchhash.imaging import Drawing


def drawings() -> dict[str, Drawing]:
    """Give the drawings by name; every name is a category of the synthetic world.

    >>> list(drawings())[:3]
    ['airplane', 'apple', 'banana']
    """
    text = (files("sketchhash.demo") / "drawings.toml").read_text(encoding="utf-8")
    return {name: Drawing.from_json(strokes) for name, strokes in tomllib.loads(text).items()}
