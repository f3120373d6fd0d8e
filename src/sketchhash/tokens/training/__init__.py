"""Training sketch tokens: from photos that people traced to the forest that the detector walks.

    bsds ──► token_classes (daisy, k-means) ──► per tree: sampling ──► growing ──► forest

Lim, Zitnick and Dollár, "Sketch Tokens" (CVPR 2013). `Run` does it all, and goes on where it was stopped.
Needs SciPy and scikit-learn, which detection does not.
"""

from sketchhash.tokens.training.bsds import TracedPhoto, read_split
from sketchhash.tokens.training.presets import PRESETS, Preset, preset
from sketchhash.tokens.training.run import Run
from sketchhash.tokens.training.token_classes import TokenClasses

__all__ = ["PRESETS", "Preset", "Run", "TokenClasses", "TracedPhoto", "preset", "read_split"]
