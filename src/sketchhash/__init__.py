"""Draw something, and find the photos that show it."""

from importlib.metadata import version

__version__ = version("sketchhash")

__all__ = ["__version__"]
