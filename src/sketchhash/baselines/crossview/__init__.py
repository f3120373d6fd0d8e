"""Cross-view feature learning: real-valued embeddings in which sketches and photos can be compared."""

from sketchhash.baselines.crossview.cca import CanonicalCorrelation
from sketchhash.baselines.crossview.cvfl import CrossViewFeatureLearning
from sketchhash.baselines.crossview.plsr import PartialLeastSquares
from sketchhash.baselines.crossview.xqda import CrossViewQuadratic

__all__ = ["CanonicalCorrelation", "CrossViewFeatureLearning", "CrossViewQuadratic", "PartialLeastSquares"]
