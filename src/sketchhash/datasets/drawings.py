"""Twenty drawings of everyday things, to try a gallery with."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from sketchhash.imaging import Drawing


def example_drawings() -> dict[str, Drawing]:
    """Return the drawings by name, as people draw with a mouse; every name is a category of the synthetic world.

    >>> list(example_drawings())[:3]
    ['airplane', 'apple', 'banana']
    """
    text = (files("sketchhash.datasets") / "drawings.toml").read_text(encoding="utf-8")
    return {name: Drawing.from_json(strokes) for name, strokes in tomllib.loads(text).items()}
