"""Photos and sketches as the same kind of line drawing: what HOG, GF-HOG and SHELO describe.

The paper computes Canny's edges of the photos for all three (section 4.1), and says no more. Here a photo's edges are
selected as its sketch tokens are: those that reach 60 % of its highest score, and at most 8 % of its pixels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.baselines.views import Picture
from sketchhash.errors import BadArgument
from sketchhash.imaging.sketches import skeletonise
from sketchhash.tokens.contours import TokenStyle, draw, strong_contours
from sketchhash.tokens.detectors import as_rgb
from sketchhash.tokens.peers import Canny

LONGEST_SIDE = 200
_SHORTEST_SIDE = 32  # a panorama is stretched to this, or nothing would be left inside its border
_CANNY = Canny()
_STYLE = TokenStyle()


def photo_edges(photo: Picture) -> NDArray[np.bool_]:
    """Mark the strongest edges of a photo, one pixel thin; its longest side becomes 200 pixels."""
    picture = Image.fromarray(as_rgb(photo))
    scale = LONGEST_SIDE / max(picture.size)
    width, height = (max(round(side * scale), _SHORTEST_SIDE) for side in picture.size)
    resized = picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0)
    return strong_contours(_CANNY.detect(np.asarray(resized)), _STYLE)


def sketch_edges(sketch: Picture) -> NDArray[np.bool_]:
    """Mark the middle of a sketch's lines, one pixel thin: ``(200, 200)``."""
    return skeletonise(sketch_ink(sketch, LONGEST_SIDE) < 128)


def photo_ink(photo: Picture, side: int) -> Picture:
    """Draw the edges of a photo with the pen of the sketches, squeezed to a square: ``(side, side)``."""
    return draw(photo_edges(photo), side, _STYLE.ink.line_width)


def sketch_ink(sketch: Picture, side: int) -> Picture:
    """Resize a sketch, or refuse what is none: ``(side, side)``, paper 255 and ink 0."""
    if sketch.dtype != np.uint8 or sketch.ndim != 2 or sketch.size == 0:
        raise BadArgument(f"A sketch is uint8 of shape (side, side), not empty; got {sketch.dtype} {sketch.shape}.")
    return np.asarray(Image.fromarray(sketch).resize((side, side), Image.Resampling.BICUBIC, reducing_gap=3.0))
