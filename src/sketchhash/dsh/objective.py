"""The objective J of Deep Sketch Hashing (Eq. 4), in time linear in the number of samples.

    ======== ===================== ================================================== =========
    symbol   name                  meaning                                            equation
    ======== ===================== ================================================== =========
    B^I      photos.codes          photo codes, rows of ±1, ``(n1, bits)``            1
    B^S      sketches.codes        sketch codes, rows of ±1, ``(n2, bits)``           1
    m        bits                  length of a code                                   1
    n1, n2   len(photos), …        number of photos and of sketches                   1
    W        similarity            W_ij = similarity[label of i, label of j]          1
    φ(Y)     word_vectors          φ(Y)_i = word_vectors[label of i]                  2
    D        basis                 shared semantic basis, ``(word dimensions, bits)`` 2
    F1, F2   photos.values, …      real outputs of the networks, ``(n, bits)``        3
    λ        semantic_weight                                                          3
    γ        quantisation_weight                                                      3
    μ        basis_weight          keeps D small; 0 in the paper                      ours
    ======== ===================== ================================================== =========

The paper keeps samples in columns; here they are rows. W (3.6·10⁹ entries on TU-Berlin Extension) is never
formed: samples of a class share their row of W and of φ(Y), so the sum of the codes of each class, and the
Gram matrix B Bᵀ of each set, hold all that the first two parts of J need to know.

Where we differ: the semantic part has a third summand, λμ||D||². With as many bits as there are directions among the
word vectors, some D fits *any* codes, and the part says nothing about them. A D that must stay small can only fit
codes that are alike where words are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, require

Matrix = NDArray[np.float64]

_BLOCK = 4096  # rows widened to floats at a time


@dataclass(frozen=True, eq=False)
class Samples:
    """All photos, or all sketches: labels ``(n,)``, codes of ±1 and network outputs, both ``(n, bits)``."""

    labels: NDArray[np.integer]
    codes: NDArray[np.int8]
    values: NDArray[np.floating]

    def __post_init__(self) -> None:
        """Refuse arrays that do not describe the same samples."""
        is_matrix = self.codes.ndim == 2 and self.codes.size > 0 and self.codes.dtype == np.int8
        if not (is_matrix and (np.abs(self.codes) == 1).all()):
            raise BadArgument(
                f"Codes are int8 rows of +1 and -1, one row a sample; "
                f"got {self.codes.dtype} of shape {self.codes.shape}, or other numbers."
            )
        if self.labels.shape != self.codes.shape[:1] or self.labels.dtype.kind not in "iu":
            raise BadArgument(
                f"{len(self.codes)} codes need {len(self.codes)} whole-number labels; "
                f"got {self.labels.dtype} of shape {self.labels.shape}."
            )
        if self.values.shape != self.codes.shape or not np.isfinite(self.values).all():
            raise BadArgument(
                f"Values must be finite and shaped as the codes, {self.codes.shape}; got {self.values.shape}."
            )

    def __len__(self) -> int:
        """Count the samples."""
        return len(self.codes)

    @property
    def bits(self) -> int:
        """The length m of a code."""
        return int(self.codes.shape[1])


@dataclass(frozen=True, eq=False)
class Problem:
    """What J holds fixed: the classes, and the weights of its three parts.

    ``word_vectors`` is ``(classes, word dimensions)``; ``similarity`` is ``(classes, classes)`` and
    symmetric, so that photos and sketches play the same role. The weights default to the paper's; a weight of 0
    leaves its part out.
    """

    word_vectors: NDArray[np.floating]
    similarity: NDArray[np.floating]
    semantic_weight: float = 0.01
    quantisation_weight: float = 1e-5
    pairwise_weight: float = 1.0
    basis_weight: float = 0.0

    def __post_init__(self) -> None:
        """Refuse classes that do not fit together, and weights that would reward a loss."""
        if self.word_vectors.ndim != 2 or self.similarity.shape != (self.classes, self.classes):
            raise BadArgument(
                f"Word vectors (classes, dimensions) need a similarity (classes, classes); "
                f"got {self.word_vectors.shape} and {self.similarity.shape}."
            )
        if not (np.isfinite(self.word_vectors).all() and np.isfinite(self.similarity).all()):
            raise BadArgument("Word vectors and similarity must be finite; found NaN or infinity.")
        if not np.array_equal(self.similarity, self.similarity.T):
            raise BadArgument("The similarity of two classes must not depend on their order; got an asymmetric matrix.")
        weights = (self.semantic_weight, self.quantisation_weight, self.pairwise_weight, self.basis_weight)
        if not all(0 <= weight < np.inf for weight in weights):
            raise BadArgument(f"Weights must be finite and at least 0; got {weights}.")

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.word_vectors)

    def check(self, photos: Samples, sketches: Samples, basis: Matrix | None = None) -> None:
        """Refuse samples, or a basis, that are not of this problem or not of one code length."""
        if photos.bits != sketches.bits:
            raise BadArgument(
                f"Codes have one length; got {photos.bits} bits for photos and {sketches.bits} for sketches."
            )
        for samples in (photos, sketches):
            low, high = samples.labels.min(), samples.labels.max()
            if low < 0 or high >= self.classes:
                raise BadArgument(f"Labels must lie in 0…{self.classes - 1}; found {low}…{high}.")
        wanted = (self.word_vectors.shape[1], photos.bits)
        if basis is not None and basis.shape != wanted:
            raise BadArgument(f"The basis must be (word dimensions, bits) = {wanted}; got {basis.shape}.")


@dataclass(frozen=True)
class Terms:
    """The six terms of J, each before its weight, and their weighted sum ``total``."""

    pairwise: float
    semantic_photos: float
    semantic_sketches: float
    basis: float
    quantisation_photos: float
    quantisation_sketches: float
    total: float


def paper_similarity(classes: int) -> Matrix:
    """Return the paper's similarity: +1 within a class, -1 between classes.

    >>> paper_similarity(2)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return 2.0 * np.eye(classes) - 1.0


