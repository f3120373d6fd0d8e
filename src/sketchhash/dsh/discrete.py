"""The discrete steps of Deep Sketch Hashing: solve D (Eq. 6), then the codes bit by bit (Eq. 11).

    ======== ===================== ================================================== =========
    symbol   name                  meaning                                            equation
    ======== ===================== ================================================== =========
    B^I, B^S samples.codes         rows of ±1; one set is updated, the other given    8
    D        basis                 shared semantic basis, ``(word dimensions, bits)`` 5, 6
    R        targets               B^S(Wᵀ m) + λ Dᵀ φ(Y) + γ F: what pulls each bit   9
    Q        coupling              B^S B^Sᵀ + λ Dᵀ D: how bits pull on each other     9
    r_k      targets[k]            row k of R                                         11
    m        bits                  length of a code                                   1
    ======== ===================== ================================================== =========

The code b of one sample minimises bᵀQb - 2bᵀr, and Eq. 11 sets its bit k to sign(r_k - Σ_{l≠k} Q_kl b_l). Q
is shared, and r depends on no other sample of the set: so where the paper sweeps one bit of all samples, we
sweep all bits of one block of samples. The block stays in cache, blocks run on threads without locks, and the
codes are the same.

They are the same to the last bit because sums here are exact. Q and R are rounded to whole multiples of one
power of two, so chosen that no sum outgrows the 53 bits of a float64. This costs no more than ordinary
rounding would; then the order of summation (blocks, panels, threads) cannot decide a near tie, and sweeping
always ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sketchhash.dsh.objective import Matrix, Problem, Samples, one_blas_thread, summarise
from sketchhash.errors import BadArgument

_BLOCK = 2048  # samples: their codes and targets, 4 MB at 128 bits, stay in cache
_PANEL = 16  # bits whose pull from all other bits is one matrix product


def random_codes(count: int, bits: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Draw ``count`` codes of fair ±1 bits (line 1 of Algorithm 1)."""
    if count < 1 or bits < 1:
        raise BadArgument(f"Codes need at least one sample and one bit; got {count} samples of {bits} bits.")
    return 2 * rng.integers(0, 2, (count, bits), dtype=np.int8) - 1


def solve_basis(problem: Problem, photos: Samples, sketches: Samples) -> Matrix:
    """Solve D (Eq. 6, with μ on the diagonal of what is inverted): ``(word dimensions, bits)``.

    Where the codes do not determine D (fewer samples than bits, bits that repeat each other), it is the
    smallest of the optimal ones.
    """
    problem.check(photos, sketches)
    with one_blas_thread():
        photo_codes, sketch_codes = (summarise(samples, problem.classes) for samples in (photos, sketches))
        gram = photo_codes.gram + sketch_codes.gram + problem.basis_weight * np.eye(photos.bits)
        # Without μ a matrix of whole numbers: eigenvalues this far below the largest are rounding.
        inverse = np.linalg.pinv(gram, rtol=1e-12, hermitian=True)
        basis: Matrix = problem.word_vectors.T @ (photo_codes.sums + sketch_codes.sums) @ inverse
    return basis


def update_codes(
    problem: Problem,
    samples: Samples,
    given: Samples,
    basis: Matrix,
    *,
    max_sweeps: int = 50,
    threads: int | None = None,
) -> Samples:
    """Update the codes of ``samples``, bit by bit (Eq. 11), with those of the other set ``given``.

    Photos given sketches is the paper's B^I step, sketches given photos its B^S step. Sweeps over the bits of
    a sample end when one changes nothing: then no single bit can lower J. Ties become +1. ``threads``
    defaults to the number of processors, and does not change the result.
    """
    problem.check(samples, given, basis)
    if max_sweeps < 1:
        raise BadArgument(f"At least one sweep is needed; got max_sweeps={max_sweeps}.")
    if threads is not None and threads < 1:
        raise BadArgument(f"At least one thread is needed; got threads={threads}.")
    codes = np.empty_like(samples.codes)

    def update(rows: slice) -> None:
        targets = quadratic.targets(samples.labels[rows], samples.values[rows])
        block = np.ascontiguousarray(samples.codes[rows].T, dtype=np.float64)
        codes[rows] = _descend(block, targets, quadratic.panels, max_sweeps)

    with one_blas_thread(), ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        quadratic = _quadratic(problem, samples, given, basis)
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(samples), _BLOCK)]
        list(pool.map(update, blocks))
    return replace(samples, codes=codes)


