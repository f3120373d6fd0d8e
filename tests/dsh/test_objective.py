from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.dsh import textbook
from sketchhash.dsh.discrete import random_codes
from sketchhash.dsh.objective import Problem, Samples, objective, paper_similarity, summarise
from sketchhash.errors import BadArgument


def samples_of(labels, bits, rng):
    labels = np.asarray(labels)
    values = rng.standard_normal((len(labels), bits), dtype=np.float32)
    return Samples(labels, random_codes(len(labels), bits, rng), values)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def problem(rng):
    return Problem(rng.standard_normal((3, 5)), paper_similarity(3), 0.5, 0.25, 2.0, 3.0)


def test_every_term_is_the_printed_formula(problem, rng):
    photos, sketches = samples_of([0, 2, 1, 0, 2], 8, rng), samples_of([2, 0, 2], 8, rng)
    basis = rng.standard_normal((5, 8))
    terms = objective(problem, photos, sketches, basis)

    pairwise = sum(
        (8 * (1 if photo == sketch else -1) - int(photo_code @ sketch_code.astype(int))) ** 2
        for photo, photo_code in zip(photos.labels, photos.codes, strict=True)
        for sketch, sketch_code in zip(sketches.labels, sketches.codes, strict=True)
    )
    semantic = [
        sum(
            np.sum((problem.word_vectors[label] - basis @ code) ** 2)
            for label, code in zip(s.labels, s.codes, strict=True)
        )
        for s in (photos, sketches)
    ]
    quantisation = [np.sum((s.values.astype(np.float64) - s.codes) ** 2) for s in (photos, sketches)]

    assert terms.pairwise == pairwise
    assert [terms.semantic_photos, terms.semantic_sketches] == pytest.approx(semantic)
    assert [terms.quantisation_photos, terms.quantisation_sketches] == pytest.approx(quantisation)
    assert terms.basis == pytest.approx(np.sum(basis**2))
    expected = 2.0 * pairwise + 0.5 * (sum(semantic) + 3.0 * terms.basis) + 0.25 * sum(quantisation)
    assert terms.total == pytest.approx(expected)


@settings(deadline=None, max_examples=50)
@given(
    photo_labels=st.lists(st.integers(0, 3), min_size=1, max_size=20),
    sketch_labels=st.lists(st.integers(0, 3), min_size=1, max_size=20),
    bits=st.sampled_from([1, 8, 24]),
    seed=st.integers(0, 2**32),
)
def test_the_total_is_that_of_the_textbook_for_any_layout_and_similarity(photo_labels, sketch_labels, bits, seed):
    rng = np.random.default_rng(seed)
    similarity = rng.standard_normal((4, 4))
    problem = Problem(rng.standard_normal((4, 6)), similarity + similarity.T, 0.3, 0.7, basis_weight=5.0)
    photos, sketches = samples_of(photo_labels, bits, rng), samples_of(sketch_labels, bits, rng)
    basis = rng.standard_normal((6, bits))
    expected = textbook.objective(problem, photos, sketches, basis)
    assert objective(problem, photos, sketches, basis).total == pytest.approx(expected, rel=1e-9)


def test_sums_over_many_blocks_stay_exact(rng):
    samples = samples_of(rng.integers(0, 3, 10_000), 16, rng)
    codes = samples.codes.astype(np.int64)
    summary = summarise(samples, 4)
    np.testing.assert_array_equal(summary.counts, np.bincount(samples.labels, minlength=4))
    np.testing.assert_array_equal(summary.sums, [codes[samples.labels == c].sum(axis=0) for c in range(4)])
    np.testing.assert_array_equal(summary.gram, codes.T @ codes)


def test_one_code_for_all_photos_beats_unrelated_codes_under_the_papers_similarity(rng):
    """The paper's W rewards collapse once there are more than five classes."""
    classes, bits = 10, 64
    problem = Problem(np.zeros((classes, 1)), paper_similarity(classes), 0.0, 0.0)
    labels = np.repeat(np.arange(classes), 4)
    values = np.zeros((len(labels), bits), dtype=np.float32)
    same = np.ones((len(labels), bits), dtype=np.int8)
    per_class = random_codes(classes, bits, rng)[labels]
    basis = np.zeros((1, bits))

    collapsed = objective(problem, Samples(labels, same, values), Samples(labels, -same, values), basis)
    separate = objective(problem, Samples(labels, per_class, values), Samples(labels, per_class, values), basis)
    assert collapsed.total == 4 * bits**2 * len(labels) ** 2 / classes
    assert collapsed.total < separate.total


@pytest.mark.parametrize(
    "change",
    [
        {"codes": np.zeros((2, 8), dtype=np.int8)},
        {"codes": np.ones((2, 8), dtype=np.float32)},
        {"codes": np.ones(8, dtype=np.int8)},
        {"labels": np.array([0, 1, 2])},
        {"labels": np.array([0.0, 1.0])},
        {"values": np.zeros((2, 7), dtype=np.float32)},
        {"values": np.full((2, 8), np.nan, dtype=np.float32)},
    ],
)
def test_samples_that_do_not_fit_together_are_refused(change, rng):
    with pytest.raises(BadArgument):
        replace(samples_of([0, 1], 8, rng), **change)


@pytest.mark.parametrize(
    "change",
    [
        {"similarity": np.eye(2)},
        {"similarity": np.triu(np.ones((3, 3)))},
        {"similarity": np.full((3, 3), np.inf)},
        {"word_vectors": np.zeros(3)},
        {"semantic_weight": -1.0},
        {"pairwise_weight": float("nan")},
        {"basis_weight": -1.0},
    ],
)
def test_a_problem_that_makes_no_sense_is_refused(change, problem):
    with pytest.raises(BadArgument):
        replace(problem, **change)


@pytest.mark.parametrize(
    ("labels", "bits", "basis_shape", "complaint"),
    [
        ([3], 8, (5, 8), "Labels"),
        ([-1], 8, (5, 8), "Labels"),
        ([0], 16, (5, 8), "one length"),
        ([0], 8, (8, 5), "basis"),
    ],
)
def test_samples_of_another_problem_are_refused(problem, rng, labels, bits, basis_shape, complaint):
    with pytest.raises(BadArgument, match=complaint):
        objective(problem, samples_of([0], 8, rng), samples_of(labels, bits, rng), np.zeros(basis_shape))