def orthogonal_similarity(classes: int, bits: int) -> Matrix:
    """Return a similarity that m bits can follow: nothing asked between classes, κ = 1 + (C - 1) / m within one.

    Plain 0 between classes and 1 within is not enough. Equal random codes for the photos and sketches of a class miss
    Eq. 1 by C(C - 1)m over all pairs of classes; giving photos and sketches codes that have nothing to do with each
    other misses it by κ²Cm² - (κ - 1)²Cm² more within classes, and by nothing between them. Agreeing pays from
    κ = ((C - 1) / m + 1) / 2 on; this is twice that.

    >>> orthogonal_similarity(3, 8)
    array([[1.25, 0.  , 0.  ],
           [0.  , 1.25, 0.  ],
           [0.  , 0.  , 1.25]])
    """
    return np.eye(classes) * (1 + (classes - 1) / bits)


def objective(problem: Problem, photos: Samples, sketches: Samples, basis: Matrix) -> Terms:
    """Evaluate J (Eq. 4) and its terms."""
    problem.check(photos, sketches, basis)
    with one_blas_thread():
        photo_summary, sketch_summary = (summarise(samples, problem.classes) for samples in (photos, sketches))
        pairwise_loss = _pairwise(problem, photo_summary, sketch_summary)
        semantic_photos = _semantic(problem, photo_summary, basis)
        semantic_sketches = _semantic(problem, sketch_summary, basis)
    size_of_basis = float(np.vdot(basis, basis))
    quantisation_photos, quantisation_sketches = _quantisation(photos), _quantisation(sketches)
    return Terms(
        pairwise=pairwise_loss,
        semantic_photos=semantic_photos,
        semantic_sketches=semantic_sketches,
        basis=size_of_basis,
        quantisation_photos=quantisation_photos,
        quantisation_sketches=quantisation_sketches,
        total=problem.pairwise_weight * pairwise_loss
        + problem.semantic_weight * (semantic_photos + semantic_sketches + problem.basis_weight * size_of_basis)
        + problem.quantisation_weight * (quantisation_photos + quantisation_sketches),
    )


@dataclass(frozen=True, eq=False)
class Summary:
    """All that W and φ(Y) can tell about a set of codes.

    Samples per class ``(classes,)``, the sum of the codes of each class ``(classes, bits)``, and B Bᵀ
    ``(bits, bits)``: whole numbers, and exact.
    """

    counts: NDArray[np.int64]
    sums: Matrix
    gram: Matrix


def summarise(samples: Samples, classes: int) -> Summary:
    """Sum up the codes of a set."""
    order = np.argsort(samples.labels, kind="stable")
    edges = np.searchsorted(samples.labels[order], np.arange(classes + 1))
    by_class = samples.codes[order]
    sums = [by_class[start:stop].sum(axis=0, dtype=np.int64) for start, stop in pairwise(edges)]

    gram = np.zeros((samples.bits, samples.bits))
    for rows in _blocks(len(samples)):
        block = samples.codes[rows].astype(np.float32)  # exact: no sum over a block leaves ±_BLOCK
        gram += block.T @ block
    return Summary(np.diff(edges), np.array(sums, dtype=np.float64), gram)


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep BLAS on the calling thread.

    The matrices here are small, or are already handed to threads of our own: on a busy machine BLAS threads
    wait for each other far longer than they work.
    """
    limits: AbstractContextManager[object] = require("threadpoolctl", "train").threadpool_limits(1, user_api="blas")
    return limits


def _pairwise(problem: Problem, photos: Summary, sketches: Summary) -> float:
    """Expand ||m W - B^Iᵀ B^S||² into m²||W||² - 2m <W, B^Iᵀ B^S> + <B^I B^Iᵀ, B^S B^Sᵀ>."""
    bits = len(photos.gram)
    wanted = photos.counts @ problem.similarity**2 @ sketches.counts
    agreement = np.sum(photos.sums * (problem.similarity @ sketches.sums))
    return float(bits**2 * wanted - 2 * bits * agreement + np.sum(photos.gram * sketches.gram))


def _semantic(problem: Problem, codes: Summary, basis: Matrix) -> float:
    """Expand ||φ(Y) - D B||² into ||φ(Y)||² - 2 <φ(Y), D B> + <Dᵀ D, B Bᵀ>."""
    vectors = problem.word_vectors.astype(np.float64)
    explained = np.sum((vectors @ basis) * codes.sums)
    loss = codes.counts @ np.sum(vectors**2, axis=1) - 2 * explained + np.sum((basis.T @ basis) * codes.gram)
    return max(float(loss), 0.0)  # a perfect fit leaves only rounding, of either sign


def _quantisation(samples: Samples) -> float:
    """Sum ||F - B||²."""
    losses = (samples.values[rows].astype(np.float64) - samples.codes[rows] for rows in _blocks(len(samples)))
    return sum(float(np.vdot(loss, loss)) for loss in losses)


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, count, _BLOCK))