@dataclass(frozen=True, eq=False)
class _Panel:
    """Rows of Q for neighbouring bits, split by what pulls: bits outside the panel or inside it."""

    bits: slice
    far: Matrix
    near: Matrix


@dataclass(frozen=True, eq=False)
class _Quadratic:
    """bᵀQb - 2bᵀr for every sample, in units that make all its coefficients whole numbers."""

    panels: Sequence[_Panel]
    class_targets: Matrix
    value_weight: float

    def targets(self, labels: NDArray[np.integer], values: NDArray[np.floating]) -> Matrix:
        """Return R for some samples: ``(bits, samples)``."""
        rows = self.class_targets[labels] + self.value_weight * values.astype(np.float64)
        return np.ascontiguousarray(np.rint(rows).T)


def _quadratic(problem: Problem, samples: Samples, given: Samples, basis: Matrix) -> _Quadratic:
    """Set up Eq. 9, all but the part of R that differs within a class."""
    codes = summarise(given, problem.classes)
    coupling = problem.pairwise_weight * codes.gram + problem.semantic_weight * (basis.T @ basis)
    np.fill_diagonal(coupling, 0.0)  # b_k² = 1: a bit does not pull on itself
    class_targets = problem.pairwise_weight * samples.bits * (problem.similarity @ codes.sums)
    class_targets += problem.semantic_weight * (problem.word_vectors @ basis)

    largest_value = max(float(samples.values.max()), -float(samples.values.min()))
    largest_pull = (
        np.abs(class_targets).max() + problem.quantisation_weight * largest_value + np.abs(coupling).sum(axis=1).max()
    )
    # Below 2^52 units before rounding, so below 2^53 after it.
    unit = math.ldexp(1.0, math.frexp(largest_pull)[1] - 52)
    return _Quadratic(
        panels=_panels(np.rint(coupling / unit)),
        class_targets=class_targets / unit,
        value_weight=problem.quantisation_weight / unit,
    )


def _panels(coupling: Matrix) -> list[_Panel]:
    panels = []
    for start in range(0, len(coupling), _PANEL):
        bits = slice(start, start + _PANEL)
        far = coupling[bits].copy()
        far[:, bits] = 0.0
        panels.append(_Panel(bits, far, coupling[bits, bits]))
    return panels


def _descend(codes: Matrix, targets: Matrix, panels: Sequence[_Panel], max_sweeps: int) -> NDArray[np.int8]:
    """Sweep codes ``(bits, samples)`` until they rest, and return them as rows; the rested leave the block."""
    rested = np.empty(codes.shape[::-1], dtype=np.int8)
    moving = np.arange(len(rested))
    for _ in range(max_sweeps):
        before = codes.copy()
        _sweep(codes, targets, panels)
        moved = (codes != before).any(axis=0)
        rested[moving[~moved]] = codes[:, ~moved].T
        moving = moving[moved]
        codes, targets = (np.compress(moved, matrix, axis=1) for matrix in (codes, targets))
        if not moving.size:
            break
    rested[moving] = codes.T
    return rested


def _sweep(codes: Matrix, targets: Matrix, panels: Sequence[_Panel]) -> None:
    """Set every bit of every sample once, in order, each seeing the bits set before it (Eq. 11)."""
    for panel in panels:
        pull = targets[panel.bits] - panel.far @ codes
        block = codes[panel.bits]
        for k in range(len(block)):
            block[k] = np.where(pull[k] >= panel.near[k] @ block, 1.0, -1.0)
