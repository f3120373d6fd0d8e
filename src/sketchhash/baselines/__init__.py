"""Methods that Deep Sketch Hashing is compared with."""

from sketchhash.baselines.cca import CanonicalCorrelation
from sketchhash.baselines.class_codes import ClassCodes
from sketchhash.baselines.views import Views

__all__ = ["CanonicalCorrelation", "ClassCodes", "Views"]
