"""The equations of Deep Sketch Hashing as printed: W is formed, and one bit of all samples is set at a time.

    ======== ===================== ================================================== =========
    symbol   name                  meaning                                            equation
    ======== ===================== ================================================== =========
    W        similarity            ``(samples, given)``, formed                       1
    B^I, B^S own, other            codes of the set being updated, and of the given   8, 11
    R        targets               B^S(Wᵀ m) + λ Dᵀ φ(Y) + γ F                        9
    D        basis                                                                    6, 11
    k, ¬k    bit, rest             the bit being set, and all others                  11
    ======== ===================== ================================================== =========

The functions take what those of `objective` and `discrete` take, need memory for n1 × n2 numbers, and are
what tests and benchmark hold those to. As in the paper, samples are columns here. Not printed there is μ, which keeps
D small (`objective`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sketchhash.dsh.objective import Matrix, Problem, Samples


def objective(problem: Problem, photos: Samples, sketches: Samples, basis: Matrix) -> float:
    """Evaluate J (Eq. 4)."""
    pairwise = photos.bits * _similarity(problem, photos, sketches) - _columns(photos).T @ _columns(sketches)
    semantic = [_word_vectors(problem, samples) - basis @ _columns(samples) for samples in (photos, sketches)]
    quantisation = [samples.values.T - _columns(samples) for samples in (photos, sketches)]
    return float(
        problem.pairwise_weight * np.sum(pairwise**2)
        + problem.semantic_weight * sum(np.sum(loss**2) for loss in semantic)
        + problem.semantic_weight * problem.basis_weight * np.sum(basis**2)
        + problem.quantisation_weight * sum(np.sum(loss**2) for loss in quantisation)
    )


def solve_basis(problem: Problem, photos: Samples, sketches: Samples) -> Matrix:
    """Solve D (Eq. 6); the codes must determine it."""
    own, other = _columns(photos), _columns(sketches)
    explained = _word_vectors(problem, photos) @ own.T + _word_vectors(problem, sketches) @ other.T
    kept_small = problem.basis_weight * np.eye(photos.bits)
    basis: Matrix = explained @ np.linalg.inv(own @ own.T + other @ other.T + kept_small)
    return basis


def update_codes(problem: Problem, samples: Samples, given: Samples, basis: Matrix, *, max_sweeps: int = 50) -> Samples:
    """Update the codes of ``samples`` with those of the other set ``given`` (Eq. 11)."""
    own, other = _columns(samples), _columns(given)
    similarity = _similarity(problem, samples, given)
    targets = (
        problem.pairwise_weight * (other @ (similarity.T * samples.bits))
        + problem.semantic_weight * (basis.T @ _word_vectors(problem, samples))
        + problem.quantisation_weight * samples.values.T.astype(np.float64)
    )
    for _ in range(max_sweeps):
        before = own.copy()
        for bit in range(samples.bits):
            rest = np.arange(samples.bits) != bit
            own_rest = own[rest]
            pull = (
                targets[bit]
                - problem.pairwise_weight * (other[bit] @ other[rest].T @ own_rest)
                - problem.semantic_weight * (basis[:, bit] @ basis[:, rest] @ own_rest)
            )
            own[bit] = np.where(pull >= 0, 1.0, -1.0)
        if np.array_equal(own, before):
            break
    return replace(samples, codes=own.T.astype(np.int8))


def _similarity(problem: Problem, photos: Samples, sketches: Samples) -> Matrix:
    similarity: Matrix = problem.similarity[np.ix_(photos.labels, sketches.labels)]
    return similarity


def _columns(samples: Samples) -> Matrix:
    return samples.codes.T.astype(np.float64)


def _word_vectors(problem: Problem, samples: Samples) -> Matrix:
    vectors: Matrix = problem.word_vectors[samples.labels].T
    return vectors
