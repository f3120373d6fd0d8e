"""Draw something, and find the photos that show it.

>>> import sketchhash
>>> gallery = sketchhash.Gallery("photos.gallery")  # doctest: +SKIP
>>> gallery.index("~/Pictures")  # doctest: +SKIP
>>> for hit in gallery.search("sketch.png", k=10):  # doctest: +SKIP
...     print(hit.distance, hit.path)

Names are loaded when they are first used: importing the package takes milliseconds, and searching never imports
PyTorch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sketchhash.api import Gallery, train
    from sketchhash.errors import SketchHashError
    from sketchhash.evaluation import evaluate
    from sketchhash.gallery import Hit
    from sketchhash.imaging import Drawing
    from sketchhash.model import Model

    __version__: str

__all__ = ["Drawing", "Gallery", "Hit", "Model", "SketchHashError", "__version__", "evaluate", "train"]

_MODULES = {
    "Drawing": "sketchhash.imaging",
    "Gallery": "sketchhash.api",
    "Hit": "sketchhash.gallery",
    "Model": "sketchhash.model",
    "SketchHashError": "sketchhash.errors",
    "evaluate": "sketchhash.evaluation",
    "train": "sketchhash.api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("sketchhash")
    elif name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
