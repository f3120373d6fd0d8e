"""Pictures, strokes and ink: everything between a file or a drawing and the pixels a network sees.

Photos come in through `read_photo`, the one decoder, and leave through `fit_square`, `shrink` or `thumbnail`.
Sketches, drawn (`rasterise`) or pictured (`read_sketch`, `normalise_ink`), all leave in one normal form:
black ink of one width on white paper, fitted and centred in a square.
"""

from sketchhash.imaging.decode import DEFAULT_LIMITS, Limits, read_photo, read_small_photo
from sketchhash.imaging.decoders import DecoderPool, Run, run
from sketchhash.imaging.formats import PICTURE_SUFFIXES
from sketchhash.imaging.ink import Drawing, InkStyle, rasterise, share_of_ink
from sketchhash.imaging.perceptual import perceptual_hash
from sketchhash.imaging.photos import contact_sheet, fit_square, read_shrunk_photo, shrink, thumbnail, write_png
from sketchhash.imaging.sketches import is_sketch, normalise_ink, read_recognised, read_sketch

__all__ = [
    "DEFAULT_LIMITS",
    "PICTURE_SUFFIXES",
    "DecoderPool",
    "Drawing",
    "InkStyle",
    "Limits",
    "Run",
    "contact_sheet",
    "fit_square",
    "is_sketch",
    "normalise_ink",
    "perceptual_hash",
    "rasterise",
    "read_photo",
    "read_recognised",
    "read_shrunk_photo",
    "read_sketch",
    "read_small_photo",
    "run",
    "share_of_ink",
    "shrink",
    "thumbnail",
    "write_png",
]
