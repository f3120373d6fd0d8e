"""Galleries on engines that others run: the rows of a file gallery, on Milvus or PostgreSQL, for many servers at once.

`open_engine` gives an `EngineGallery`, which is searched and served like a file. `copy_photos` makes a file or an
engine equal to another file or engine.
"""

from sketchhash.gallery.engines.copying import Copied, copy_photos
from sketchhash.gallery.engines.opening import open_engine, open_source, open_target

__all__ = ["Copied", "copy_photos", "open_engine", "open_source", "open_target"]
