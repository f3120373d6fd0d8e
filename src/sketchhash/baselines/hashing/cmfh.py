"""Collective matrix factorisation hashing.

Ding, Guo, Zhou. Collective matrix factorization hashing for multimodal data. CVPR 2014.

| symbol   | here                                                              |
|----------|-------------------------------------------------------------------|
| X⁽¹⁾, X⁽²⁾ | n paired photo and sketch features, standardised; rows here, columns there |
| V        | the factor that both views share: XG, see below                   |
| U₁, U₂   | ``bases``: rebuild each view from V                               |
| P₁, P₂   | ``maps``: predict V from each view                                |
| λ, μ, γ  | ``balance``, ``prediction``, ``penalty``                          |

    min Σ_t λ_t ‖X_t − VU_t‖² + μ ‖V − X_tP_t‖² + γ (‖U_t‖² + ‖P_t‖²) + γ ‖V‖²,   λ_1 = λ, λ_2 = 1 − λ

Each unknown in turn has a closed form:

    U_t = (VᵀV + γ/λ_t I)⁻¹ VᵀX_t       P_t = (X_tᵀX_t + γ/μ I)⁻¹ X_tᵀV
    V   = Σ_t X_t (λ_tU_tᵀ + μP_t) (Σ_t λ_tU_tU_tᵀ + (2μ + γ) I)⁻¹

The last line says that V is linear in the features, V = X₁G₁ + X₂G₂, so every product above follows from
covariances and no row of V is ever needed: an iteration costs the same for a thousand pairs as for a hundred
thousand. Codes are sgn(x P_t).

Where we differ: V starts as a random combination of the features rather than as random numbers; one iteration would
turn those into such a combination anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from sketchhash.baselines.linear import (
    DRAWN_PAIRS,
    OTHER_FEATURES,
    PAIRS,
    STANDARDISED,
    Covariances,
    LinearMethod,
    Pairs,
    Projection,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Matrix, Reported, Views


@dataclass(eq=False)
class CollectiveFactorisation(LinearMethod):
    """Factorises both views with one shared factor, and predicts it from either.

    ``objectives`` holds the objective per pair after each iteration; it never rises.
    """

    bits: int
    balance: float = 0.5
    prediction: float = 100.0
    penalty: float = 0.01
    iterations: int = 100
    pairs: int = PAIRS
    seed: int = 0
    objectives: list[float] = field(default_factory=list, init=False)

    def fit(self, views: Views) -> Self:
        """Draw pairs and alternate."""
        rng = np.random.default_rng(self.seed)
        pairs = Pairs.draw(views, self.pairs, rng)
        factors = _Factors(pairs.covariances(), self, len(pairs.photo_rows))
        mixing = [rng.normal(size=(width, self.bits)) / np.sqrt(width) for width in factors.widths]
        self.objectives = []
        for _ in range(self.iterations):
            mixing, maps, objective = factors.improve(mixing)
            self.objectives.append(objective)
        return self._learn(Projection.of(pairs.photo_standard, maps[0]), Projection.of(pairs.sketch_standard, maps[1]))


CARD = Card(
    name="cmfh",
    title="CMFH",
    kind=Kind.HASHING,
    paper="Ding, Guo, Zhou. Collective matrix factorization hashing for multimodal data. CVPR",
    year=2014,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=CollectiveFactorisation,
    choices=(
        STANDARDISED,
        DRAWN_PAIRS,
        "λ = 0.5, μ = 100, γ = 0.01 and 100 iterations.",
        "The shared factor starts as a random combination of the features.",
    ),
    tuberlin=Reported.by_bits((0.149, 0.202, 0.180), (0.168, 0.282, 0.241)),
    sketchy=Reported.by_bits((0.320, 0.490, 0.190), (0.489, 0.657, 0.286)),
    differs=OTHER_FEATURES,
)


class _Factors:
    """The alternation on covariances, all sums divided by the number of pairs; lists hold photos, then sketches."""

    def __init__(self, covariances: Covariances, method: CollectiveFactorisation, pairs: int) -> None:
        self.moments = ((covariances.photos, covariances.cross), (covariances.cross.T, covariances.sketches))
        self.widths = covariances.cross.shape
        self.balances = (method.balance, 1 - method.balance)
        self.prediction, self.penalty = method.prediction, method.penalty
        self.shared_penalty = method.penalty / pairs  # of bases and maps, which have no row for each pair
        ridge = self.shared_penalty / self.prediction
        self.inverses = [
            np.linalg.inv(spread + ridge * np.eye(len(spread))) for spread in (covariances.photos, covariances.sketches)
        ]

    def improve(self, mixing: list[Matrix]) -> tuple[list[Matrix], list[Matrix], float]:
        """Update U, P and V once; return the new mixing G, the maps P and the objective per pair."""
        one = np.eye(mixing[0].shape[1])
        seen, square = self._products(mixing)
        bases = [_solve(square + self.shared_penalty / self.balances[t] * one, seen[t]) for t in (0, 1)]
        maps = [self.inverses[t] @ seen[t].T for t in (0, 1)]
        gram = (2 * self.prediction + self.penalty) * one
        for t in (0, 1):
            gram += self.balances[t] * bases[t] @ bases[t].T
        mixing = [_solve(gram, self.balances[t] * bases[t] + self.prediction * maps[t].T).T for t in (0, 1)]
        return mixing, maps, self._objective(mixing, bases, maps)

    def _products(self, mixing: list[Matrix]) -> tuple[list[Matrix], Matrix]:
        """Return VᵀX_t of both views ``(bits, features)`` and VᵀV ``(bits, bits)``, per pair."""
        seen = [mixing[0].T @ self.moments[0][t] + mixing[1].T @ self.moments[1][t] for t in (0, 1)]
        return seen, seen[0] @ mixing[0] + seen[1] @ mixing[1]

    def _objective(self, mixing: list[Matrix], bases: list[Matrix], maps: list[Matrix]) -> float:
        seen, square = self._products(mixing)
        total = self.penalty * np.trace(square)
        for t in (0, 1):
            spread = self.moments[t][t]
            rebuilt = np.trace(spread) - 2 * np.vdot(bases[t], seen[t]) + np.vdot(bases[t], square @ bases[t])
            predicted = np.trace(square) - 2 * np.vdot(maps[t], seen[t].T) + np.vdot(maps[t], spread @ maps[t])
            total += self.balances[t] * rebuilt + self.prediction * predicted
            total += self.shared_penalty * (np.square(bases[t]).sum() + np.square(maps[t]).sum())
        return float(total)


def _solve(left: Matrix, right: Matrix) -> Matrix:
    return np.asarray(np.linalg.solve(left, right), dtype=np.float64)
