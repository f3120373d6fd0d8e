"""Cross-view hashing.

Kumar, Udupa. Learning hash functions for cross-view similarity search. IJCAI 2011.

| symbol     | here                                       |
|------------|--------------------------------------------|
| X⁽¹⁾, X⁽²⁾ | paired photo and sketch features           |
| A⁽¹⁾, A⁽²⁾ | the weights of both projections            |
| W          | similarity of training objects: a pair is similar to itself alone |

Similar objects shall have codes a small Hamming distance apart, summed over all pairs of views. Without the demand that
codes are binary, and with one-to-one pairs, the two-view problem is that of canonical correlation:

    Σ_12 Σ_22⁻¹ Σ_21 a = ρ² Σ_11 a,   b = Σ_22⁻¹ Σ_21 a / ρ,   code = sgn(Aᵀx)

Where we differ: only in the ridge, see `sketchhash.baselines.crossview.cca`, which solves it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sketchhash.baselines.crossview.cca import CanonicalCorrelation


@dataclass(eq=False)
class CrossViewHashing(CanonicalCorrelation):
    """Cut each canonical direction at the training mean; signs are the codes."""
