"""Hand-crafted methods: photos become line drawings, and all drawings get the same descriptor.

| method   | photos as     | describes                                      | learns                   |
|----------|---------------|------------------------------------------------|--------------------------|
| `HOG`    | Canny edges   | gradients in cells of the picture              | nothing                  |
| `GFHOG`  | Canny edges   | windows on a gradient field, as a bag of words | words, from photos       |
| `SHELO`  | Canny edges   | orientations in cells of the picture, softly   | nothing                  |
| `LKS`    | sketch tokens | strokes around points, as votes for keyshapes  | keyshapes, from sketches |
"""

from sketchhash.baselines.handcrafted.gf_hog import GFHOG
from sketchhash.baselines.handcrafted.hog import HOG
from sketchhash.baselines.handcrafted.lks import LKS
from sketchhash.baselines.handcrafted.shelo import SHELO

__all__ = ["GFHOG", "HOG", "LKS", "SHELO"]
