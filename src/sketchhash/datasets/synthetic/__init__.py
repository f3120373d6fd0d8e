"""A synthetic world: photos and sketches of everyday things, made without a download.

Photo and sketch come from one recipe a category, with independent proportions: the photo is lit, textured and
cluttered, the sketch is what a person remembers. They agree on the thing and not on its geometry, which is the problem
the paper solves. Everything follows from a seed.
"""

from sketchhash.datasets.synthetic.catalogue import CATEGORIES
from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.datasets.synthetic.sketches import draw_sketch
from sketchhash.datasets.synthetic.world import load, write

__all__ = ["CATEGORIES", "draw_sketch", "load", "render_photo", "write"]
