"""Galleries on engines that others run: the rows of a gallery file, on Milvus or PostgreSQL, for many servers at once.

`open_gallery` opens a file or an engine's address, and returns an `OpenGallery` either way. `copy_photos` makes one
gallery equal to another.
"""

from sketchhash.engines.addresses import SCHEMES, Address, is_address
from sketchhash.engines.copying import Copied, copy_photos
from sketchhash.engines.opening import create_gallery, open_gallery

__all__ = ["SCHEMES", "Address", "Copied", "copy_photos", "create_gallery", "is_address", "open_gallery"]
