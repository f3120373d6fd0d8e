"""Cross-modality hashing: binary codes that sketches and photos share."""

from sketchhash.baselines.hashing.cmfh import CollectiveFactorisation
from sketchhash.baselines.hashing.cmssh import SimilaritySensitiveHashing
from sketchhash.baselines.hashing.cvh import CrossViewHashing
from sketchhash.baselines.hashing.scm import OrthogonalCorrelation, SequentialCorrelation
from sketchhash.baselines.hashing.seph import SemanticsPreservingHashing

__all__ = [
    "CollectiveFactorisation",
    "CrossViewHashing",
    "OrthogonalCorrelation",
    "SemanticsPreservingHashing",
    "SequentialCorrelation",
    "SimilaritySensitiveHashing",
]
