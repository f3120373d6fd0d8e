"""Training sketch tokens: from photos that people traced to the forest that the detector walks.

    bsds ──► samples (token classes; the pixels of each tree) ──► forest

Lim, Zitnick and Dollár, "Sketch Tokens" (CVPR 2013). `ForestTrainer` does it all, and resumes where it was stopped.
Needs SciPy and scikit-learn, which detection does not.
"""

from sketchhash.tokens.training.bsds import TracedPhoto, read_split
from sketchhash.tokens.training.forest import ForestTrainer
from sketchhash.tokens.training.samples import PRESETS, Preset, TokenClasses, preset

__all__ = ["PRESETS", "ForestTrainer", "Preset", "TokenClasses", "TracedPhoto", "preset", "read_split"]
