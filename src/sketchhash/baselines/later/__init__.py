"""What came after the paper, each method by its loss alone, as layers on features that are given; and their ceiling.

None of these is in the paper's tables. Their own papers train whole networks, so their numbers do not compare.
"""

from sketchhash.baselines.later.contrastive_hashing import ContrastiveHashing
from sketchhash.baselines.later.gdh import DomainMigration
from sketchhash.baselines.later.posteriors import CategoryChances
from sketchhash.baselines.later.sake import KnowledgePreservation
from sketchhash.baselines.later.triplet_hashing import TripletHashing

__all__ = ["CategoryChances", "ContrastiveHashing", "DomainMigration", "KnowledgePreservation", "TripletHashing"]
